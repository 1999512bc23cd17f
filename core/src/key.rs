//! Who asks, for what, under which name: the three parts of a key id, and how new keys are made.

mod id;
mod making;
mod part;

pub use id::{KeyId, KeyIdBytesError};
pub(crate) use part::check;
pub use part::{Key, KeyError, KeyErrorReason, OperationName, PART_BYTES_MAX, Part, Scope};
pub(crate) use part::{LaneName, Purpose};
