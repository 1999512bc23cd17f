//! Times of a settled record, P6, P7.

use super::*;

#[test]
fn a_settled_record_ages_to_the_millisecond() {
    let mut model = start();
    let fence = acquire(&mut model, Effect::Repeatable);
    model.settle(&id(), fence, &fail("no")).unwrap();
    model.advance(RETENTION - 1);
    assert_eq!(state(&model), Some("failed"));
    model.advance(1);
    assert_eq!(state(&model), Some("tombstone"));
    assert!(model.settle(&id(), fence, &fail("no")).is_err(), "its next state counts for settling too");
    model.advance(TOMBSTONE - 1);
    assert_eq!(state(&model), Some("tombstone"));
    model.advance(1);
    assert_eq!(state(&model), None);
}

#[test]
fn a_released_in_ledger_record_leaves_no_tombstone() {
    let mut model = start();
    let fence = acquire(&mut model, Effect::InLedger);
    model.settle(&id(), fence, &Settlement::Park("why".into())).unwrap();
    model.resolve(&id(), fence, &super::super::Resolution::NotDone).unwrap();
    model.advance(RETENTION);
    assert_eq!(state(&model), None);
}

#[test]
fn an_in_ledger_record_is_no_record_when_its_lease_has_been_over_for_its_retention() {
    let mut model = start();
    acquire(&mut model, Effect::InLedger);
    model.advance(LEASE + RETENTION - 1);
    assert_eq!(state(&model), Some("in_progress"));
    model.advance(1);
    assert_eq!(state(&model), None);
}

#[test]
fn p6_volatile_claims_end_with_suspend_and_durable_ones_run_on() {
    for (effect, stays) in [(Effect::InLedger, false), (Effect::Repeatable, true)] {
        let mut model = start();
        let fence = acquire(&mut model, effect);
        model.suspend_and_resume();
        assert_eq!(model.settle(&id(), fence, &complete("yes")).is_ok(), stays, "{effect:?}");
        model.close_and_open();
        assert_eq!(state(&model).is_some(), stays);
    }
}
