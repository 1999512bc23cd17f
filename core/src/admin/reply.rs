//! What is answered.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::record::Record;
use super::stats::{Stats, Swept};
use super::unreadable::Unreadable;

/// The answer to a [`Request`](super::Request). `kind` names it in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reply {
    /// How ledger and outbox stand.
    Stats(Box<Stats>),
    /// What a walk over the file found.
    Sizes {
        /// Its length.
        file_bytes: u64,
        /// Keys and values.
        stored_bytes: u64,
        /// The trees' own.
        overhead_bytes: u64,
        /// Free pages.
        free_bytes: u64,
        /// Neither free nor reachable.
        leaked_bytes: u64,
    },
    /// A page of records: first those that wait for somebody.
    Records {
        /// The records.
        records: Vec<Record>,
        /// Where the next page begins; absent after the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<String>,
        /// What was passed over, where that was asked for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unreadable: Vec<Unreadable>,
    },
    /// A record.
    Record(Box<Record>),
    /// How many records were removed.
    Forgotten {
        /// Completed and failed ones.
        settled: u64,
        /// Released ones.
        released: u64,
        /// Tombstones.
        tombstones: u64,
        /// In progress or parked.
        unsettled: u64,
        /// In progress or parked, and kept.
        kept_unsettled: u64,
        /// Entries of the outbox.
        entries: u64,
        /// Entries of the outbox that are unsettled, and were kept.
        kept_entries: u64,
    },
    /// What a sweep did.
    Swept(Swept),
    /// The file's length around it. Bytes.
    Compacted {
        /// Before.
        before_bytes: u64,
        /// After.
        after_bytes: u64,
    },
    /// What a check found.
    Checked {
        /// How many records there are.
        records: u64,
        /// How many rows of the program's own.
        rows: u64,
        /// How many entries of the outbox.
        entries: u64,
        /// How many faults in all; none is well.
        fault_count: u64,
        /// The first hundred, a sentence each.
        faults: Vec<String>,
    },
    /// A copy was written.
    Copied {
        /// Where to.
        path: PathBuf,
    },
    /// A page of entries, the oldest first.
    Entries {
        /// The entries.
        entries: Vec<Entry>,
        /// After which entry the next page begins; absent after the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<u64>,
        /// What was passed over, where that was asked for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unreadable: Vec<Unreadable>,
    },
    /// An entry.
    Entry(Box<Entry>),
    /// Whether an entry was taken back.
    Cancelled {
        /// False: a send may have taken effect, and nothing was changed.
        cancelled: bool,
        /// The entry as it is now.
        entry: Box<Entry>,
    },
    /// What is due again.
    Resumed {
        /// Lanes that were held.
        lanes: u64,
        /// Entries that were held with them.
        entries: u64,
    },
}
