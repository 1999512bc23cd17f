//! What the outbox holds for one request: its key, its state, its tries (contract section 9).

use super::record::{AuditEntry, Stamp};
use super::standing::{DeadReason, EntryState, EntryStateName, UnknownReason};
use super::timeline::Moment;
use crate::fingerprint::Fingerprint;
use crate::key::{Key, LaneName, OperationName, Purpose, Scope};

/// The last errors that an entry keeps.
pub(crate) const ERRORS_KEPT: usize = 16;
/// So many answers may give a try back (O6).
pub(crate) const GIVEN_BACK_MAX: u32 = 100;

/// How a lane hands out its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// By due time, many at once.
    None,
    /// First in, first out, one at a time; what a dead, unknown or held head does to it.
    Strict { blocks: bool },
}

/// An error of one try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TryError {
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// What went wrong, or what the server said.
    pub error: String,
}

/// Until when a settled entry stays. Instants of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stays {
    /// As the wall clock showed it.
    pub(crate) settled_at_ms: u64,
    /// So long its purpose is answered with it.
    pub(crate) purpose_until: u64,
    pub(crate) until: u64,
}

/// What the outbox holds for one request, apart from the request itself. Instants are those of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) id: u64,
    /// Its place in an ordered lane.
    pub(crate) position: u64,
    pub(crate) scope: Scope,
    pub(crate) lane: LaneName,
    pub(crate) order: Order,
    pub(crate) operation: OperationName,
    pub(crate) key: Key,
    pub(crate) purpose: Option<Purpose>,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) request_bytes: u64,
    pub(crate) state: EntryState,
    /// The fence of its last delivery; zero before the first.
    pub(crate) fence: u64,
    /// How often it was leased, less the tries that were given back.
    pub(crate) tries: u32,
    pub(crate) given_back: u32,
    pub(crate) errors: Vec<TryError>,
    /// When it may be sent; while it is being sent, when it may be sent again should its lease end without an answer.
    pub(crate) ready_at: u64,
    /// When time alone changes its state; as the settings were when it was written.
    pub(crate) ends_at: Option<u64>,
    /// A try before the one under way may have taken effect.
    pub(crate) in_doubt: bool,
    /// The first send whose outcome is not known, or not known yet.
    pub(crate) first_unknown: Option<Sent>,
    /// When the server will have forgotten the key, where it said so.
    pub(crate) key_known_until: Option<u64>,
    pub(crate) send_by: Option<u64>,
    pub(crate) created_at: u64,
    /// As the wall clock showed it.
    pub(crate) created_at_ms: u64,
    pub(crate) stays: Option<Stays>,
    /// The entry that took its place.
    pub(crate) successor: Option<u64>,
    pub(crate) audit: Vec<AuditEntry>,
    /// Rises with every change of any entry.
    pub(crate) change: u64,
}

/// An entry as it counted at an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Peeked {
    pub(crate) entry: Entry,
    pub(crate) now: Moment,
}

/// When something was sent: on the timeline, and as the clocks showed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) at: u64,
    pub(crate) stamp: Stamp,
}

/// What an outbox was opened with, as far as entries are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryTerms {
    pub(crate) backoff: super::backoff::Backoff,
    pub(crate) lease_ms: u64,
    pub(crate) max_tries: u32,
    pub(crate) max_age_ms: Option<u64>,
    pub(crate) resend_window_ms: u64,
    pub(crate) purpose_retention_ms: u64,
    pub(crate) retention_ms: u64,
    pub(crate) retry_after_max_ms: u64,
}

impl Entry {
    /// Nothing is settled yet: it may be sent, or somebody must decide (O3).
    pub(crate) fn is_unsettled(&self) -> bool {
        !self.state_name().is_settled()
    }

    /// It was answered, and its purpose is still answered with it (O3).
    pub(crate) fn answers_purpose(&self, now: Moment) -> bool {
        matches!(self.state, EntryState::Answered { .. })
            && self.stays.is_some_and(|stays| now.at < stays.purpose_until)
    }

