//! keyledger

mod entropy;
mod fingerprint;
mod key;
#[allow(dead_code)]
mod store;
#[cfg(any(test, feature = "test-support"))]
pub mod test_support;

#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
pub use entropy::OsEntropy;
pub use entropy::{Entropy, SeededEntropy};
pub use fingerprint::{
    Comparison, FINGERPRINT_VERSION, Fingerprint, FingerprintError, FingerprintErrorReason, HttpRequest,
    JSON_DEPTH_MAX, Members, Place, Pointer, PointerError,
};
pub use key::{Key, KeyError, KeyErrorReason, KeyId, KeyIdBytesError, OperationName, PART_BYTES_MAX, Part, Scope};
