//! Where an entry stands, and why (contract section 9).

use crate::response::Response;

/// Where an entry stands. Instants are those of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EntryState {
    Pending,
    Sending { lease_end: u64 },
    Held { reason: String, with_lane: bool },
    Unknown(UnknownReason),
    Answered { response: Response, is_yes: bool },
    Dead(DeadReason),
    Cancelled { in_time: bool },
}

/// An entry's state by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryStateName {
    /// Waits to be sent.
    Pending,
    /// A delivery is out, or was until a kill.
    Sending,
    /// Waits for other credentials, or for a permission.
    Held,
    /// Nobody knows whether it took effect: somebody must find out.
    Unknown,
    /// There is a final answer, a yes or a no.
    Answered,
    /// Given up; it certainly never took effect.
    Dead,
    /// Taken back before it can have taken effect.
    Cancelled,
}

impl EntryStateName {
    /// Every state, in the order of the contract.
    pub const ALL: [EntryStateName; 7] = [
        EntryStateName::Pending,
        EntryStateName::Sending,
        EntryStateName::Held,
        EntryStateName::Unknown,
        EntryStateName::Answered,
        EntryStateName::Dead,
        EntryStateName::Cancelled,
    ];

    /// Whether there is a final answer, or never will be one.
    pub const fn is_settled(self) -> bool {
        match self {
            EntryStateName::Pending | EntryStateName::Sending | EntryStateName::Held | EntryStateName::Unknown => false,
            EntryStateName::Answered | EntryStateName::Dead | EntryStateName::Cancelled => true,
        }
    }

    /// The name that every language and the scenarios use.
    pub const fn as_str(self) -> &'static str {
        match self {
            EntryStateName::Pending => "pending",
            EntryStateName::Sending => "sending",
            EntryStateName::Held => "held",
            EntryStateName::Unknown => "unknown",
            EntryStateName::Answered => "answered",
            EntryStateName::Dead => "dead",
            EntryStateName::Cancelled => "cancelled",
        }
    }
}

/// Why nobody knows whether an entry took effect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownReason {
    /// The server may have forgotten the key (O7).
    WindowOver,
    /// It was tried as often as it may be (O9).
    OutOfTries,
    /// It is as old as it may get (O6).
    TooOld,
    /// A no, but another try may have taken effect (O9).
    Contradicted,
    /// The transport says so.
    Told(String),
}

impl UnknownReason {
    /// The reason in words; a transport's own as it gave it.
    pub fn as_str(&self) -> &str {
        match self {
            UnknownReason::WindowOver => "window over",
            UnknownReason::OutOfTries => "out of tries",
            UnknownReason::TooOld => "too old",
            UnknownReason::Contradicted => "a no, but another try may have taken effect",
            UnknownReason::Told(words) => words,
        }
    }
}

/// Why an entry was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeadReason {
    /// It was tried as often as it may be.
    OutOfTries,
    /// It is as old as it may get.
    TooOld,
    /// The transport says so.
    Told(String),
    /// A person found out that it never took effect.
    Resolved,
    /// A person gave it up.
    Dismissed,
    /// Another entry with a new key took its place.
    Superseded,
}

impl DeadReason {
    /// The reason in words; a transport's own as it gave it.
    pub fn as_str(&self) -> &str {
        match self {
            DeadReason::OutOfTries => "out of tries",
            DeadReason::TooOld => "too old",
            DeadReason::Told(words) => words,
            DeadReason::Resolved => "resolved",
            DeadReason::Dismissed => "dismissed",
            DeadReason::Superseded => "superseded",
        }
    }

    /// Whether a person has decided it: then it blocks its lane no more.
    pub(super) fn is_decided(&self) -> bool {
        match self {
            DeadReason::OutOfTries | DeadReason::TooOld | DeadReason::Told(_) => false,
            DeadReason::Resolved | DeadReason::Dismissed | DeadReason::Superseded => true,
        }
    }
}
