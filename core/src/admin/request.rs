//! What can be asked.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::content::Content;

/// A key id in its three parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Id {
    /// Whose key it is.
    pub scope: String,
    /// What is being done.
    pub operation: String,
    /// The caller's name for it.
    pub key: String,
}

/// One call. `do` names it in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Request {
    /// How ledger and outbox stand: [`Reply::Stats`](super::Reply::Stats).
    Stats,
    /// Walks the file for free and leaked bytes: [`Reply::Sizes`](super::Reply::Sizes).
    Sizes,
    /// A page of records: [`Reply::Records`](super::Reply::Records).
    List(RecordQuery),
    /// One record with all that it holds: [`Reply::Record`](super::Reply::Record). None is the fault `not_found`.
    Show {
        /// Which.
        id: Id,
    },
    /// A person settles a parked record: [`Reply::Record`](super::Reply::Record), as it is then.
    Resolve {
        /// Which.
        id: Id,
        /// The one that was shown.
        fence: u64,
        /// What became of it.
        outcome: Outcome,
        /// Who says so.
        who: String,
        /// Why.
        note: String,
    },
    /// Removes a record: [`Reply::Forgotten`](super::Reply::Forgotten).
    Forget {
        /// Which.
        id: Id,
        /// Also one that is in progress or parked.
        #[serde(default)]
        even_if_unknown: bool,
    },
    /// Removes all records of a scope: [`Reply::Forgotten`](super::Reply::Forgotten).
    ForgetScope {
        /// Whose.
        scope: String,
        /// Also those that are in progress or parked.
        #[serde(default)]
        even_if_unknown: bool,
    },
    /// One batch: [`Reply::Swept`](super::Reply::Swept).
    Sweep {
        /// At most so many.
        limit: usize,
    },
    /// Gives free pages back: [`Reply::Compacted`](super::Reply::Compacted).
    Compact {
        /// Also while there are claims.
        #[serde(default)]
        even_with_claims: bool,
    },
    /// Walks the whole file: [`Reply::Checked`](super::Reply::Checked).
    Check,
    /// Writes a copy: [`Reply::Copied`](super::Reply::Copied).
    Snapshot {
        /// Where to; absolute, as the process that has the ledger open may be in another folder.
        path: PathBuf,
    },
    /// A page of entries: [`Reply::Entries`](super::Reply::Entries).
    Entries(EntryQuery),
    /// One entry with all that it holds: [`Reply::Entry`](super::Reply::Entry).
    Entry {
        /// Which.
        id: u64,
    },
    /// Takes an entry back: [`Reply::Cancelled`](super::Reply::Cancelled).
    Cancel {
        /// Which.
        id: u64,
    },
    /// Sends a dead entry again: [`Reply::Entry`](super::Reply::Entry).
    Requeue {
        /// Which.
        id: u64,
    },
    /// A person says what became of an unknown entry: [`Reply::Entry`](super::Reply::Entry), for a resend the successor.
    ResolveEntry {
        /// Which.
        id: u64,
        /// What became of it.
        outcome: EntryOutcome,
        /// Who says so.
        who: String,
        /// Why.
        note: String,
    },
    /// There are other credentials: [`Reply::Resumed`](super::Reply::Resumed).
    Resume {
        /// Whose.
        scope: String,
    },
    /// One held entry is due again: [`Reply::Entry`](super::Reply::Entry).
    ResumeEntry {
        /// Which.
        id: u64,
    },
    /// A person gives an entry up: [`Reply::Entry`](super::Reply::Entry).
    Dismiss {
        /// Which.
        id: u64,
        /// Who.
        who: String,
        /// Why.
        note: String,
    },
}

/// Which records a page shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordQuery {
    /// Those in this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Those of this operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Those of this scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Those with this key, of whatever scope and operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Those first granted at most so long ago.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer_than_ms: Option<u64>,
    /// Those first granted at least so long ago.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older_than_ms: Option<u64>,
    /// Where the page before ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// At most so many.
    pub limit: usize,
    /// With memo, steps, audit trail and bodies.
    #[serde(default)]
    pub contents: bool,
    /// In no order that means anything, instead of what waits for somebody first: none is passed over because its lease ends
    /// between two pages.
    #[serde(default)]
    pub by_place: bool,
    /// What cannot be read is passed over, and told; also by place.
    #[serde(default)]
    pub past_damage: bool,
}

/// Which entries a page shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryQuery {
    /// Those in this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Those of this scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Those in this lane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// Those of this operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Those enqueued at least so long ago.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older_than_ms: Option<u64>,
    /// After which entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// At most so many.
    pub limit: usize,
    /// With requests, errors, audit trail and bodies.
    #[serde(default)]
    pub contents: bool,
    /// What cannot be read is passed over, and told.
    #[serde(default)]
    pub past_damage: bool,
}

/// What became of a parked record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It happened, with this answer.
    Completed {
        /// Its media type.
        media_type: String,
        /// Its body.
        body: Content,
    },
    /// It ended in a final no, with this answer.
    Failed {
        /// Its media type.
        media_type: String,
        /// Its body.
        body: Content,
    },
    /// It did not happen. **Only for when the old owner can no longer act.**
    NotDone,
}

/// What became of an unknown entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryOutcome {
    /// It never took effect, and shall not.
    Dead,
    /// It never took effect: an entry with a new key takes its place. **Only for when no earlier send can still arrive.**
    Resend,
}
