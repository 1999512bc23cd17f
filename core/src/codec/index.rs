//! Keys that sort by time: which rows of the deadline index a record has, and how they are read back.
//!
//! Every stored record has at most one row of each class:
//!
//! | class | key after the class byte | which records |
//! |---|---|---|
//! | `u` | operation, instant, scope, key | in progress (its lease's end), or parked and open to recovery (since) |
//! | `p` | operation, instant, scope, key | parked, for a person (since) |
//! | `e` | instant, key id | whatever a sweep turns into its next state, and when |
//!
//! Text is framed by one byte of length, instants are eight bytes big-endian, so that rows sort oldest first.

use super::DecodeError;
use crate::key::{Key, KeyId, OperationName, Scope};
use crate::machine::expire;
use crate::machine::record::{Record, State};

/// Rows of records that recovery may be interested in.
pub(crate) const UNSETTLED: u8 = b'u';
/// Rows of parked records that a person must look at.
pub(crate) const FOR_A_PERSON: u8 = b'p';
/// Rows that say when a sweep has something to do.
pub(crate) const EXPIRY: u8 = b'e';

/// The rows of a record, at most one of each class.
pub(crate) fn rows(id: &KeyId, record: &Record) -> impl Iterator<Item = Vec<u8>> {
    let unsettled = match &record.state {
        State::InProgress { lease, .. } => Some((UNSETTLED, lease.end_wall_ms())),
        State::Parked { reason, since, .. } if reason.is_recoverable() => Some((UNSETTLED, *since)),
        State::Parked { since, .. } => Some((FOR_A_PERSON, *since)),
        State::Released(_) | State::Completed(..) | State::Failed(..) | State::Tombstone(_) => None,
    };
    let unsettled = unsettled.map(|(class, at)| by_operation(class, id, at));
    let expiry = expire::due_at(record).map(|at| by_time(id, at));
    unsettled.into_iter().chain(expiry)
}

fn by_operation(class: u8, id: &KeyId, at: u64) -> Vec<u8> {
    let mut key = operation_prefix(class, id.operation());
    key.extend_from_slice(&at.to_be_bytes());
    push_text(&mut key, id.scope().as_str());
    push_text(&mut key, id.key().as_str());
    key
}

fn by_time(id: &KeyId, at: u64) -> Vec<u8> {
    let mut key = vec![EXPIRY];
    key.extend_from_slice(&at.to_be_bytes());
    key.extend_from_slice(&id.to_bytes());
    key
}

/// What all rows of a class and operation begin with.
pub(crate) fn operation_prefix(class: u8, operation: &OperationName) -> Vec<u8> {
    let mut key = vec![class];
    push_text(&mut key, operation.as_str());
    key
}

/// Where the rows end whose instant is not after `now`: the first key that is not due.
pub(crate) fn expiry_end(now: u64) -> Vec<u8> {
    let mut key = vec![EXPIRY];
    match now.checked_add(1) {
        Some(next) => key.extend_from_slice(&next.to_be_bytes()),
        None => key[0] += 1,
    }
    key
}

/// A row of class `u` or `p`.
pub(crate) struct ByOperation {
    pub(crate) at: u64,
    pub(crate) id: KeyId,
}

/// Reads a row of class `u` or `p` back.
pub(crate) fn read_by_operation(row: &[u8]) -> Result<ByOperation, DecodeError> {
    let mut rest = row.get(1..).unwrap_or_default();
    let operation = take_text(&mut rest)?;
    let at = take_instant(&mut rest)?;
    let (scope, key) = (take_text(&mut rest)?, take_text(&mut rest)?);
    let id = KeyId::new(
        Scope::new(scope).map_err(row_error)?,
        OperationName::new(operation).map_err(row_error)?,
        Key::new(key).map_err(row_error)?,
    );
    Ok(ByOperation { at, id })
}

/// Reads a row of class `e` back: when, and which key id.
pub(crate) fn read_by_time(row: &[u8]) -> Result<(u64, KeyId), DecodeError> {
    let mut rest = row.get(1..).unwrap_or_default();
    let at = take_instant(&mut rest)?;
    Ok((at, KeyId::from_bytes(rest).map_err(row_error)?))
}

fn push_text(key: &mut Vec<u8>, text: &str) {
    key.push(u8::try_from(text.len()).expect("a part of a key id has at most 255 bytes"));
    key.extend_from_slice(text.as_bytes());
}

fn take_text<'a>(rest: &mut &'a [u8]) -> Result<&'a str, DecodeError> {
    let (length, after) = rest.split_first().ok_or_else(short)?;
    let (text, after) = after.split_at_checked(usize::from(*length)).ok_or_else(short)?;
    *rest = after;
    std::str::from_utf8(text).map_err(row_error)
}

fn take_instant(rest: &mut &[u8]) -> Result<u64, DecodeError> {
    let (instant, after) = rest.split_first_chunk::<8>().ok_or_else(short)?;
    *rest = after;
    Ok(u64::from_be_bytes(*instant))
}

fn short() -> DecodeError {
    DecodeError::new("an index row", "it is too short")
}

fn row_error(error: impl std::fmt::Display) -> DecodeError {
    DecodeError::new("an index row", error)
}
