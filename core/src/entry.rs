//! An entry of the outbox as people and apps see it.

use std::fmt;

use crate::fingerprint::Fingerprint;
use crate::key::{Key, Scope};
use crate::machine::entry::Peeked;
use crate::machine::entry::{Entry, TryError};
use crate::machine::record::AuditEntry;
use crate::machine::standing::{DeadReason, EntryState, EntryStateName, UnknownReason};
use crate::response::Response;

/// Names an entry of one ledger file. Below 2^53: every language's numbers hold it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(u64);

impl EntryId {
    /// The entry with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An entry as it was when it was read. Instants are milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryView {
    peeked: Peeked,
}

/// What `enqueue` answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enqueued {
    /// The entry: a new one, or the one that was there.
    pub entry: EntryView,
    /// Whether it is new.
    pub created: bool,
}

impl EntryView {
    pub(crate) fn of(peeked: Peeked) -> Self {
        Self { peeked }
    }

    fn entry(&self) -> &Entry {
        &self.peeked.entry
    }

    /// What names it in this ledger.
    pub fn id(&self) -> EntryId {
        EntryId(self.entry().id)
    }

    /// Whose it is.
    pub fn scope(&self) -> &Scope {
        &self.entry().scope
    }

    /// The lane that it is in.
    pub fn lane(&self) -> &str {
        self.entry().lane.as_str()
    }

    /// What is asked for.
    pub fn operation(&self) -> &str {
        self.entry().operation.as_str()
    }

    /// The key that goes with it, on every try the same (O2).
    pub fn key(&self) -> &Key {
        &self.entry().key
    }

    /// What the user wants, if the caller named it.
    pub fn purpose(&self) -> Option<&str> {
        self.entry().purpose.as_ref().map(crate::key::Purpose::as_str)
    }

    /// What tells its request from another under the same key or purpose.
    pub fn fingerprint(&self) -> Fingerprint {
        self.entry().fingerprint
    }

    /// Its state.
    pub fn state(&self) -> EntryStateName {
        self.entry().state_name()
    }

    /// Whether there is a final answer, or never will be one: answered, dead or cancelled.
    pub fn is_settled(&self) -> bool {
        !self.entry().is_unsettled()
    }

    /// The final answer, a yes or a no. One that came over HTTP is read with `keyledger_http::message::Stored::of_response`.
    pub fn response(&self) -> Option<&Response> {
        match &self.entry().state {
            EntryState::Answered { response, .. } => Some(response),
            _ => None,
        }
    }

    /// Whether it was answered with a yes.
    pub fn is_yes(&self) -> bool {
        matches!(self.entry().state, EntryState::Answered { is_yes: true, .. })
    }

    /// Why it is held; and true if its whole lane is held with it, false if it alone is.
    pub fn held(&self) -> Option<(&str, bool)> {
        match &self.entry().state {
            EntryState::Held { reason, with_lane } => Some((reason, *with_lane)),
            _ => None,
        }
    }

    /// Why nobody knows whether it took effect.
    pub fn unknown(&self) -> Option<&UnknownReason> {
        match &self.entry().state {
            EntryState::Unknown(reason) => Some(reason),
            _ => None,
        }
    }

    /// Why it was given up.
    pub fn dead(&self) -> Option<&DeadReason> {
        match &self.entry().state {
            EntryState::Dead(reason) => Some(reason),
            _ => None,
        }
    }

    /// Cancelled, because it was not sent in time.
    pub fn is_not_sent_in_time(&self) -> bool {
        matches!(self.entry().state, EntryState::Cancelled { in_time: false })
    }

    /// How many tries count.
    pub fn tries(&self) -> u32 {
        self.entry().tries
    }

    /// How many tries were given back: the server asked for the same key later, or turned it away (O6).
    pub fn given_back(&self) -> u32 {
        self.entry().given_back
    }

    /// The errors of the last sixteen tries, the oldest first.
    pub fn errors(&self) -> &[TryError] {
        &self.entry().errors
    }

    /// Whether some try may have taken effect without an answer (O9).
    pub fn may_have_taken_effect(&self) -> bool {
        self.entry().may_have_taken_effect()
    }

    /// When it may be sent next, as far as it alone is concerned; while it is being sent, when it may be sent again if no answer
    /// comes.
    pub fn due_at_ms(&self) -> Option<u64> {
        let waits = matches!(self.entry().state, EntryState::Pending | EntryState::Sending { .. });
        waits.then(|| self.wall(self.entry().ready_at))
    }

    /// When the lease of the delivery under way ends.
    pub fn lease_end_ms(&self) -> Option<u64> {
        match self.entry().state {
            EntryState::Sending { lease_end } => Some(self.wall(lease_end)),
            _ => None,
        }
    }

    /// The first send whose outcome is unknown: the window counts from it (O7).
    pub fn first_unknown_at_ms(&self) -> Option<u64> {
        self.entry().first_unknown.map(|sent| sent.stamp.wall_ms)
    }

    /// Until when it is worth sending, if the caller said so.
    pub fn send_by_ms(&self) -> Option<u64> {
        self.entry().send_by.map(|at| self.wall(at))
    }

    /// When it was enqueued.
    pub fn created_at_ms(&self) -> u64 {
        self.entry().created_at_ms
    }

    /// When it was settled.
    pub fn settled_at_ms(&self) -> Option<u64> {
        self.entry().stays.map(|stays| stays.settled_at_ms)
    }

    /// The entry that took its place (O7).
    pub fn successor(&self) -> Option<EntryId> {
        self.entry().successor.map(EntryId)
    }

    /// The fence of its last delivery; zero before the first.
    pub fn fence(&self) -> u64 {
        self.entry().fence
    }

    /// What persons decided about it.
    pub fn audit(&self) -> &[AuditEntry] {
        &self.entry().audit
    }

    /// The length of its request in bytes.
    pub fn request_bytes(&self) -> u64 {
        self.entry().request_bytes
    }

    /// Rises with every change of any entry: where `changes` goes on after this one.
    pub fn change(&self) -> u64 {
        self.entry().change
    }

    fn wall(&self, at: u64) -> u64 {
        self.peeked.now.wall_at(at)
    }
}
