//! What callers saw, written down while they called, and whether one order of their calls explains it all.
//!
//! A history is linearizable if each call can be given one instant between its beginning and its end so that the model of the
//! contract, called at those instants, gives the answers that were seen. Histories of several processes go together: each
//! writes a file of its own, by a clock that they share.

mod check;
mod recorder;
mod spec;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::model::{Effect, Id};

pub use self::check::{Unexplained, check};
pub use self::recorder::{Recorder, Scribe, read};

/// A call, what it was told, and between which instants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// Who called: process and thread.
    pub by: (u32, u32),
    /// About which key id.
    pub id: Id,
    /// What was called.
    pub call: Call,
    /// What it was told; `None` for a caller who never heard: the call may have taken effect at any time, or never.
    pub answer: Option<Answer>,
    /// When it was called and when it was answered, in nanoseconds of the clock that all processes share.
    pub span: (u64, u64),
    /// The ledger's own clock before and after, in milliseconds: leases are judged by an instant between them.
    pub clock: (u64, u64),
}

/// A call of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Call {
    /// `begin`, by an operation with these terms, asking for this.
    Begin {
        /// The name of the effect as `keyledger::Effect::as_str` has it.
        effect: String,
        /// The lease.
        lease_ms: u64,
        /// E4.
        max_attempts: u32,
        /// What is asked for: another number is another fingerprint.
        asks: u8,
    },
    /// A settling call with this fence.
    Settle {
        /// The claim's fence.
        fence: u64,
        /// Which.
        how: How,
    },
    /// `heartbeat` with this fence.
    Heartbeat {
        /// The claim's fence.
        fence: u64,
        /// The lease from now.
        lease_ms: u64,
    },
}

/// How a claim is settled. Texts are bodies, or the handler's reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// It happened.
    Complete(String),
    /// A final no.
    Fail(String),
    /// It surely did not happen.
    Release,
    /// Nobody knows.
    Park(String),
}

/// What a call was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// A claim.
    Acquired {
        /// Its fence.
        fence: u64,
        /// Its number among the grants of the key id.
        attempt: u32,
    },
    /// Somebody holds it.
    InProgress,
    /// Something else was asked for under that key.
    Mismatch,
    /// It was completed with this body.
    Completed(String),
    /// It was failed with this body.
    Failed(String),
    /// It is parked for this reason.
    Parked(String),
    /// Past its retention.
    Gone,
    /// A settling call or heartbeat took effect.
    Done,
    /// The fence is no longer the claim's.
    ClaimLost,
}

/// The effect of that name.
fn effect(name: &str) -> Effect {
    match name {
        "in_ledger" => Effect::InLedger,
        "repeatable" => Effect::Repeatable,
        "at_most_once" => Effect::AtMostOnce,
        other => panic!("there is no effect {other}"),
    }
}
