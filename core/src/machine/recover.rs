//! Handing out records whose owner is lost to a worker that finds out what happened (contract section 4, recovery).

use super::record::{Lease, Record, Retention, Stamp, State, Witness};
use crate::operation::Effect;

/// Whether a recovery worker may have this record, which has been aged already.
pub(crate) fn may_recover(record: &Record, witness: &Witness, now: Stamp) -> bool {
    match &record.state {
        State::InProgress { .. } => is_lapsed(record, witness, now),
        State::Parked { reason, .. } => reason.is_recoverable(),
        State::Released(_) | State::Completed(..) | State::Failed(..) | State::Tombstone(_) => false,
    }
}

/// In progress, with a lease that is over.
pub(crate) fn is_lapsed(record: &Record, witness: &Witness, now: Stamp) -> bool {
    match &record.state {
        State::InProgress { lease, .. } => witness.left_ms(record.fence, *lease, now).is_none(),
        State::Released(_) | State::Completed(..) | State::Failed(..) | State::Parked { .. } | State::Tombstone(_) => {
            false
        }
    }
}

/// Whether `inspect`, `list` and `stats` count it as parked: parked, or a lapsed AtMostOnce record.
pub(crate) fn counts_as_parked(record: &Record, witness: &Witness, now: Stamp) -> bool {
    matches!(record.state, State::Parked { .. })
        || (record.effect == Effect::AtMostOnce && is_lapsed(record, witness, now))
}

/// The record under the worker's claim: next attempt, new fence, the operation's times as `recover` names them.
pub(crate) fn hand_out(record: &Record, retention: Retention, fence: u64, now: Stamp) -> Record {
    let lease = Lease { from: now, ms: retention.lease_ms };
    let mut claimed = record.clone().with_state(State::InProgress { granted: now, lease });
    claimed.retention = retention;
    claimed.attempt = record.attempt.saturating_add(1);
    claimed.fence = fence;
    claimed
}
