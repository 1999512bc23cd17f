//! The first table of section 4, E1, E2, E4, F7.

use super::*;

#[test]
fn the_lease_is_over_at_its_last_millisecond_and_not_before() {
    let mut model = start();
    acquire(&mut model, Effect::Repeatable);
    model.advance(LEASE - 1);
    let waits = Decision::InProgress { running_for: LEASE - 1, retry_after: 1 };
    assert_eq!(model.begin(&ask(Effect::Repeatable, one())), waits, "L6");
    model.advance(1);
    assert_eq!(granted(model.begin(&ask(Effect::Repeatable, one()))).attempt, 2);
}

#[test]
fn a_lapsed_claim_goes_by_its_effect() {
    for (effect, parked) in [(Effect::InLedger, false), (Effect::Repeatable, false), (Effect::AtMostOnce, true)] {
        let mut model = start();
        acquire(&mut model, effect);
        model.advance(LEASE);
        let decision = model.begin(&ask(effect, one()));
        assert_eq!(matches!(decision, Decision::Parked { .. }), parked, "section 3: {effect:?}");
    }
}

#[test]
fn another_fingerprint_is_a_mismatch_until_the_tombstone() {
    let mut model = start();
    let fence = acquire(&mut model, Effect::Repeatable);
    let other = ask(Effect::Repeatable, Fingerprint::Value(2));
    assert_eq!(model.begin(&other), Decision::Mismatch);
    model.settle(&id(), fence, &complete("yes")).unwrap();
    assert_eq!(model.begin(&other), Decision::Mismatch);
    model.advance(RETENTION);
    assert_eq!(model.begin(&other), Decision::Gone);
    model.advance(TOMBSTONE);
    assert_eq!(granted(model.begin(&other)).attempt, 1);
}

#[test]
fn e1_a_grant_raises_the_effect_and_another_effect_parks_a_repeatable_record() {
    let mut model = start();
    acquire(&mut model, Effect::InLedger);
    model.advance(LEASE);
    assert_eq!(granted(model.begin(&ask(Effect::AtMostOnce, one()))).effect, Effect::AtMostOnce);

    let mut model = start();
    acquire(&mut model, Effect::Repeatable);
    model.advance(LEASE);
    assert_eq!(parked_for(&model.begin(&ask(Effect::InLedger, one()))), "effect changed");
}

#[test]
fn e4_the_window_and_the_attempts_bound_a_repeatable_record() {
    let mut model = start();
    acquire(&mut model, Effect::Repeatable);
    model.advance(15);
    let mut edge = model.clone();
    assert_eq!(granted(edge.begin(&ask(Effect::Repeatable, one()))).attempt, 2, "15 + 10 <= 25");
    model.advance(1);
    assert_eq!(parked_for(&model.begin(&ask(Effect::Repeatable, one()))), "window over");

    let mut model = start();
    let mut wide = ask(Effect::Repeatable, one());
    wide.operation.remembered_for = 1_000;
    for _ in 0..2 {
        granted(model.begin(&wide));
        model.advance(LEASE);
    }
    assert_eq!(parked_for(&model.begin(&wide)), "attempts");
}

#[test]
fn f7_unchecked_matches_but_takes_nothing_over() {
    let mut model = start();
    acquire(&mut model, Effect::Repeatable);
    let unchecked = ask(Effect::Repeatable, Fingerprint::Unchecked);
    assert!(matches!(model.begin(&unchecked), Decision::InProgress { .. }));
    model.advance(LEASE);
    assert_eq!(parked_for(&model.begin(&unchecked)), "cannot compare");

    let mut model = start();
    acquire(&mut model, Effect::InLedger);
    model.advance(LEASE);
    granted(model.begin(&ask(Effect::InLedger, Fingerprint::Unchecked)));
    assert_eq!(model.inspect(&id()).unwrap().fingerprint, Fingerprint::Unchecked);
}

#[test]
fn e2_a_grant_out_of_a_live_record_on_disk_is_on_disk() {
    let mut model = start();
    let fence = acquire(&mut model, Effect::InLedger);
    assert_eq!(model.volatile_count(), 1);
    model.settle(&id(), fence, &Settlement::Park("why".into())).unwrap();
    model.resolve(&id(), fence, &super::super::Resolution::NotDone).unwrap();
    acquire(&mut model, Effect::InLedger);
    assert_eq!((model.volatile_count(), model.counts().in_progress), (0, 1));
}

#[test]
fn the_second_of_two_equal_ids_meets_what_the_first_one_made() {
    let mut model = start();
    let twice = [ask(Effect::Repeatable, one()), ask(Effect::Repeatable, Fingerprint::Value(2))];
    let decisions = model.begin_many(&twice);
    assert!(matches!(decisions[0], Decision::Acquired(_)));
    assert_eq!(decisions[1], Decision::Mismatch);
}

#[test]
fn l7_the_wall_clock_does_not_end_a_lease_that_was_granted_here() {
    for jump in [1_000_000, -500] {
        let mut model = start();
        acquire(&mut model, Effect::Repeatable);
        model.jump_wall(jump);
        assert!(matches!(model.begin(&ask(Effect::Repeatable, one())), Decision::InProgress { .. }));
        model.kill_and_open();
        assert!(!matches!(model.begin(&ask(Effect::Repeatable, one())), Decision::InProgress { .. }));
    }
}