    /// Whether it has a place in its lane: it may be sent, or it keeps those behind it from being sent (O4).
    pub(crate) fn is_in_line(&self) -> bool {
        match &self.state {
            EntryState::Pending | EntryState::Sending { .. } => true,
            EntryState::Held { .. } | EntryState::Unknown(_) => self.blocks(),
            EntryState::Dead(reason) => self.blocks() && !reason.is_decided(),
            EntryState::Answered { .. } | EntryState::Cancelled { .. } => false,
        }
    }

    fn blocks(&self) -> bool {
        self.order == Order::Strict { blocks: true }
    }

    /// When a sweep removes it; a blocking head is not swept (O4).
    pub(crate) fn removed_at(&self) -> Option<u64> {
        self.stays.map(|stays| stays.until).filter(|_| !self.is_in_line())
    }

    /// Whether a lease is out.
    pub(crate) fn is_leased(&self, now: Moment) -> bool {
        matches!(self.state, EntryState::Sending { lease_end } if now.at < lease_end)
    }

    /// Whether some try may have taken effect; a lease that ended without an answer counts (O9).
    pub(crate) fn may_have_taken_effect(&self) -> bool {
        self.in_doubt || matches!(self.state, EntryState::Sending { .. })
    }

    /// The backoff of the try under way, rolled when it was leased. Milliseconds.
    pub(super) fn wait_ms(&self) -> u64 {
        match self.state {
            EntryState::Sending { lease_end } => self.ready_at.saturating_sub(lease_end),
            EntryState::Pending
            | EntryState::Held { .. }
            | EntryState::Unknown(_)
            | EntryState::Answered { .. }
            | EntryState::Dead(_)
            | EntryState::Cancelled { .. } => 0,
        }
    }

    /// When the server may have forgotten the key (O7); none while no send is in doubt.
    pub(crate) fn window_end(&self, terms: &EntryTerms) -> Option<u64> {
        let sent = self.first_unknown?;
        Some(self.key_known_until.unwrap_or_else(|| sent.at.saturating_add(terms.resend_window_ms)))
    }

    /// When time alone changes its state (O11).
    pub(crate) fn next_end(&self, terms: &EntryTerms) -> Option<u64> {
        let age_end = terms.max_age_ms.map(|ms| self.created_at.saturating_add(ms));
        match self.state {
            EntryState::Pending | EntryState::Held { .. } => {
                let own = if self.in_doubt { self.window_end(terms) } else { self.send_by };
                [own, age_end].into_iter().flatten().min()
            }
            EntryState::Sending { lease_end } => {
                let out_of_tries = (self.tries >= terms.max_tries).then_some(lease_end);
                let first = [self.window_end(terms), age_end, out_of_tries].into_iter().flatten().min()?;
                Some(first.max(lease_end))
            }
            EntryState::Unknown(_)
            | EntryState::Answered { .. }
            | EntryState::Dead(_)
            | EntryState::Cancelled { .. } => None,
        }
    }

    /// Its state by name.
    pub(crate) fn state_name(&self) -> EntryStateName {
        match self.state {
            EntryState::Pending => EntryStateName::Pending,
            EntryState::Sending { .. } => EntryStateName::Sending,
            EntryState::Held { .. } => EntryStateName::Held,
            EntryState::Unknown(_) => EntryStateName::Unknown,
            EntryState::Answered { .. } => EntryStateName::Answered,
            EntryState::Dead(_) => EntryStateName::Dead,
            EntryState::Cancelled { .. } => EntryStateName::Cancelled,
        }
    }

    /// As if it had been enqueued now and never sent; what was said about it stays.
    pub(super) fn begun_anew(self, now: Moment) -> Self {
        Self {
            state: EntryState::Pending,
            tries: 0,
            given_back: 0,
            in_doubt: false,
            first_unknown: None,
            key_known_until: None,
            ready_at: now.at,
            created_at: now.at,
            send_by: None,
            stays: None,
            ..self
        }
    }

