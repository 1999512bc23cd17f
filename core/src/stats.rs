//! How a ledger stands (T4).

use std::fmt;

use crate::engine::{Counted, Engine};
use crate::error::Result;
use crate::options::STATS_COUNT_MAX;
use crate::sweep::Swept;

/// How a ledger stands. Instants are milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// Claims, lapsed ones included, save AtMostOnce ones that are lapsed: those count as parked.
    pub in_progress: u64,
    /// Released records.
    pub released: u64,
    /// Completed records.
    pub completed: u64,
    /// Failed records.
    pub failed: u64,
    /// Records that wait for a person: parked ones, and lapsed AtMostOnce ones as far as `lapsed` was counted.
    pub parked: u64,
    /// Tombstones.
    pub tombstones: u64,
    /// The length of the file; in memory, of the image.
    pub file_bytes: u64,
    /// Claims whose lease is over.
    pub lapsed: AtLeast,
    /// Records that a sweep would turn into their next state.
    pub due: AtLeast,
    /// Since when the oldest unsettled record waits: a parked one since it was parked, another since it was first granted. Of
    /// each operation the record is looked at whose lease ends first.
    pub oldest_unsettled_at_ms: Option<u64>,
    /// What the last sweep of this handle did.
    pub last_sweep: Option<Swept>,
}

/// What [`Ledger::check`](crate::Ledger::check) found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCheck {
    /// How many records there are.
    pub records: u64,
    /// How many rows of the caller's own.
    pub rows: u64,
    /// How many entries of the outbox.
    pub entries: u64,
    /// What is wrong, a sentence each: the first hundred.
    pub faults: Vec<String>,
    /// How many there are in all.
    pub fault_count: u64,
}

impl FileCheck {
    /// Whether nothing is wrong.
    pub fn is_well(&self) -> bool {
        self.fault_count == 0
    }
}

/// A count that stops at a thousand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AtLeast {
    /// The number, exact below a thousand.
    pub count: u64,
}

impl AtLeast {
    /// Whether `count` is the number, and not only its lower bound.
    pub fn is_exact(self) -> bool {
        self.count < STATS_COUNT_MAX
    }
}

impl fmt::Display for AtLeast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_exact() { write!(f, "{}", self.count) } else { write!(f, "at least {}", self.count) }
    }
}

impl Stats {
    pub(crate) fn of(engine: &Engine) -> Result<Self> {
        let Counted { counters, lapsed, lapsed_at_most_once, due, oldest_unsettled_at } = engine.count()?;
        Ok(Self {
            in_progress: counters.in_progress.saturating_sub(lapsed_at_most_once),
            released: counters.released,
            completed: counters.completed,
            failed: counters.failed,
            parked: counters.parked + lapsed_at_most_once,
            tombstones: counters.tombstones,
            file_bytes: engine.file_bytes()?,
            lapsed: AtLeast { count: lapsed },
            due: AtLeast { count: due },
            oldest_unsettled_at_ms: oldest_unsettled_at,
            last_sweep: engine.last_sweep().map(Swept::from),
        })
    }
}

/// What [`Ledger::inspect_file`](crate::Ledger::inspect_file) found by walking the file. Bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSizes {
    /// The length of the file.
    pub file: u64,
    /// Keys and values.
    pub stored: u64,
    /// The trees' own overhead and slack.
    pub overhead: u64,
    /// Free pages, which later commits use again and `compact` gives back.
    pub free: u64,
    /// Pages that are neither free nor reachable.
    pub leaked: u64,
}

/// Sizes of the file around a `compact`. Bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compacted {
    /// Before.
    pub before_bytes: u64,
    /// After.
    pub after_bytes: u64,
}
