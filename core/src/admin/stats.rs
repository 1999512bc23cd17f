//! How a ledger and its outbox stand, in JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::machine::standing::EntryStateName;
use crate::outbox::{LaneState, OutboxStats};
use crate::stats::{AtLeast, Stats as LedgerStats};

/// How a ledger and its outbox stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// When this was so.
    pub now_ms: u64,
    /// The length of the file in bytes.
    pub file_bytes: u64,
    /// Records by state.
    pub records: Records,
    /// Claims whose lease is over.
    pub lapsed: Bounded,
    /// Records that a sweep would turn into their next state.
    pub due: Bounded,
    /// Since when the oldest unsettled record waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_unsettled_at_ms: Option<u64>,
    /// What the last sweep of the process that has the ledger open did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_sweep: Option<Swept>,
    /// The outbox.
    pub outbox: Entries,
}

/// Records by state; those that wait for a person as parked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the states of the contract")]
pub struct Records {
    pub parked: u64,
    pub in_progress: u64,
    pub released: u64,
    pub completed: u64,
    pub failed: u64,
    pub tombstone: u64,
}

/// A count that stops at a thousand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounded {
    /// How many.
    pub count: u64,
    /// Whether there may be more.
    pub or_more: bool,
}

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swept {
    /// When it ran.
    pub at_ms: u64,
    /// Records that became tombstones.
    pub tombstoned: u64,
    /// Records that became no record.
    pub removed: u64,
    /// Entries of the outbox that have stayed long enough.
    pub entries_removed: u64,
    /// Whether more are due.
    pub more: bool,
    /// How long it took.
    pub took_ms: u64,
}

/// How an outbox stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entries {
    /// Entries by state.
    pub entries: BTreeMap<String, u64>,
    /// How many are unsettled.
    pub unsettled: u64,
    /// How many bytes their requests have together.
    pub unsettled_bytes: u64,
    /// Lanes that are held or paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<LaneStats>,
}

/// A lane that is held or paused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneStats {
    /// Whose.
    pub scope: String,
    /// Its name.
    pub lane: String,
    /// Why it is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_since_ms: Option<u64>,
    /// Until when it is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_until_ms: Option<u64>,
}

impl Stats {
    pub(super) fn of(now_ms: u64, ledger: LedgerStats, outbox: OutboxStats) -> Self {
        Self {
            now_ms,
            file_bytes: ledger.file_bytes,
            records: Records {
                parked: ledger.parked,
                in_progress: ledger.in_progress,
                released: ledger.released,
                completed: ledger.completed,
                failed: ledger.failed,
                tombstone: ledger.tombstones,
            },
            lapsed: ledger.lapsed.into(),
            due: ledger.due.into(),
            oldest_unsettled_at_ms: ledger.oldest_unsettled_at_ms,
            last_sweep: ledger.last_sweep.map(Swept::from),
            outbox: outbox.into(),
        }
    }
}

impl From<AtLeast> for Bounded {
    fn from(at_least: AtLeast) -> Self {
        Self { count: at_least.count, or_more: !at_least.is_exact() }
    }
}

impl From<crate::sweep::Swept> for Swept {
    fn from(swept: crate::sweep::Swept) -> Self {
        let crate::sweep::Swept { at_ms, tombstoned, removed, entries_removed, more, took } = swept;
        Self { at_ms, tombstoned, removed, entries_removed, more, took_ms: crate::clock::millis(took) }
    }
}

impl From<OutboxStats> for Entries {
    fn from(stats: OutboxStats) -> Self {
        let count = |state: EntryStateName| (state.as_str().to_owned(), stats.count(state));
        Self {
            entries: EntryStateName::ALL.into_iter().map(count).collect(),
            unsettled: stats.unsettled,
            unsettled_bytes: stats.unsettled_bytes,
            lanes: stats.lanes.into_iter().map(LaneStats::from).collect(),
        }
    }
}

impl From<LaneState> for LaneStats {
    fn from(LaneState { scope, lane, held, paused_until_ms }: LaneState) -> Self {
        let (held, held_since_ms) = held.unzip();
        Self { scope, lane, held, held_since_ms, paused_until_ms }
    }
}
