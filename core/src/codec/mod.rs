//! Bytes for records, under a version: what one version wrote, every later one reads.
//!
//! The first byte of every value says which version's codec wrote it. A byte that no codec here knows is `Corrupt`: the file's
//! own format version was checked when it was opened, so such a byte cannot be a newer version's.

pub(crate) mod counters;
pub(crate) mod index;
mod v1;

use crate::machine::record::Record;

/// The bytes are no record of any version that this program knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} cannot be decoded: {why}")]
pub struct DecodeError {
    what: &'static str,
    why: String,
}

impl DecodeError {
    fn new(what: &'static str, why: impl ToString) -> Self {
        Self { what, why: why.to_string() }
    }
}

/// The record as it is stored: one version byte, then that version's bytes.
pub(crate) fn encode_record(record: &Record) -> Vec<u8> {
    v1::encode(record)
}

/// The record that was stored.
///
/// # Errors
/// When the bytes are of no known version, or damaged. Never panics, whatever the bytes.
pub(crate) fn decode_record(bytes: &[u8]) -> Result<Record, DecodeError> {
    match bytes.first() {
        Some(&v1::VERSION) => v1::decode(&bytes[1..]),
        Some(other) => Err(DecodeError::new("a record", format!("version {other} is not known"))),
        None => Err(DecodeError::new("a record", "it is empty")),
    }
}
