//! The rows of the outbox: entries, their requests, lanes, and the one row about the outbox as a whole.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{DecodeError, entry_v1};
use crate::machine::backoff::Budget;
use crate::machine::entry::{Entry, Order};
use crate::machine::record::Stamp;
use crate::machine::standing::EntryStateName;
use crate::machine::timeline::Timeline;

const VERSION: u8 = 1;
/// Ids, changes and counts stay below this.
const COUNT_MAX: u64 = 1 << 53;

/// An entry as it is stored, under its id.
pub(crate) fn encode_entry(entry: &Entry) -> Vec<u8> {
    entry_v1::encode(entry, vec![VERSION])
}

/// The entry that was stored under `id`. Never panics, whatever the bytes.
pub(crate) fn decode_entry(id: u64, bytes: &[u8]) -> Result<Entry, DecodeError> {
    entry_v1::decode(id, body("an entry", bytes)?)
}

/// A request as it is stored: it is written once and never changes (O2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) media_type: String,
    pub(crate) bytes: Vec<u8>,
}

/// The lane of a scope, as long as there is something to know about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LaneRow {
    pub(crate) scope: String,
    pub(crate) lane: String,
    /// Why nothing of it is sent until `resume`, and since when the wall clock says.
    pub(crate) held: Option<(String, u64)>,
    /// Nothing of it is sent before this instant of the timeline.
    pub(crate) paused_until: u64,
}

/// What a lane was declared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Declared {
    Unordered,
    Blocks,
    Skips,
}

/// The outbox as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutboxRow {
    pub(crate) timeline: Timeline,
    pub(crate) budget: Budget,
    pub(crate) next_id: u64,
    pub(crate) next_change: u64,
    /// Requests of unsettled entries.
    pub(crate) unsettled_bytes: u64,
    /// How many entries are in each state, in the order of [`EntryStateName::ALL`].
    pub(crate) counts: [u64; EntryStateName::ALL.len()],
}

#[derive(Serialize, Deserialize)]
struct WireOutbox {
    at: u64,
    stamp: (u64, u64, u64),
    tokens: u32,
    since: u64,
    next_id: u64,
    next_change: u64,
    unsettled_bytes: u64,
    counts: [u64; EntryStateName::ALL.len()],
}

impl OutboxRow {
    /// An outbox without entries. Ids begin at one.
    pub(crate) fn new(timeline: Timeline, budget: Budget) -> Self {
        Self { timeline, budget, next_id: 1, next_change: 1, unsettled_bytes: 0, counts: Default::default() }
    }

    /// How many entries are in a state.
    pub(crate) fn count(&self, state: EntryStateName) -> u64 {
        self.counts[state as usize]
    }

    /// How many are unsettled.
    pub(crate) fn unsettled(&self) -> u64 {
        EntryStateName::ALL.into_iter().filter(|state| !state.is_settled()).map(|state| self.count(state)).sum()
    }

    /// Moves one entry from its old state to its new one; `None` is no entry.
    pub(crate) fn move_entry(&mut self, old: Option<&Entry>, new: Option<&Entry>) {
        if let Some(old) = old {
            let count = &mut self.counts[old.state_name() as usize];
            *count = count.saturating_sub(1);
            self.unsettled_bytes = self.unsettled_bytes.saturating_sub(bytes_of(old));
        }
        if let Some(new) = new {
            self.counts[new.state_name() as usize] += 1;
            self.unsettled_bytes = self.unsettled_bytes.saturating_add(bytes_of(new));
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let stamp = self.timeline.stamp;
        encode(&WireOutbox {
            at: self.timeline.at,
            stamp: (stamp.wall_ms, stamp.mono_ms, stamp.opening),
            tokens: self.budget.tokens,
            since: self.budget.since,
            next_id: self.next_id,
            next_change: self.next_change,
            unsettled_bytes: self.unsettled_bytes,
            counts: self.counts,
        })
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let wire: WireOutbox = decode("the outbox's row", bytes)?;
        // No outbox gets there: what is damaged is told, and nothing overflows that is counted from it.
        let counted = wire.counts.iter().chain([&wire.next_id, &wire.next_change]);
        if wire.next_id == 0 || wire.next_change == 0 || counted.into_iter().any(|count| *count > COUNT_MAX) {
            return Err(DecodeError::new("the outbox's row", &"its counts cannot be"));
        }
        let (wall_ms, mono_ms, opening) = wire.stamp;
        Ok(Self {
            timeline: Timeline { at: wire.at, stamp: Stamp { wall_ms, mono_ms, opening } },
            budget: Budget { tokens: wire.tokens, since: wire.since },
            next_id: wire.next_id,
            next_change: wire.next_change,
            unsettled_bytes: wire.unsettled_bytes,
            counts: wire.counts,
        })
    }
}

fn bytes_of(entry: &Entry) -> u64 {
    if entry.is_unsettled() { entry.request_bytes } else { 0 }
}

impl From<Order> for Declared {
    fn from(order: Order) -> Self {
        match order {
            Order::None => Declared::Unordered,
            Order::Strict { blocks: true } => Declared::Blocks,
            Order::Strict { blocks: false } => Declared::Skips,
        }
    }
}

impl From<Declared> for Order {
    fn from(declared: Declared) -> Self {
        match declared {
            Declared::Unordered => Order::None,
            Declared::Blocks => Order::Strict { blocks: true },
            Declared::Skips => Order::Strict { blocks: false },
        }
    }
}

/// A value under a version byte.
pub(crate) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_extend(value, vec![VERSION]).expect("a vector takes every byte")
}

/// The value that was stored.
pub(crate) fn decode<T: DeserializeOwned>(what: &'static str, bytes: &[u8]) -> Result<T, DecodeError> {
    postcard::from_bytes(body(what, bytes)?).map_err(|error| DecodeError::new(what, &error))
}

fn body<'a>(what: &'static str, bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
    match bytes.split_first() {
        Some((&VERSION, body)) => Ok(body),
        Some((other, _)) => Err(DecodeError::new(what, &format!("version {other} is not known"))),
        None => Err(DecodeError::new(what, &"it is empty")),
    }
}
