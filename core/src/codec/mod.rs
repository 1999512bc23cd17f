//! Bytes for records, under a version: what one version wrote, every later one reads.
//!
//! The first byte of every value says which version's codec wrote it. A byte that no codec here knows is `Corrupt`: the file's
//! own format version was checked when it was opened, so such a byte cannot be a newer version's.

pub(crate) mod address;
pub(crate) mod counters;
mod entry_v1;
mod error;
pub(crate) mod index;
pub(crate) mod line;
pub(crate) mod outbox;
mod v1;

#[cfg(test)]
mod entry_tests;
#[cfg(test)]
mod tests;

pub(crate) use self::error::DecodeError;
use crate::key::KeyId;
use crate::machine::record::Record;

/// The record as it is stored: one version byte, the key id, then that version's bytes.
pub(crate) fn encode_record(id: &KeyId, record: &Record) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(v1::bytes_about(record));
    bytes.push(v1::VERSION);
    bytes.extend_from_slice(&id.to_bytes());
    v1::encode(record, bytes)
}

/// The record that was stored for `id`.
///
/// # Errors
/// When the bytes are of no known version, damaged, or another key id's. Never panics, whatever the bytes.
pub(crate) fn decode_record(id: &KeyId, bytes: &[u8]) -> Result<Record, DecodeError> {
    match body(bytes)?.strip_prefix(id.to_bytes().as_slice()) {
        Some(rest) => v1::decode(rest),
        None => Err(DecodeError::new("a record", &"it is another key id's")),
    }
}

/// A stored record and the key id that it is for.
pub(crate) fn decode_entry(bytes: &[u8]) -> Result<(KeyId, Record), DecodeError> {
    let body = body(bytes)?;
    let (id, length) = KeyId::take_from(body).map_err(|error| DecodeError::new("a key id", &error))?;
    Ok((id, v1::decode(&body[length..])?))
}

/// The key id that a stored record begins with, whatever comes after it.
pub(crate) fn id_in(bytes: &[u8]) -> Option<KeyId> {
    KeyId::take_from(body(bytes).ok()?).ok().map(|(id, _)| id)
}

fn body(bytes: &[u8]) -> Result<&[u8], DecodeError> {
    match bytes.split_first() {
        Some((&v1::VERSION, body)) => Ok(body),
        Some((other, _)) => Err(DecodeError::new("a record", &format!("version {other} is not known"))),
        None => Err(DecodeError::new("a record", &"it is empty")),
    }
}
