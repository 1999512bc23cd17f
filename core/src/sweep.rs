//! What a sweep did (T2).

use std::time::Duration;

use crate::engine::Sweep;

/// The report of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swept {
    /// When it ran: milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// Settled and released records that became tombstones.
    pub tombstoned: u64,
    /// Records that became no record.
    pub removed: u64,
    /// Settled entries of the outbox that have stayed long enough (O13).
    pub entries_removed: u64,
    /// Whether more are due.
    pub more: bool,
    /// How long it took.
    pub took: Duration,
}

impl From<Sweep> for Swept {
    fn from(sweep: Sweep) -> Self {
        Self {
            at_ms: sweep.at_ms,
            tombstoned: sweep.tombstoned,
            removed: sweep.removed,
            entries_removed: sweep.entries_removed,
            more: sweep.more,
            took: sweep.took,
        }
    }
}
