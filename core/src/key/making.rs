//! New keys: by time, by chance, or out of what they stand for (F5, F6).

use uuid::{Builder, Uuid};

use super::part::Key;
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
use crate::clock::{Clock, SystemClock};
use crate::entropy::Entropy;
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
use crate::entropy::OsEntropy;
use crate::fingerprint::Frames;

const DERIVE_TAG: &str = "keyledger/derive/1";

impl Key {
    /// A `UUIDv7` (RFC 9562): 48 bits of `now_ms` (milliseconds since 1970-01-01 UTC), then 74 random bits.
    ///
    /// Keys made later sort later, to the millisecond; two of the same millisecond are in no order.
    pub fn v7(now_ms: u64, entropy: &dyn Entropy) -> Self {
        let mut random = [0; 10];
        entropy.fill(&mut random);
        Self::of_uuid(Builder::from_unix_timestamp_millis(now_ms, &random).into_uuid())
    }

    /// A `UUIDv4` (RFC 9562): 122 random bits, and nothing that tells when it was made.
    pub fn v4(entropy: &dyn Entropy) -> Self {
        let mut random = [0; 16];
        entropy.fill(&mut random);
        Self::of_uuid(Builder::from_random_bytes(random).into_uuid())
    }

    /// The key that `namespace` and `parts` always give, in every language and on every machine (F6).
    ///
    /// A `UUIDv8` of the first 16 bytes of the SHA-256 over the length-framed `keyledger/derive/1`, namespace, parts. Who
    /// knows the namespace and the parts knows the key: it is no secret.
    pub fn derive(namespace: &str, parts: &[&[u8]]) -> Self {
        let hash = Frames::tagged(DERIVE_TAG).with(namespace.as_bytes()).with_all(parts.iter().copied()).finish();
        let mut first = [0; 16];
        first.copy_from_slice(&hash[..16]);
        Self::of_uuid(Builder::from_custom_bytes(first).into_uuid())
    }

    /// Lower case, with hyphens.
    fn of_uuid(uuid: Uuid) -> Self {
        Self::of_checked(uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()))
    }
}

/// From the operating system's clock and random source; where there is neither, use [`Key::v7`] and [`Key::v4`].
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
impl Key {
    /// A new `UUIDv7`, the default kind of key (F5).
    pub fn random() -> Self {
        Self::v7(SystemClock.wall_ms(), &OsEntropy)
    }

    /// A new `UUIDv4`.
    pub fn random_v4() -> Self {
        Self::v4(&OsEntropy)
    }
}

#[cfg(test)]
mod tests;
