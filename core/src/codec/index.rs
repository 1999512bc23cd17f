//! Keys that sort by time: which index rows a record has, and how they are read back.
//!
//! | space | key | which records |
//! |---|---|---|
//! | unsettled | `u`, operation mark, instant, row key | in progress (its lease's end), or parked and open to recovery (since) |
//! | unsettled | `p`, operation mark, instant, row key | parked, for a person (since) |
//! | expiry | instant, row key | whatever a sweep turns into its next state, and when |
//!
//! Instants are eight bytes big-endian, so that rows sort oldest first. A record has at most one row in each space.

use super::DecodeError;
use super::address::{OperationMark, RowKey};
use crate::machine::expire;
use crate::machine::record::{Record, State};

/// Unsettled records that recovery may be interested in.
pub(crate) const RECOVERABLE: u8 = b'u';
/// Parked records that a person must look at.
pub(crate) const FOR_A_PERSON: u8 = b'p';

/// Where a row lies. The engine knows which space of its store that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shelf {
    Records,
    Live,
    Expiry,
    Unsettled,
}

/// Where a record in this state lies: unsettled ones are few and touched often, so they lie apart.
pub(crate) fn shelf_of(record: &Record) -> Shelf {
    match &record.state {
        State::InProgress { .. } | State::Parked { .. } => Shelf::Live,
        State::Released(_) | State::Completed(..) | State::Failed(..) | State::Tombstone(_) => Shelf::Records,
    }
}

/// The index rows of a record.
pub(crate) fn rows(row: RowKey, operation: OperationMark, record: &Record) -> impl Iterator<Item = (Shelf, Vec<u8>)> {
    let unsettled = match &record.state {
        State::InProgress { lease, .. } => Some((RECOVERABLE, lease.end_wall_ms())),
        State::Parked { reason, since, .. } if reason.is_recoverable() => Some((RECOVERABLE, *since)),
        State::Parked { since, .. } => Some((FOR_A_PERSON, *since)),
        State::Released(_) | State::Completed(..) | State::Failed(..) | State::Tombstone(_) => None,
    };
    let unsettled = unsettled.map(|(class, at)| (Shelf::Unsettled, unsettled_key(class, operation, at, row)));
    let expiry = expire::due_at(record).map(|at| (Shelf::Expiry, expiry_key(at, row)));
    unsettled.into_iter().chain(expiry)
}

fn unsettled_key(class: u8, operation: OperationMark, at: u64, row: RowKey) -> Vec<u8> {
    [unsettled_prefix(class, operation).as_slice(), &at.to_be_bytes(), row.as_bytes()].concat()
}

fn expiry_key(at: u64, row: RowKey) -> Vec<u8> {
    [at.to_be_bytes().as_slice(), row.as_bytes()].concat()
}

/// What all unsettled rows of a class and operation begin with.
pub(crate) fn unsettled_prefix(class: u8, operation: OperationMark) -> Vec<u8> {
    [&[class], operation.as_slice()].concat()
}

/// Where the expiry rows end whose instant is not after `now`; `None`: none is after it.
pub(crate) fn expiry_end(now: u64) -> Option<[u8; 8]> {
    now.checked_add(1).map(u64::to_be_bytes)
}

/// An unsettled row, read back.
pub(crate) struct Unsettled {
    pub(crate) class: u8,
    pub(crate) operation: OperationMark,
    pub(crate) at: u64,
    pub(crate) row: RowKey,
}

/// Reads an unsettled row back.
pub(crate) fn read_unsettled(key: &[u8]) -> Result<Unsettled, DecodeError> {
    let (class, rest) = key.split_first().ok_or_else(short)?;
    let (operation, rest) = rest.split_first_chunk::<8>().ok_or_else(short)?;
    let (at, row) = read_expiry(rest)?;
    Ok(Unsettled { class: *class, operation: *operation, at, row })
}

/// Reads an expiry row back: when, and which row.
pub(crate) fn read_expiry(key: &[u8]) -> Result<(u64, RowKey), DecodeError> {
    let (at, rest) = key.split_first_chunk::<8>().ok_or_else(short)?;
    Ok((u64::from_be_bytes(*at), read_row(rest)?))
}

/// Reads the key of a record's row back.
pub(crate) fn read_row(key: &[u8]) -> Result<RowKey, DecodeError> {
    key.try_into().map(RowKey::from_bytes).map_err(|_| short())
}

fn short() -> DecodeError {
    DecodeError::new("an index row", &"it has not the length that one has")
}
