//! Bytes that cannot be read back.

/// The bytes are no record of any version that this program knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} cannot be decoded: {why}")]
pub struct DecodeError {
    what: &'static str,
    why: String,
}

impl DecodeError {
    pub(super) fn new(what: &'static str, why: &impl ToString) -> Self {
        Self { what, why: why.to_string() }
    }
}
