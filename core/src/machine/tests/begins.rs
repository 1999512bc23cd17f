//! The first table of section 4, row by row.

use super::*;
use crate::machine::begin::{Verdict, begin, park, remaining_ms};
use crate::machine::record::Witness;

const EFFECTS: [Effect; 3] = [Effect::InLedger, Effect::Repeatable, Effect::AtMostOnce];

fn decide(record: Option<&Record>, ask: &Ask, ms: u64) -> Verdict {
    begin(record, &Witness::default(), ask, at(ms))
}

#[test]
fn no_record_is_granted_as_attempt_one() {
    for effect in EFFECTS {
        assert_eq!(decide(None, &ask(effect), 0), Verdict::Grant);
        let record = granted(effect);
        assert_eq!((record.attempt, record.effect, record.fence), (1, effect, FENCE));
    }
}

#[test]
fn another_request_is_a_mismatch_in_every_state_but_the_tombstone() {
    for effect in EFFECTS {
        let asked = other_request(effect);
        for record in [granted(effect), released(effect, 0), completed(effect, 0)] {
            assert_eq!(decide(Some(&record), &asked, 0), Verdict::Mismatch);
            assert_eq!(decide(Some(&record), &asked, 1500), Verdict::Mismatch, "a lapsed lease changes nothing");
        }
    }
    let asked = other_request(Effect::AtMostOnce);
    assert_eq!(decide(Some(&parked(ParkReason::OwnerLost, true)), &asked, 0), Verdict::Mismatch);
    let tombstone =
        in_state(Effect::AtMostOnce, State::Tombstone(granted(Effect::AtMostOnce).retention.kept_from(at(0))));
    assert_eq!(decide(Some(&tombstone), &asked, 0), Verdict::Gone);
}

#[test]
fn a_lease_that_is_not_over_is_in_progress_to_its_last_millisecond() {
    for effect in EFFECTS {
        let record = granted(effect);
        assert_eq!(decide(Some(&record), &ask(effect), 999), Verdict::InProgress { running_ms: 999, left_ms: 1 });
        assert_ne!(decide(Some(&record), &ask(effect), 1000), Verdict::InProgress { running_ms: 1000, left_ms: 0 });
    }
}

#[test]
fn a_lapsed_record_runs_again_or_is_parked_by_its_effect() {
    let lapsed = |effect| decide(Some(&granted(effect)), &ask(effect), 1000);
    assert_eq!(lapsed(Effect::InLedger), Verdict::Grant);
    assert_eq!(lapsed(Effect::Repeatable), Verdict::Grant);
    assert_eq!(lapsed(Effect::AtMostOnce), Verdict::Park(ParkReason::OwnerLost));
}

#[test]
fn a_released_record_runs_again_whatever_its_effect() {
    for effect in EFFECTS {
        assert_eq!(decide(Some(&released(effect, 0)), &ask(effect), 1), Verdict::Grant);
    }
}

#[test]
fn e1_a_repeatable_record_that_meets_another_effect_is_parked() {
    for effect in [Effect::InLedger, Effect::AtMostOnce] {
        let parked = Verdict::Park(ParkReason::EffectChanged);
        assert_eq!(decide(Some(&granted(Effect::Repeatable)), &ask(effect), 1000), parked);
        assert_eq!(decide(Some(&released(Effect::Repeatable, 0)), &ask(effect), 1), parked);
    }
}

#[test]
fn e1_a_grant_raises_the_effect_and_nothing_lowers_it() {
    let raised = grant(Some(&granted(Effect::InLedger)), &ask(Effect::AtMostOnce), FENCE + 1, at(1000));
    assert_eq!((raised.effect, raised.attempt, raised.fence), (Effect::AtMostOnce, 2, FENCE + 1));
    let released = released(Effect::AtMostOnce, 0);
    assert_eq!(grant(Some(&released), &ask(Effect::InLedger), FENCE + 1, at(1)).effect, Effect::AtMostOnce);
}

#[test]
fn e4_the_window_is_over_when_a_lease_would_reach_past_it() {
    let record = released(Effect::Repeatable, 0);
    assert_eq!(decide(Some(&record), &ask(Effect::Repeatable), 9000), Verdict::Grant);
    assert_eq!(decide(Some(&record), &ask(Effect::Repeatable), 9001), Verdict::Park(ParkReason::WindowOver));
}

