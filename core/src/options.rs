//! Defaults and limits (contract section 12), each a named constant.

use std::time::Duration;

/// How long a claim lasts without a heartbeat.
pub const LEASE: Duration = Duration::from_secs(30);
/// How long an answer is replayed.
pub const RETENTION: Duration = Duration::from_hours(24);
/// How long a late retry is refused after that.
pub const TOMBSTONE: Duration = Duration::from_hours(7 * 24);
/// How long a downstream is taken to know a derived key.
pub const REMEMBERED_FOR: Duration = Duration::from_hours(24);
/// How often a Repeatable operation is granted at the most.
pub const MAX_ATTEMPTS: u32 = 20;
/// A response's body is kept up to this length; a longer one is dropped and its length and SHA-256 are kept (S4).
pub const RESPONSE_BYTES_MAX: usize = 1024 * 1024;
/// A memo's greatest length.
pub const MEMO_BYTES_MAX: usize = 4 * 1024;
/// The greatest length of a response's media type.
pub const MEDIA_TYPE_BYTES_MAX: usize = 255;
/// The greatest length of a reason to park.
pub const PARK_REASON_BYTES_MAX: usize = 1024;
/// The greatest length of the name of whoever resolves a record.
pub const WHO_BYTES_MAX: usize = 255;
/// The greatest length of the note on why.
pub const NOTE_BYTES_MAX: usize = 4 * 1024;
/// The greatest length of a key in the caller's own tables.
pub const ROW_KEY_BYTES_MAX: usize = 1024;
/// How often the janitor sweeps, give or take a fifth.
pub const JANITOR_INTERVAL: Duration = Duration::from_mins(1);
/// How many records the janitor sweeps in one transaction.
pub const JANITOR_BATCH: usize = 1000;
/// `stats` counts lapsed and due records up to here, then says "at least".
pub const STATS_COUNT_MAX: u64 = 1000;
/// The page cache of a ledger on a file.
pub const CACHE_BYTES: usize = 64 * 1024 * 1024;
/// The longest lease: a hundred years of milliseconds. A longer one counts as this.
pub const LEASE_MS_MAX: u64 = 100 * 366 * 24 * 3600 * 1000;
/// Fences stay below this (I5): every language's numbers hold it exactly.
pub const FENCE_MAX: u64 = 1 << 53;
/// An outbox request's greatest length.
pub const REQUEST_BYTES_MAX: usize = 1024 * 1024;
/// The longest wait after an entry's first try.
pub const BACKOFF_BASE: Duration = Duration::from_secs(1);
/// The longest wait after any try.
pub const BACKOFF_CAP: Duration = Duration::from_mins(5);
/// By so much the longest wait grows from try to try.
pub const BACKOFF_MULTIPLIER: u32 = 2;
/// How often an entry is tried at the most.
pub const MAX_TRIES: u32 = 20;
/// How long a server is taken to remember a key.
pub const RESEND_WINDOW: Duration = Duration::from_hours(23);
/// How long a purpose is answered with the entry that settled it.
pub const PURPOSE_RETENTION: Duration = Duration::from_hours(24);
/// How long settled entries stay.
pub const SETTLED_RETENTION: Duration = Duration::from_hours(7 * 24);
/// The longest wait that a server can ask for.
pub const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);
/// Retries that the budget of an outbox holds.
pub const BUDGET: u32 = 100;
/// How long the budget takes to refill by one.
pub const BUDGET_REFILL: Duration = Duration::from_secs(1);
/// How many unsettled entries an outbox holds.
pub const OUTBOX_ENTRIES_MAX: u64 = 100_000;
/// How many bytes the requests of its unsettled entries may have together.
pub const OUTBOX_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How many deliveries a driver keeps in flight.
pub const IN_FLIGHT: usize = 8;

/// What a ledger was opened with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    pub(crate) max_response_bytes: usize,
    pub(crate) cache_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_response_bytes: RESPONSE_BYTES_MAX, cache_bytes: CACHE_BYTES }
    }
}
