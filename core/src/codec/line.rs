//! The keys of the outbox's rows, and which index rows an entry has.
//!
//! | key | what it tells |
//! |---|---|
//! | `e`, id | the entry |
//! | `q`, id | its request |
//! | `k`, key mark, id | entries by scope, operation and key |
//! | `p`, purpose mark, what it says, id counted down | entries by scope, lane and purpose: unsettled ones, answered ones, those given up; the newest first |
//! | `d`, scope, lane, class, instant or position, id | what may be sent, in order; in an ordered lane also what blocks it, and what is out |
//! | `t`, scope, instant, id | when time alone changes an entry's state |
//! | `h`, scope, id | held with its lane |
//! | `x`, instant, id | settled: when a sweep removes it |
//! | `c`, change, id | every entry by its last change |
//! | `l`, scope, lane | a lane that is held or paused |
//! | `s`, lane name | what a lane was declared as |
//! | `o` | the outbox as a whole |
//!
//! Marks are keyed hashes under the file's salt, as in the address of a record; numbers are eight bytes big-endian.

use super::DecodeError;
use super::address::{Salt, keyed_hash};
use crate::key::{Key, LaneName, OperationName, Purpose, Scope};
use crate::machine::entry::{Entry, Order};
use crate::machine::standing::EntryState;

/// Eight bytes that tell a scope, or a lane.
pub(crate) type Mark = [u8; 8];

/// The row about the outbox as a whole.
pub(crate) const OUTBOX: &[u8] = b"o";
/// What the rows of entries begin with.
pub(crate) const ENTRIES: u8 = b'e';
/// What the rows of requests begin with.
pub(crate) const REQUESTS: u8 = b'q';
/// What the rows that tell changes begin with.
pub(crate) const CHANGES: u8 = b'c';
/// What the rows that tell removals begin with.
pub(crate) const REMOVALS: u8 = b'x';
/// What the rows of lanes begin with.
pub(crate) const LANES: u8 = b'l';

/// What the rows that tell what lanes were declared as begin with.
pub(crate) const DECLARED: u8 = b's';

/// What is handed out free of the budget, and in ordered lanes everything.
const FIRST: u8 = 0;
/// What takes from the budget.
const AGAIN: u8 = 1;
/// What is out in an ordered lane, by the end of its lease.
const OUT: u8 = 2;

/// An entry of a purpose that is not settled.
const UNSETTLED: u8 = 0;
/// One that was answered.
const ANSWERED: u8 = 1;
/// One that is dead or cancelled: it answers nothing.
const GIVEN_UP: u8 = 2;

pub(crate) fn entry_key(id: u64) -> Vec<u8> {
    joined(b'e', &[&id.to_be_bytes()])
}

pub(crate) fn request_key(id: u64) -> Vec<u8> {
    joined(b'q', &[&id.to_be_bytes()])
}

pub(crate) fn scope_mark(scope: &Scope, salt: &Salt) -> Mark {
    first(keyed_hash(salt, &["outbox scope", scope.as_str()]))
}

pub(crate) fn lane_mark(lane: &LaneName, salt: &Salt) -> Mark {
    first(keyed_hash(salt, &["outbox lane", lane.as_str()]))
}

fn first(hash: [u8; 16]) -> Mark {
    hash[..8].try_into().expect("the hash has sixteen bytes")
}

/// What the rows of all entries under one key begin with.
pub(crate) fn key_prefix(scope: &Scope, operation: &OperationName, key: &Key, salt: &Salt) -> Vec<u8> {
    joined(b'k', &[&keyed_hash(salt, &["outbox key", scope.as_str(), operation.as_str(), key.as_str()])])
}

/// What the rows of all entries of one purpose begin with.
pub(crate) fn purpose_prefix(scope: &Scope, lane: &LaneName, purpose: &Purpose, salt: &Salt) -> Vec<u8> {
    joined(b'p', &[&keyed_hash(salt, &["outbox purpose", scope.as_str(), lane.as_str(), purpose.as_str()])])
}

/// Where the rows of a purpose's entries begin that are dead or cancelled; all others are before it.
pub(crate) fn given_up_prefix(purpose_prefix: &[u8]) -> Vec<u8> {
    [purpose_prefix, &[GIVEN_UP]].concat()
}

/// What an entry says to whoever asks for its purpose.
fn purpose_class(entry: &Entry) -> u8 {
    match entry.state {
        EntryState::Answered { .. } => ANSWERED,
        EntryState::Dead(_) | EntryState::Cancelled { .. } => GIVEN_UP,
        EntryState::Pending | EntryState::Sending { .. } | EntryState::Held { .. } | EntryState::Unknown(_) => {
            UNSETTLED
        }
    }
}

/// What the rows of a scope's lines begin with.
pub(crate) fn line_prefix(scope: Mark) -> Vec<u8> {
    joined(b'd', &[&scope])
}

/// What the rows of one lane's line begin with.
pub(crate) fn lane_line_prefix(scope: Mark, lane: Mark) -> Vec<u8> {
    joined(b'd', &[&scope, &lane])
}

