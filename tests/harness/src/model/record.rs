//! What the ledger holds for one key id.

use super::time::Stamp;
use super::values::{Bytes, Effect, Fence, Fingerprint, Millis, Response};

/// A record, on disk or in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Where it stands.
    pub state: State,
    /// The strictest effect that any granted begin has named (E1).
    pub effect: Effect,
    /// That of the first begin, but for F7's exception.
    pub fingerprint: Fingerprint,
    /// How many claims have been granted on it.
    pub attempt: u32,
    /// The last claim's.
    pub fence: Fence,
    /// What the caller of begin left for whoever recovers it.
    pub memo: Bytes,
    /// Recorded results, in order.
    pub steps: Vec<(String, Bytes)>,
    /// When the first claim was granted: E4's window counts from here.
    pub first_granted: Stamp,
    /// When the last claim was granted.
    pub granted: Stamp,
    /// The last claim's lease, as stored.
    pub lease: Lease,
    /// The settings of the operation that was granted, to be used when it is settled.
    pub retention: Millis,
    /// Likewise.
    pub tombstone: Millis,
}

/// A lease: granted or renewed at an instant, for a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lease {
    /// When it was granted or renewed.
    pub from: Stamp,
    /// How long it lasts.
    pub length: Millis,
}

impl Lease {
    /// Its end by the wall clock.
    pub fn end(&self) -> Millis {
        self.from.wall.saturating_add(self.length)
    }
}

/// Section 4. "No record" is the absence of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// Claimed.
    InProgress,
    /// Given back: it surely did not happen.
    Released(Ended),
    /// It happened, and this is the answer.
    Completed(Response, Ended),
    /// A final no.
    Failed(Response, Ended),
    /// Nobody knows.
    Parked {
        /// Why.
        reason: Reason,
        /// Since when.
        since: Millis,
        /// A begin found the lease over: by S1 that is no take-over.
        found_lapsed: bool,
    },
    /// Past its retention: a late retry is refused.
    Tombstone {
        /// When it becomes no record.
        gone_at: Millis,
    },
}

/// The times that are written when a record is settled (T1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// When it was settled.
    pub settled_at: Millis,
    /// When the retention ends.
    pub retained_until: Millis,
    /// When the tombstone's time ends.
    pub gone_at: Millis,
}

/// Why a record is parked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Its owner's lease is over, and nobody can tell.
    OwnerLost,
    /// E4: the downstream may have forgotten the derived key.
    WindowOver,
    /// E4: no attempts left.
    Attempts,
    /// E1.
    EffectChanged,
    /// F7.
    CannotCompare,
    /// A handler said so, in its own words.
    Handler(String),
}

impl Reason {
    /// The words that section 4 has for it, or the handler's own.
    pub fn as_str(&self) -> &str {
        match self {
            Self::OwnerLost => "owner lost",
            Self::WindowOver => "window over",
            Self::Attempts => "attempts",
            Self::EffectChanged => "effect changed",
            Self::CannotCompare => "cannot compare",
            Self::Handler(words) => words,
        }
    }

    /// Whether recovery may hand it out: nobody has looked at it yet.
    pub fn unseen(&self) -> bool {
        match self {
            Self::OwnerLost | Self::WindowOver | Self::Attempts => true,
            Self::EffectChanged | Self::CannotCompare | Self::Handler(_) => false,
        }
    }
}
