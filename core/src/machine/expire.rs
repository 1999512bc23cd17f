//! A record past its time counts as its next state, whether or not a sweep has come by (contract section 4, T1).

use super::record::{Kept, Record, Stamp, State, Witness};
use crate::operation::Effect;

/// What a record counts as at some instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Age {
    /// As it is stored.
    AsStored,
    /// As its next state, which is this record.
    Next(Box<Record>),
    /// As no record.
    NoRecord,
}

/// What the record counts as at `now`.
pub(crate) fn age(record: &Record, witness: &Witness, now: Stamp) -> Age {
    let wall = now.wall_ms;
    match &record.state {
        State::InProgress { lease, .. } if record.effect == Effect::InLedger => {
            let lease_end = witness.lease(record.fence, *lease).end_wall_ms();
            let over = witness.left_ms(record.fence, *lease, now).is_none();
            as_stored_unless(over && wall >= lease_end.saturating_add(record.retention.retention_ms))
        }
        State::Released(kept) if record.effect == Effect::InLedger => as_stored_unless(wall >= kept.retained_until),
        State::Released(kept) | State::Completed(_, kept) | State::Failed(_, kept) => {
            if wall < kept.retained_until {
                Age::AsStored
            } else if wall < kept.gone_at {
                Age::Next(Box::new(tombstone(record, *kept)))
            } else {
                Age::NoRecord
            }
        }
        State::Tombstone(kept) => as_stored_unless(wall >= kept.gone_at),
        State::InProgress { .. } | State::Parked { .. } => Age::AsStored,
    }
}

fn as_stored_unless(gone: bool) -> Age {
    if gone { Age::NoRecord } else { Age::AsStored }
}

/// When a sweep may next have something to do with this record. Wall-clock milliseconds; `None`: never (I6).
pub(crate) fn due_at(record: &Record) -> Option<u64> {
    match &record.state {
        State::InProgress { lease, .. } if record.effect == Effect::InLedger => {
            Some(lease.end_wall_ms().saturating_add(record.retention.retention_ms))
        }
        State::InProgress { .. } | State::Parked { .. } => None,
        State::Released(kept) | State::Completed(_, kept) | State::Failed(_, kept) => Some(kept.retained_until),
        State::Tombstone(kept) => Some(kept.gone_at),
    }
}

/// What is left after the retention: enough to refuse a late retry, nothing of what was asked or answered.
fn tombstone(record: &Record, kept: Kept) -> Record {
    Record {
        state: State::Tombstone(kept),
        effect: record.effect,
        fingerprint: record.fingerprint,
        attempt: record.attempt,
        fence: record.fence,
        first_granted: record.first_granted,
        retention: record.retention,
        memo: Vec::new(),
        steps: Vec::new(),
        audit: record.audit.clone(),
    }
}
