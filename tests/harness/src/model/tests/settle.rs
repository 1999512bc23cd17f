//! The second table of section 4, S1, S2, and resolution.

use super::super::{Code, Resolution};
use super::*;

#[test]
fn settling_again_with_the_same_content_is_ok_and_with_another_is_lost() {
    let calls = [complete("a"), fail("a"), Settlement::Release, Settlement::Park("a".into())];
    for first in &calls {
        for again in &calls {
            let mut model = start();
            let fence = acquire(&mut model, Effect::Repeatable);
            model.settle(&id(), fence, first).unwrap();
            let before = model.clone();
            let expected = if first == again { Ok(()) } else { Err(Code::ClaimLost) };
            assert_eq!(model.settle(&id(), fence, again), expected, "{first:?} then {again:?}");
            assert_eq!(model, before, "nothing written");
        }
        let mut model = start();
        let fence = acquire(&mut model, Effect::Repeatable);
        assert_eq!(model.settle(&id(), fence + 1, first), Err(Code::ClaimLost));
    }
}

#[test]
fn a_volatile_release_is_forgotten() {
    let mut model = start();
    let fence = acquire(&mut model, Effect::InLedger);
    model.settle(&id(), fence, &Settlement::Release).unwrap();
    assert_eq!(state(&model), None);
    assert_eq!(model.settle(&id(), fence, &Settlement::Release), Err(Code::ClaimLost));
}

#[test]
fn s1_a_late_outcome_counts_until_somebody_takes_over_or_resolves() {
    let mut model = start();
    let fence = acquire(&mut model, Effect::AtMostOnce);
    model.advance(LEASE);
    assert_eq!(parked_for(&model.begin(&ask(Effect::AtMostOnce, one()))), "owner lost");
    let mut resolved = model.clone();
    assert_eq!(model.settle(&id(), fence, &Settlement::Release), Err(Code::ClaimLost));
    model.settle(&id(), fence, &complete("late")).unwrap();
    assert_eq!(state(&model), Some("completed"));

    resolved.resolve(&id(), fence, &Resolution::NotDone).unwrap();
    assert_eq!(resolved.settle(&id(), fence, &complete("late")), Err(Code::ClaimLost));
}

#[test]
fn s1_a_late_outcome_over_a_park_by_hand_is_lost() {
    let mut model = start();
    let fence = acquire(&mut model, Effect::Repeatable);
    model.settle(&id(), fence, &Settlement::Park("ask the bank".into())).unwrap();
    assert_eq!(model.settle(&id(), fence, &complete("late")), Err(Code::ClaimLost));
}

#[test]
fn s2_a_dropped_claim_ends_its_lease_at_once_in_memory() {
    let mut model = start();
    let fence = acquire(&mut model, Effect::AtMostOnce);
    let before = model.disk.clone();
    model.drop_claim(&id(), fence);
    assert_eq!(model.disk, before, "without I/O");
    assert_eq!(parked_for(&model.begin(&ask(Effect::AtMostOnce, one()))), "owner lost");
}

#[test]
fn a_heartbeat_renews_from_now_and_is_stored_by_close_but_not_by_a_kill() {
    for (kill, waits) in [(false, true), (true, false)] {
        let mut model = start();
        let fence = acquire(&mut model, Effect::Repeatable);
        model.advance(LEASE - 1);
        model.heartbeat(&id(), fence, LEASE).unwrap();
        model.advance(LEASE - 1);
        if kill {
            model.kill_and_open();
        } else {
            model.close_and_open();
        }
        let decision = model.begin(&ask(Effect::Repeatable, one()));
        assert_eq!(matches!(decision, Decision::InProgress { retry_after: 1, .. }), waits, "P7: {decision:?}");
    }
}

#[test]
fn a_step_is_kept_for_later_attempts_and_refused_for_in_ledger() {
    let mut model = start();
    let fence = acquire(&mut model, Effect::Repeatable);
    model.record_step(&id(), fence, "hold", b"1").unwrap();
    assert_eq!(model.record_step(&id(), fence, "hold", b"1"), Ok(()));
    model.advance(LEASE);
    let again = granted(model.begin(&ask(Effect::Repeatable, one())));
    assert_eq!(again.steps, [("hold".to_string(), b"1".to_vec())]);
    assert_eq!(model.record_step(&id(), fence, "late", b"1"), Err(Code::ClaimLost));

    let mut model = start();
    let fence = acquire(&mut model, Effect::InLedger);
    assert_eq!(model.record_step(&id(), fence, "hold", b"1"), Err(Code::InvalidArgument), "E2");
}

#[test]
fn resolve_wants_the_fence_that_inspect_showed() {
    let mut model = start();
    let fence = acquire(&mut model, Effect::Repeatable);
    let yes = Resolution::Completed(response("found it"));
    assert_eq!(model.resolve(&id(), fence, &yes), Err(Code::NotParked));
    model.settle(&id(), fence, &Settlement::Park("ask".into())).unwrap();
    assert_eq!(model.resolve(&id(), fence + 1, &yes), Err(Code::NotParked));
    model.resolve(&id(), fence, &yes).unwrap();
    assert_eq!(model.resolve(&id(), fence, &yes), Ok(()), "the same again");
    assert_eq!(model.resolve(&id(), fence, &Resolution::NotDone), Err(Code::NotParked));
}
