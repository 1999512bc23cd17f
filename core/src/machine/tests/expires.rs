//! A record past its time counts as its next state (section 4, T1).

use super::*;
use crate::machine::expire::{Age, age, due_at};
use crate::machine::record::Witness;

fn aged(record: &Record, ms: u64) -> Age {
    age(record, &Witness::default(), at(ms))
}

#[test]
fn settled_records_become_tombstones_and_those_no_record_to_the_millisecond() {
    for effect in [Effect::InLedger, Effect::Repeatable, Effect::AtMostOnce] {
        let record = completed(effect, 0);
        assert_eq!(aged(&record, 4999), Age::AsStored);
        let Age::Next(tombstone) = aged(&record, 5000) else { panic!("no tombstone") };
        assert!(matches!(tombstone.state, State::Tombstone(_)));
        assert_eq!(aged(&record, 12_000), Age::NoRecord);
        assert_eq!(aged(&tombstone, 11_999), Age::AsStored);
        assert_eq!(aged(&tombstone, 12_000), Age::NoRecord);
        assert_eq!((due_at(&record), due_at(&tombstone)), (Some(START + 5000), Some(START + 12_000)));
    }
}

#[test]
fn a_released_in_ledger_record_becomes_no_record_and_others_become_tombstones() {
    assert_eq!(aged(&released(Effect::InLedger, 0), 5000), Age::NoRecord);
    assert!(matches!(aged(&released(Effect::Repeatable, 0), 5000), Age::Next(_)));
}

#[test]
fn with_a_tombstone_time_of_zero_there_is_no_tombstone() {
    let mut record = completed(Effect::Repeatable, 0);
    record.retention.tombstone_ms = 0;
    let kept = record.retention.kept_from(at(0));
    assert_eq!(aged(&record.with_state(State::Released(kept)), 5000), Age::NoRecord);
}

#[test]
fn i6_only_an_in_ledger_claim_is_ever_forgotten_while_in_progress() {
    assert_eq!(aged(&granted(Effect::InLedger), 5999), Age::AsStored);
    assert_eq!(aged(&granted(Effect::InLedger), 6000), Age::NoRecord);
    for effect in [Effect::Repeatable, Effect::AtMostOnce] {
        assert_eq!(aged(&granted(effect), u64::MAX / 2), Age::AsStored);
        assert_eq!(due_at(&granted(effect)), None);
    }
    let parked = parked(ParkReason::OwnerLost, true);
    assert_eq!((aged(&parked, u64::MAX / 2), due_at(&parked)), (Age::AsStored, None));
}

#[test]
fn a_tombstone_keeps_nothing_of_what_was_asked_or_answered() {
    let mut record = completed(Effect::Repeatable, 0);
    record.memo = b"secret".to_vec();
    let Age::Next(tombstone) = aged(&record, 5000) else { panic!("no tombstone") };
    assert!(tombstone.memo.is_empty() && tombstone.steps.is_empty());
    assert_eq!(tombstone.fence, FENCE);
}
