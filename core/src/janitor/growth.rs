//! Thresholds on the ledger's figures (T4).

use std::time::Duration;

use crate::clock::millis;
use crate::stats::Stats;

/// A threshold on one of the figures of [`Stats`]; the alert is called when it is crossed upwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Growth {
    /// The length of the file, in bytes.
    FileBytes(u64),
    /// Records that wait for a person.
    Parked(u64),
    /// Claims whose lease is over; counted up to a thousand.
    Lapsed(u64),
    /// Records in progress.
    InProgress(u64),
    /// Completed records.
    Completed(u64),
    /// Failed records.
    Failed(u64),
    /// Released records.
    Released(u64),
    /// Tombstones.
    Tombstones(u64),
    /// Records that a sweep would turn into their next state; counted up to a thousand.
    Due(u64),
    /// How long the oldest unsettled record has waited.
    OldestUnsettled(Duration),
}

impl Growth {
    pub(super) fn is_crossed(self, stats: &Stats, now_ms: u64) -> bool {
        match self {
            Growth::FileBytes(threshold) => stats.file_bytes >= threshold,
            Growth::Parked(threshold) => stats.parked >= threshold,
            Growth::Lapsed(threshold) => stats.lapsed.count >= threshold,
            Growth::InProgress(threshold) => stats.in_progress >= threshold,
            Growth::Completed(threshold) => stats.completed >= threshold,
            Growth::Failed(threshold) => stats.failed >= threshold,
            Growth::Released(threshold) => stats.released >= threshold,
            Growth::Tombstones(threshold) => stats.tombstones >= threshold,
            Growth::Due(threshold) => stats.due.count >= threshold,
            Growth::OldestUnsettled(age) => {
                let waits_ms = |at: u64| now_ms.saturating_sub(at);
                stats.oldest_unsettled_at_ms.is_some_and(|at| waits_ms(at) >= millis(age))
            }
        }
    }
}