/// The rows of one lane that are handed out free of the budget, or that take from it; in order.
pub(crate) fn class_prefix(scope: Mark, lane: Mark, takes_from_budget: bool) -> Vec<u8> {
    joined(b'd', &[&scope, &lane, &[if takes_from_budget { AGAIN } else { FIRST }]])
}

/// The rows of what is out in an ordered lane, by the end of its lease.
pub(crate) fn out_prefix(scope: Mark, lane: Mark) -> Vec<u8> {
    joined(b'd', &[&scope, &lane, &[OUT]])
}

/// What the rows begin with that tell when time alone changes a state.
pub(crate) fn end_prefix(scope: Mark) -> Vec<u8> {
    joined(b't', &[&scope])
}

/// What the rows of entries begin with that are held with their lanes.
pub(crate) fn held_prefix(scope: Mark) -> Vec<u8> {
    joined(b'h', &[&scope])
}

pub(crate) fn change_key(change: u64, id: u64) -> Vec<u8> {
    joined(CHANGES, &[&change.to_be_bytes(), &id.to_be_bytes()])
}

pub(crate) fn lane_key(scope: Mark, lane: Mark) -> Vec<u8> {
    joined(LANES, &[&scope, &lane])
}

/// What the rows of a scope's lanes begin with.
pub(crate) fn lanes_prefix(scope: Mark) -> Vec<u8> {
    joined(LANES, &[&scope])
}

pub(crate) fn declared_key(lane: &str) -> Vec<u8> {
    joined(DECLARED, &[lane.as_bytes()])
}

/// `prefix`, then an instant: where the rows after that instant begin.
pub(crate) fn after_instant(prefix: &[u8], at: u64) -> Vec<u8> {
    match at.checked_add(1) {
        Some(next) => [prefix, &next.to_be_bytes()].concat(),
        None => [prefix, &[u8::MAX; 9]].concat(),
    }
}

/// The index rows of an entry.
pub(crate) fn rows(entry: &Entry, salt: &Salt) -> Vec<Vec<u8>> {
    let (scope, lane) = (scope_mark(&entry.scope, salt), lane_mark(&entry.lane, salt));
    let id = entry.id.to_be_bytes();
    let mut rows = vec![
        [key_prefix(&entry.scope, &entry.operation, &entry.key, salt).as_slice(), &id].concat(),
        change_key(entry.change, entry.id),
    ];
    if let Some(purpose) = &entry.purpose {
        let prefix = purpose_prefix(&entry.scope, &entry.lane, purpose, salt);
        rows.push([prefix.as_slice(), &[purpose_class(entry)], &(u64::MAX - entry.id).to_be_bytes()].concat());
    }
    if entry.is_in_line() {
        let (again, place) = match entry.order {
            Order::None => (entry.fence > 0, entry.ready_at),
            Order::Strict { .. } => (false, entry.position),
        };
        rows.push([class_prefix(scope, lane, again).as_slice(), &place.to_be_bytes(), &id].concat());
    }
    if let (Order::Strict { .. }, EntryState::Sending { lease_end }) = (entry.order, &entry.state) {
        rows.push([out_prefix(scope, lane).as_slice(), &lease_end.to_be_bytes(), &id].concat());
    }
    if let Some(ends_at) = entry.ends_at {
        rows.push([end_prefix(scope).as_slice(), &ends_at.to_be_bytes(), &id].concat());
    }
    if matches!(entry.state, EntryState::Held { with_lane: true, .. }) {
        rows.push([held_prefix(scope).as_slice(), &id].concat());
    }
    if let Some(removed_at) = entry.removed_at() {
        rows.push(joined(REMOVALS, &[&removed_at.to_be_bytes(), &id]));
    }
    rows
}

/// The id at the end of an entry's row in an index other than that of purposes.
pub(crate) fn read_id(key: &[u8]) -> Result<u64, DecodeError> {
    let id = key.last_chunk::<8>().filter(|_| key.len() > 8).ok_or_else(short)?;
    Ok(u64::from_be_bytes(*id))
}

/// The id in a row of the index of purposes.
pub(crate) fn read_purpose_id(key: &[u8]) -> Result<u64, DecodeError> {
    Ok(u64::MAX - read_id(key)?)
}

/// The number before the id: an instant, a position or a change.
pub(crate) fn read_number(key: &[u8]) -> Result<u64, DecodeError> {
    let before = key.len().checked_sub(16).filter(|at| *at > 0).ok_or_else(short)?;
    let number = key[before..].first_chunk::<8>().ok_or_else(short)?;
    Ok(u64::from_be_bytes(*number))
}

/// The lane of a row in a scope's lines.
pub(crate) fn read_lane(key: &[u8]) -> Result<Mark, DecodeError> {
    key.get(9..17).and_then(|lane| lane.try_into().ok()).ok_or_else(short)
}

fn joined(first: u8, parts: &[&[u8]]) -> Vec<u8> {
    let mut key = vec![first];
    for part in parts {
        key.extend_from_slice(part);
    }
    key
}

fn short() -> DecodeError {
    DecodeError::new("a row of the outbox", &"it has not the length that one has")
}
