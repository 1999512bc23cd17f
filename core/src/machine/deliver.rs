//! Settling a delivery: what an outcome makes of its entry (O5, O6, O8, O9).

use super::classify::{DeliveryOutcome, Kind};
use super::entry::{Entry, EntryTerms, ended, shortened};
use super::standing::{DeadReason, EntryState, UnknownReason};
use super::timeline::Moment;

/// What `settle` answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Delivered {
    /// The entry is this now.
    Becomes(Box<Entry>),
    /// It has this very answer already.
    Already,
    /// The delivery is no longer the entry's own.
    Lost,
}

/// Settles the delivery with `fence`. A yes, or a replay, counts from any delivery of the entry; everything else from its own
/// alone.
pub(crate) fn settle(
    entry: &Entry,
    fence: u64,
    outcome: &DeliveryOutcome,
    now: Moment,
    terms: &EntryTerms,
) -> Delivered {
    let is_own = matches!(entry.state, EntryState::Sending { .. }) && entry.fence == fence;
    let counts = is_own || counts_late(entry, fence, outcome);
    if !counts {
        return if is_told(entry, outcome) { Delivered::Already } else { Delivered::Lost };
    }
    let entry = entry.clone();
    let settled = match &outcome.kind {
        Kind::Answered { is_yes: false, is_replay: false, .. } if entry.in_doubt => {
            noted(entry, "a no", now).unknown(UnknownReason::Contradicted)
        }
        Kind::Answered { response, is_yes, .. } => {
            let state = EntryState::Answered { response: response.clone(), is_yes: *is_yes };
            entry.settled(state, now, terms)
        }
        Kind::Retry { error, may_have_taken_effect, gives_try_back } => {
            let wait_ms = entry.wait_ms();
            let entry = back(noted(entry, error, now), *may_have_taken_effect, *gives_try_back, outcome, now);
            waits(entry, wait_ms, outcome, now, terms)
        }
        Kind::Dead(reason) => {
            let reason = shortened(reason);
            let entry = noted(back(entry, false, false, outcome, now), &reason, now);
            entry.given_up(DeadReason::Told(reason.clone()), UnknownReason::Told(reason), now, terms)
        }
        Kind::Unknown(reason) => {
            let entry = noted(back(entry, true, false, outcome, now), reason, now);
            entry.unknown(UnknownReason::Told(shortened(reason)))
        }
        Kind::Hold { reason, whole_lane } => {
            let mut entry = noted(back(entry, false, true, outcome, now), reason, now);
            entry.state = EntryState::Held { reason: shortened(reason), with_lane: *whole_lane };
            ended(&entry, now, terms).unwrap_or(entry)
        }
    };
    Delivered::Becomes(Box::new(settled))
}

fn counts_late(entry: &Entry, fence: u64, outcome: &DeliveryOutcome) -> bool {
    let Kind::Answered { is_yes, is_replay, .. } = &outcome.kind else { return false };
    let is_open = entry.is_unsettled() || matches!(entry.state, EntryState::Dead(_));
    (*is_yes || *is_replay) && is_open && (1..=entry.fence).contains(&fence)
}

/// Whether the entry has this answer already: the call is repeated after an error.
fn is_told(entry: &Entry, outcome: &DeliveryOutcome) -> bool {
    match (&entry.state, &outcome.kind) {
        (EntryState::Answered { response, is_yes }, Kind::Answered { response: told, is_yes: yes, .. }) => {
            (response, is_yes) == (told, yes)
        }
        _ => false,
    }
}

fn noted(mut entry: Entry, error: &str, now: Moment) -> Entry {
    entry.note_error(now.stamp.wall_ms, error);
    entry
}

/// The try is over, and the entry is its own again.
fn back(
    mut entry: Entry,
    may_have_taken_effect: bool,
    gives_try_back: bool,
    outcome: &DeliveryOutcome,
    now: Moment,
) -> Entry {
    entry.state = EntryState::Pending;
    entry.in_doubt |= may_have_taken_effect;
    if gives_try_back {
        entry.tries = entry.tries.saturating_sub(1);
        entry.given_back = entry.given_back.saturating_add(1);
    }
    if entry.in_doubt {
        let told = outcome.key_expires_after_ms.map(|ms| now.at.saturating_add(ms));
        entry.key_known_until = told.or(entry.key_known_until);
    } else {
        (entry.first_unknown, entry.key_known_until) = (None, None);
    }
    entry
}

/// When it is sent again, if it may be.
fn waits(mut entry: Entry, wait_ms: u64, outcome: &DeliveryOutcome, now: Moment, terms: &EntryTerms) -> Entry {
    let floor_ms = outcome.retry_after_ms.unwrap_or(0).min(terms.retry_after_max_ms);
    entry.ready_at = now.at.saturating_add(wait_ms.max(floor_ms));
    ended(&entry, now, terms).unwrap_or(entry)
}
