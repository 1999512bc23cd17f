//! What `begin` answers (contract section 4).

use std::time::Duration;

use crate::claim::Claim;
use crate::machine::record::ParkReason;
use crate::response::Response;

/// The answer of `begin`: exactly one caller gets the claim, the others learn how it stands.
#[derive(Debug)]
#[must_use = "an Acquired claim that is dropped ends its lease at once"]
pub enum Decision {
    /// Yours to run. Settle the claim when it is done.
    Acquired(Claim),
    /// It was done before; this is the answer that was given then.
    Replay(Replay),
    /// Somebody is at it. The same key later.
    InProgress(InProgress),
    /// This key was for another request. Take another key.
    Mismatch,
    /// Nobody knows whether it happened; it is held for a person. Find out before asking again.
    Parked(Parked),
    /// It was settled so long ago that the answer is no longer kept. Find out before asking with another key.
    Gone,
}

/// A stored answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// What the handler answered, byte for byte (I8).
    pub response: Response,
    /// Whether that was a yes or a final no.
    pub outcome: Outcome,
    /// When it was settled: milliseconds since 1970-01-01 UTC.
    pub settled_at_ms: u64,
    /// Until when it is replayed: milliseconds since 1970-01-01 UTC.
    pub expires_at_ms: u64,
}

/// How a settled record ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// By `complete`.
    Completed,
    /// By `fail`: a final no.
    Failed,
}

/// A claim that somebody else holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InProgress {
    /// How long the claim has run.
    pub running_for: Duration,
    /// When to ask again at the latest: what is left of the lease, and never more than the lease (L7).
    pub retry_after: Duration,
}

/// A record that is held for reconciliation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parked {
    /// Why.
    pub reason: ParkReason,
    /// Since when: milliseconds since 1970-01-01 UTC.
    pub since_ms: u64,
}

impl Decision {
    /// The decision's name, the same in every language.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Decision::Acquired(_) => "acquired",
            Decision::Replay(_) => "replay",
            Decision::InProgress(_) => "in_progress",
            Decision::Mismatch => "mismatch",
            Decision::Parked(_) => "parked",
            Decision::Gone => "gone",
        }
    }
}
