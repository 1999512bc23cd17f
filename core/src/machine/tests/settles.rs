//! The second table of section 4, and `resolve`.

use super::*;
use crate::machine::record::{AuditEntry, Step};
use crate::machine::settle::{
    Beat, Resolution, Settled, Settlement, StepVerdict, heartbeat, park_again, record_step, resolve, settle,
};

fn complete() -> Settlement {
    Settlement::Complete(Response::text("done"))
}

fn all() -> [Settlement; 4] {
    [complete(), Settlement::Fail(Response::text("no")), Settlement::Release, Settlement::Park("who knows".into())]
}

fn stored(settled: Settled) -> Record {
    match settled {
        Settled::Store(record) => *record,
        Settled::Already | Settled::Lost => panic!("{settled:?}"),
    }
}

#[test]
fn a_claim_is_settled_in_every_way_by_its_own_fence() {
    for settlement in all() {
        let record = stored(settle(Some(&granted(Effect::Repeatable)), FENCE, &settlement, at(10)));
        assert!(!matches!(record.state, State::InProgress { .. }), "{settlement:?}");
        assert_eq!(record.fence, FENCE);
    }
}

#[test]
fn the_same_call_and_content_again_is_ok_and_anything_else_is_lost() {
    for first in all() {
        let record = stored(settle(Some(&granted(Effect::Repeatable)), FENCE, &first, at(10)));
        for second in all() {
            let again = settle(Some(&record), FENCE, &second, at(20));
            assert_eq!(again, if first == second { Settled::Already } else { Settled::Lost }, "{first:?}, {second:?}");
        }
    }
    let other = Settlement::Complete(Response::text("otherwise"));
    assert_eq!(settle(Some(&completed(Effect::Repeatable, 0)), FENCE, &other, at(1)), Settled::Lost);
}

#[test]
fn another_fence_and_no_record_are_lost() {
    for settlement in all() {
        assert_eq!(settle(Some(&granted(Effect::Repeatable)), FENCE + 1, &settlement, at(1)), Settled::Lost);
        assert_eq!(settle(None, FENCE, &settlement, at(1)), Settled::Lost);
    }
}

#[test]
fn s1_a_late_outcome_whose_lease_is_over_but_not_taken_succeeds() {
    let record = granted(Effect::AtMostOnce);
    assert!(matches!(settle(Some(&record), FENCE, &complete(), at(999_999)), Settled::Store(_)));
}

#[test]
fn s1_parked_by_a_begin_is_no_take_over_for_an_outcome() {
    for reason in [ParkReason::OwnerLost, ParkReason::WindowOver, ParkReason::Attempts, ParkReason::EffectChanged] {
        let record = parked(reason, true);
        assert!(matches!(settle(Some(&record), FENCE, &complete(), at(1)), Settled::Store(_)));
        assert_eq!(settle(Some(&record), FENCE, &Settlement::Release, at(1)), Settled::Lost);
    }
    assert_eq!(settle(Some(&parked(ParkReason::OwnerLost, false)), FENCE, &complete(), at(1)), Settled::Lost);
}

#[test]
fn t1_retention_counts_from_settling_and_tombstone_time_from_its_end() {
    let record = stored(settle(Some(&granted(Effect::Repeatable)), FENCE, &complete(), at(10)));
    let State::Completed(_, kept) = record.state else { panic!("{:?}", record.state) };
    assert_eq!((kept.settled_at, kept.retained_until, kept.gone_at), (START + 10, START + 5010, START + 12_010));
}

#[test]
fn a_heartbeat_renews_the_lease_of_its_own_claim_alone() {
    let record = granted(Effect::Repeatable);
    assert!(matches!(heartbeat(Some(&record), FENCE, 50, at(10)), Beat::Renewed(lease) if lease.ms == 50));
    assert_eq!(heartbeat(Some(&record), FENCE + 1, 50, at(10)), Beat::Lost);
    assert_eq!(heartbeat(Some(&completed(Effect::Repeatable, 0)), FENCE, 50, at(10)), Beat::Lost);
    assert_eq!(heartbeat(None, FENCE, 50, at(10)), Beat::Lost);
}

#[test]
fn steps_have_unique_names_and_are_refused_for_in_ledger() {
    let step = |value: &str| Step { name: "a".into(), value: value.into() };
    let StepVerdict::Store(record) = record_step(Some(&granted(Effect::Repeatable)), FENCE, &step("1"), 100) else {
        panic!()
    };
    assert_eq!(record_step(Some(&record), FENCE, &step("1"), 100), StepVerdict::Already);
    assert_eq!(record_step(Some(&record), FENCE, &step("2"), 100), StepVerdict::OtherValue);
    assert_eq!(record_step(Some(&record), FENCE + 1, &step("1"), 100), StepVerdict::Lost);
    assert_eq!(record_step(Some(&granted(Effect::InLedger)), FENCE, &step("1"), 100), StepVerdict::Refused);
    let settled = stored(settle(Some(&record), FENCE, &complete(), at(10)));
    assert_eq!(record_step(Some(&settled), FENCE, &step("1"), 100), StepVerdict::Already);
    assert_eq!(record_step(Some(&settled), FENCE, &step("2"), 100), StepVerdict::Lost);
    let given_up = record.with_state(State::Parked { reason: ParkReason::OwnerLost, since: START, by_begin: true });
    assert_eq!(record_step(Some(&given_up), FENCE, &step("1"), 100), StepVerdict::Lost);
}

fn decided() -> AuditEntry {
    AuditEntry { at_ms: START, outcome: "not_done".into(), who: "ada".into(), note: "called the bank".into() }
}

fn decide(record: &Record, lapsed: bool, fence: u64, resolution: &Resolution) -> Settled {
    resolve(Some(record), lapsed, fence, resolution, decided(), at(1))
}

#[test]
fn a_person_resolves_what_is_parked_by_the_fence_that_was_seen() {
    let record = parked(ParkReason::OwnerLost, true);
    let resolved = stored(decide(&record, false, FENCE, &Resolution::NotDone));
    assert!(matches!(resolved.state, State::Released(_)));
    assert_eq!(resolved.audit, vec![decided()]);
    assert_eq!(decide(&record, false, FENCE + 1, &Resolution::NotDone), Settled::Lost);
    assert_eq!(decide(&resolved, false, FENCE, &Resolution::NotDone), Settled::Already);
    assert_eq!(decide(&resolved, false, FENCE, &Resolution::Completed(Response::empty())), Settled::Lost);
}

#[test]
fn a_lapsed_at_most_once_record_counts_as_parked_for_a_person() {
    let record = granted(Effect::AtMostOnce);
    assert_eq!(decide(&record, false, FENCE, &Resolution::NotDone), Settled::Lost);
    assert!(matches!(decide(&record, true, FENCE, &Resolution::NotDone), Settled::Store(_)));
    assert_eq!(decide(&granted(Effect::Repeatable), true, FENCE, &Resolution::NotDone), Settled::Lost);
}

#[test]
fn a_worker_that_raises_parks_the_record_as_it_was() {
    let record = stored(park_again(Some(&granted(Effect::AtMostOnce)), FENCE, at(5)));
    let State::Parked { reason, by_begin, .. } = record.state else { panic!() };
    assert_eq!((reason, by_begin), (ParkReason::OwnerLost, false));
    assert_eq!(park_again(Some(&granted(Effect::AtMostOnce)), FENCE + 1, at(5)), Settled::Lost);
}
