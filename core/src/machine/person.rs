//! What people and apps decide about entries: cancel, resume, resolve, requeue, dismiss (O3, O4, O7, O8, O10).

use super::entry::{Entry, EntryTerms};
use super::record::AuditEntry;
use super::standing::{DeadReason, EntryState};
use super::timeline::Moment;
use crate::response::Response;

/// What somebody who has found out says about an entry whose outcome is unknown (O7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryResolution {
    /// It was answered with a yes: it took effect.
    Yes(Response),
    /// It was answered with a final no.
    No(Response),
    /// It never took effect, and shall not.
    Dead,
    /// It never took effect: an entry with a new key takes its place. **Only for when no earlier send can still arrive.**
    Resend,
}

impl EntryResolution {
    /// The name that the audit trail and every language use.
    pub const fn as_str(&self) -> &'static str {
        match self {
            EntryResolution::Yes(_) => "answered_yes",
            EntryResolution::No(_) => "answered_no",
            EntryResolution::Dead => "dead",
            EntryResolution::Resend => "resend",
        }
    }
}

/// Who decides, why, and when as the wall clock shows it.
pub(crate) struct Decider<'a> {
    pub(crate) who: &'a str,
    pub(crate) note: &'a str,
}

/// O10: the entry taken back; `None`: too late, a send may have taken effect.
pub(crate) fn cancel(entry: &Entry, now: Moment, terms: &EntryTerms) -> Option<Entry> {
    let may_cancel = match entry.state {
        EntryState::Pending | EntryState::Held { .. } | EntryState::Dead(_) => !entry.in_doubt,
        EntryState::Cancelled { .. } => return Some(entry.clone()),
        EntryState::Sending { .. } | EntryState::Unknown(_) | EntryState::Answered { .. } => false,
    };
    may_cancel.then(|| entry.clone().settled(EntryState::Cancelled { in_time: true }, now, terms))
}

/// O8: a held entry may be sent again, now. `None`: it is not held.
pub(crate) fn resume(entry: &Entry, now: Moment) -> Option<Entry> {
    match entry.state {
        EntryState::Held { .. } => Some(Entry { state: EntryState::Pending, ready_at: now.at, ..entry.clone() }),
        EntryState::Pending
        | EntryState::Sending { .. }
        | EntryState::Unknown(_)
        | EntryState::Answered { .. }
        | EntryState::Dead(_)
        | EntryState::Cancelled { .. } => None,
    }
}

/// O3: a dead entry is sent again with its key, its tries counted anew. `None`: it is not dead, or another took its place.
pub(crate) fn requeue(entry: &Entry, now: Moment) -> Option<Entry> {
    match &entry.state {
        EntryState::Dead(reason) if *reason != DeadReason::Superseded => Some(entry.clone().begun_anew(now)),
        EntryState::Dead(_)
        | EntryState::Pending
        | EntryState::Sending { .. }
        | EntryState::Held { .. }
        | EntryState::Unknown(_)
        | EntryState::Answered { .. }
        | EntryState::Cancelled { .. } => None,
    }
}

/// O4: a person gives a dead or unknown entry up. `None`: it is neither, or has been decided.
pub(crate) fn dismiss(entry: &Entry, decider: &Decider<'_>, now: Moment, terms: &EntryTerms) -> Option<Entry> {
    match &entry.state {
        EntryState::Dead(DeadReason::OutOfTries | DeadReason::TooOld | DeadReason::Told(_))
        | EntryState::Unknown(_) => {
            let dead = EntryState::Dead(DeadReason::Dismissed);
            Some(decided(entry, "dismissed", decider, now).settled(dead, now, terms))
        }
        EntryState::Dead(DeadReason::Dismissed) => Some(entry.clone()),
        EntryState::Dead(DeadReason::Resolved | DeadReason::Superseded)
        | EntryState::Pending
        | EntryState::Sending { .. }
        | EntryState::Held { .. }
        | EntryState::Answered { .. }
        | EntryState::Cancelled { .. } => None,
    }
}

/// O7: somebody has found out what became of an unknown entry. `successor` is the id of the entry that takes its place, for
/// `Resend`. `None`: it is not unknown.
pub(crate) fn resolve(
    entry: &Entry,
    resolution: &EntryResolution,
    successor: Option<u64>,
    decider: &Decider<'_>,
    now: Moment,
    terms: &EntryTerms,
) -> Option<Entry> {
    if !matches!(entry.state, EntryState::Unknown(_)) {
        return None;
    }
    let entry = decided(entry, resolution.as_str(), decider, now);
    let state = match resolution {
        EntryResolution::Yes(response) => EntryState::Answered { response: response.clone(), is_yes: true },
        EntryResolution::No(response) => EntryState::Answered { response: response.clone(), is_yes: false },
        EntryResolution::Dead => EntryState::Dead(DeadReason::Resolved),
        EntryResolution::Resend => EntryState::Dead(DeadReason::Superseded),
    };
    Some(Entry { successor, ..entry.settled(state, now, terms) })
}

/// Whether an entry stands as this resolution has left it: the call is repeated.
pub(crate) fn is_resolved(entry: &Entry, resolution: &EntryResolution) -> bool {
    match (&entry.state, resolution) {
        // A late yes may have settled it since.
        (_, EntryResolution::Resend) => entry.successor.is_some(),
        (EntryState::Answered { response, is_yes: true }, EntryResolution::Yes(told))
        | (EntryState::Answered { response, is_yes: false }, EntryResolution::No(told)) => response == told,
        (EntryState::Dead(DeadReason::Resolved), EntryResolution::Dead) => true,
        _ => false,
    }
}

fn decided(entry: &Entry, outcome: &str, decider: &Decider<'_>, now: Moment) -> Entry {
    let mut entry = entry.clone();
    entry.audit.push(AuditEntry {
        at_ms: now.stamp.wall_ms,
        outcome: outcome.to_owned(),
        who: decider.who.to_owned(),
        note: decider.note.to_owned(),
    });
    entry
}
