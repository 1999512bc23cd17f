//! What `begin` answers: the first table of contract section 4, its rows tried in order.

use super::record::{Lease, ParkReason, Record, Stamp, State, Witness};
use crate::fingerprint::{Comparison, Fingerprint};
use crate::operation::{Effect, Terms};

/// What a caller of `begin` asks for.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) effect: Effect,
    pub(crate) terms: Terms,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) memo: Vec<u8>,
}

/// The row of the table that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Grant a claim; [`grant`] makes the record.
    Grant,
    /// Park the record for this reason; [`park`] makes it.
    Park(ParkReason),
    InProgress {
        running_ms: u64,
        left_ms: u64,
    },
    Mismatch,
    Replay,
    Parked,
    Gone,
}

/// Decides on `record`, which has been aged already: a record past its time counts as its next state.
pub(crate) fn begin(record: Option<&Record>, witness: &Witness, ask: &Ask, now: Stamp) -> Verdict {
    let Some(record) = record else { return Verdict::Grant };
    if matches!(record.state, State::Tombstone(_)) {
        return Verdict::Gone;
    }
    let comparison = record.fingerprint.compare(&ask.fingerprint);
    if comparison == Comparison::Different {
        return Verdict::Mismatch;
    }
    match &record.state {
        State::InProgress { granted, lease } => match witness.left_ms(record.fence, *lease, now) {
            Some(left_ms) => Verdict::InProgress { running_ms: now.since_ms(*granted), left_ms },
            None => take_over(record, comparison, ask, now),
        },
        State::Released(_) => take_over(record, comparison, ask, now),
        State::Completed(..) | State::Failed(..) => Verdict::Replay,
        State::Parked { .. } => Verdict::Parked,
        State::Tombstone(_) => Verdict::Gone,
    }
}

/// A lapsed or released record: it runs again, or is parked.
fn take_over(record: &Record, comparison: Comparison, ask: &Ask, now: Stamp) -> Verdict {
    match why_not_again(record, comparison, ask, now) {
        Some(reason) => Verdict::Park(reason),
        None => Verdict::Grant,
    }
}

/// Section 3, E1, E4 and F7: why a lapsed or released record may not run again.
fn why_not_again(record: &Record, comparison: Comparison, ask: &Ask, now: Stamp) -> Option<ParkReason> {
    let lapsed = matches!(record.state, State::InProgress { .. });
    if lapsed && record.effect == Effect::AtMostOnce {
        return Some(ParkReason::OwnerLost);
    }
    if record.effect != Effect::InLedger && comparison == Comparison::Unknown {
        return Some(ParkReason::CannotCompare);
    }
    if record.effect != Effect::Repeatable {
        return None;
    }
    if ask.effect != Effect::Repeatable {
        return Some(ParkReason::EffectChanged);
    }
    if window_is_over(record.first_granted, ask.terms, now) {
        return Some(ParkReason::WindowOver);
    }
    (record.attempt >= ask.terms.max_attempts).then_some(ParkReason::Attempts)
}

/// E4: whether a claim granted now could outlive what the downstream remembers.
fn window_is_over(first: Stamp, terms: Terms, now: Stamp) -> bool {
    if first.opening == now.opening {
        now.mono_ms.saturating_add(terms.lease_ms) > first.mono_ms.saturating_add(terms.remembered_for_ms)
    } else {
        now.wall_ms < first.wall_ms
            || now.wall_ms.saturating_add(terms.lease_ms) > first.wall_ms.saturating_add(terms.remembered_for_ms)
    }
}

/// E4: how long a handler may still call out: first granted at + `remembered_for` - now.
pub(crate) fn remaining_ms(first: Stamp, remembered_for_ms: u64, now: Stamp) -> u64 {
    if first.opening != now.opening && now.wall_ms < first.wall_ms {
        return 0;
    }
    remembered_for_ms.saturating_sub(now.since_ms(first))
}

/// The record of a claim granted now, over `old` if there was one (E1, F7).
pub(crate) fn grant(old: Option<&Record>, ask: &Ask, fence: u64, now: Stamp) -> Record {
    let state = State::InProgress { granted: now, lease: Lease { from: now, ms: ask.terms.lease_ms } };
    let Some(old) = old else {
        return Record {
            state,
            effect: ask.effect,
            fingerprint: ask.fingerprint,
            attempt: 1,
            fence,
            first_granted: now,
            retention: ask.terms.into(),
            memo: ask.memo.clone(),
            steps: Vec::new(),
            audit: Vec::new(),
        };
    };
    let nothing_happened =
        old.effect == Effect::InLedger && old.fingerprint.compare(&ask.fingerprint) == Comparison::Unknown;
    Record {
        state,
        effect: old.effect.max(ask.effect),
        fingerprint: if nothing_happened { ask.fingerprint } else { old.fingerprint },
        attempt: old.attempt.saturating_add(1),
        fence,
        first_granted: old.first_granted,
        retention: ask.terms.into(),
        memo: if ask.memo.is_empty() { old.memo.clone() } else { ask.memo.clone() },
        steps: old.steps.clone(),
        audit: old.audit.clone(),
    }
}

/// The record parked by a begin. S1: where it found a lease over, the old owner may still settle it.
pub(crate) fn park(old: &Record, reason: ParkReason, now: Stamp) -> Record {
    let by_begin = matches!(old.state, State::InProgress { .. });
    old.clone().with_state(State::Parked { reason, since: now.wall_ms, by_begin })
}
