//! Handing an entry out to be sent (O4, O6, O7, O10).

use super::entry::{Entry, EntryTerms, Sent};
use super::standing::EntryState;
use super::timeline::Moment;

/// The entry as it is while its delivery is out. It must have been asked before whether its time is over.
///
/// No lease reaches past the window, nor past `send_by` while no try may have taken effect. `roll` is a random number.
pub(crate) fn lease(entry: Entry, fence: u64, roll: u64, now: Moment, terms: &EntryTerms) -> Entry {
    let in_doubt = entry.may_have_taken_effect();
    let mut leased = Entry { in_doubt, fence, tries: entry.tries.saturating_add(1), ..entry };
    if !in_doubt {
        leased.first_unknown = Some(Sent { at: now.at, stamp: now.stamp });
        leased.key_known_until = None;
    }
    let send_by = leased.send_by.filter(|_| !in_doubt);
    let bounds = [leased.window_end(terms), send_by];
    let lease_end = bounds.into_iter().flatten().fold(now.at.saturating_add(terms.lease_ms), u64::min);
    // A try that is given back counts for the wait all the same, or a server that says "later" is asked without pause.
    let wait_ms = terms.backoff.wait_ms(leased.tries.saturating_add(leased.given_back), roll);
    leased.ready_at = lease_end.saturating_add(wait_ms);
    leased.state = EntryState::Sending { lease_end };
    leased
}

/// The network is back: an entry that waits although nobody has answered is due within the wait after a first try. None: it does not
/// wait, or no longer than that.
pub(crate) fn brought_forward(entry: &Entry, roll: u64, now: Moment, terms: &EntryTerms) -> Option<Entry> {
    let ready_at = now.at.saturating_add(terms.backoff.wait_ms(1, roll));
    let is_earlier = matches!(entry.state, EntryState::Pending) && ready_at < entry.ready_at;
    is_earlier.then(|| Entry { ready_at, ..entry.clone() })
}

/// The delivery was dropped without an outcome: its lease ended `at` that instant, and the backoff of its try runs from it.
pub(crate) fn dropped(entry: Entry, fence: u64, at: u64) -> Option<Entry> {
    let EntryState::Sending { lease_end } = entry.state else { return None };
    if entry.fence != fence {
        return None;
    }
    let ready_at = at.min(lease_end).saturating_add(entry.wait_ms());
    Some(Entry { in_doubt: true, ready_at, state: EntryState::Pending, ..entry })
}