    /// Its state in a word; for one that a person has given up, how.
    pub(crate) fn standing(&self) -> &'static str {
        match &self.state {
            EntryState::Dead(DeadReason::Resolved) => "resolved",
            EntryState::Dead(DeadReason::Dismissed) => "dismissed",
            EntryState::Dead(DeadReason::Superseded) => "superseded: its successor took its place",
            _ => self.state_name().as_str(),
        }
    }

    pub(crate) fn note_error(&mut self, at_ms: u64, error: &str) {
        if self.errors.len() == ERRORS_KEPT {
            self.errors.remove(0);
        }
        self.errors.push(TryError { at_ms, error: shortened(error) });
    }

    /// Ends it: a no, a yes, a death or a cancellation.
    pub(super) fn settled(mut self, state: EntryState, now: Moment, terms: &EntryTerms) -> Self {
        let purpose_until = now.at.saturating_add(terms.purpose_retention_ms);
        let until = now.at.saturating_add(terms.retention_ms).max(purpose_until);
        self.stays = Some(Stays { settled_at_ms: now.stamp.wall_ms, purpose_until, until });
        self.state = state;
        self
    }

    pub(super) fn unknown(mut self, reason: UnknownReason) -> Self {
        self.state = EntryState::Unknown(reason);
        self
    }

    /// Given up by rule: dead if no try can have taken effect, else unknown (O9).
    pub(super) fn given_up(
        mut self,
        dead: DeadReason,
        unknown: UnknownReason,
        now: Moment,
        terms: &EntryTerms,
    ) -> Self {
        if self.may_have_taken_effect() {
            self.in_doubt = true;
            self.unknown(unknown)
        } else {
            self.settled(EntryState::Dead(dead), now, terms)
        }
    }
}

/// The longest error that is kept of a try, in bytes.
const ERROR_BYTES_MAX: usize = 256;

/// An outcome is not refused because its words are many.
pub(crate) fn shortened(words: &str) -> String {
    words[..words.floor_char_boundary(ERROR_BYTES_MAX)].to_owned()
}

/// What time alone has made of an entry by `now` (O7, O9, O10); `None`: it is as it was written, or may be sent again.
pub(crate) fn ended(entry: &Entry, now: Moment, terms: &EntryTerms) -> Option<Entry> {
    match entry.state {
        EntryState::Pending | EntryState::Held { .. } => {}
        EntryState::Sending { .. } if !entry.is_leased(now) => {}
        EntryState::Sending { .. }
        | EntryState::Unknown(_)
        | EntryState::Answered { .. }
        | EntryState::Dead(_)
        | EntryState::Cancelled { .. } => return None,
    }
    let entry = entry.clone();
    if entry.may_have_taken_effect() && window_is_over(&entry, now, terms) {
        return Some(Entry { in_doubt: true, ..entry }.unknown(UnknownReason::WindowOver));
    }
    if !entry.may_have_taken_effect() && entry.send_by.is_some_and(|send_by| send_by <= now.at) {
        return Some(entry.settled(EntryState::Cancelled { in_time: false }, now, terms));
    }
    if terms.max_age_ms.is_some_and(|ms| entry.created_at.saturating_add(ms) <= now.at) {
        return Some(entry.given_up(DeadReason::TooOld, UnknownReason::TooOld, now, terms));
    }
    let held = matches!(entry.state, EntryState::Held { .. });
    let out_of_tries = !held && entry.tries >= terms.max_tries || entry.given_back >= GIVEN_BACK_MAX;
    out_of_tries.then(|| entry.given_up(DeadReason::OutOfTries, UnknownReason::OutOfTries, now, terms))
}

/// The window is judged as E4 judges its own: a wall clock that shows less than at the send, in another opening, tells nothing.
fn window_is_over(entry: &Entry, now: Moment, terms: &EntryTerms) -> bool {
    let set_back = entry
        .first_unknown
        .is_some_and(|sent| sent.stamp.opening != now.stamp.opening && now.stamp.wall_ms < sent.stamp.wall_ms);
    set_back || entry.window_end(terms).is_some_and(|end| end <= now.at)
}