#[test]
fn e4_the_window_of_another_opening_goes_by_the_wall_clock_and_is_over_before_its_first_grant() {
    let mut record = released(Effect::Repeatable, 0);
    record.first_granted.opening = HERE - 1;
    record.first_granted.mono_ms = 999_999;
    assert_eq!(decide(Some(&record), &ask(Effect::Repeatable), 9000), Verdict::Grant);
    assert_eq!(decide(Some(&record), &ask(Effect::Repeatable), 9001), Verdict::Park(ParkReason::WindowOver));
    let before = Stamp { wall_ms: START - 1, ..at(0) };
    let verdict = begin(Some(&record), &Witness::default(), &ask(Effect::Repeatable), before);
    assert_eq!(verdict, Verdict::Park(ParkReason::WindowOver));
}

#[test]
fn e4_the_last_attempt_is_the_last() {
    let mut record = granted(Effect::Repeatable);
    record.attempt = 2;
    assert_eq!(decide(Some(&record), &ask(Effect::Repeatable), 1000), Verdict::Grant);
    record.attempt = 3;
    assert_eq!(decide(Some(&record), &ask(Effect::Repeatable), 1000), Verdict::Park(ParkReason::Attempts));
}

#[test]
fn e4_remaining_counts_from_the_first_grant() {
    let first = granted(Effect::Repeatable).first_granted;
    assert_eq!(remaining_ms(first, 10_000, at(9_999)), 1);
    assert_eq!(remaining_ms(first, 10_000, at(10_000)), 0);
}

#[test]
fn f7_unchecked_takes_over_in_ledger_records_alone() {
    let cannot = Verdict::Park(ParkReason::CannotCompare);
    assert_eq!(decide(Some(&granted(Effect::Repeatable)), &unchecked(Effect::Repeatable), 1000), cannot);
    assert_eq!(decide(Some(&released(Effect::AtMostOnce, 0)), &unchecked(Effect::AtMostOnce), 1), cannot);
    let asked = unchecked(Effect::InLedger);
    assert_eq!(decide(Some(&granted(Effect::InLedger)), &asked, 1000), Verdict::Grant);
    let taken = grant(Some(&granted(Effect::InLedger)), &asked, FENCE + 1, at(1000));
    assert_eq!(taken.fingerprint, Fingerprint::Unchecked, "nothing happened under the old one");
}

#[test]
fn f7_unchecked_against_a_value_matches_where_nothing_is_taken_over() {
    let asked = unchecked(Effect::Repeatable);
    assert_eq!(decide(Some(&completed(Effect::Repeatable, 0)), &asked, 1), Verdict::Replay);
    assert!(matches!(decide(Some(&granted(Effect::Repeatable)), &asked, 1), Verdict::InProgress { .. }));
}

#[test]
fn a_take_over_keeps_the_first_fingerprint_the_steps_and_the_memo_unless_a_new_one_is_given() {
    let mut record = granted(Effect::Repeatable);
    record.memo = b"first".to_vec();
    let again = grant(Some(&record), &ask(Effect::Repeatable), FENCE + 1, at(1000));
    assert_eq!((again.memo.as_slice(), again.first_granted), (&b"first"[..], record.first_granted));
    let with_memo = Ask { memo: b"second".to_vec(), ..ask(Effect::Repeatable) };
    assert_eq!(grant(Some(&record), &with_memo, FENCE + 1, at(1000)).memo, b"second");
}

#[test]
fn settled_and_parked_records_tell_what_they_are() {
    assert_eq!(decide(Some(&completed(Effect::InLedger, 0)), &ask(Effect::InLedger), 1), Verdict::Replay);
    assert_eq!(decide(Some(&parked(ParkReason::Attempts, true)), &ask(Effect::AtMostOnce), 1), Verdict::Parked);
}

#[test]
fn s1_parked_by_a_begin_means_that_a_lease_was_found_over() {
    let by_begin = |record: &Record| matches!(record.state, State::Parked { by_begin: true, .. });
    assert!(by_begin(&park(&granted(Effect::AtMostOnce), ParkReason::OwnerLost, at(1000))));
    assert!(!by_begin(&park(&released(Effect::Repeatable, 0), ParkReason::WindowOver, at(1000))));
}
