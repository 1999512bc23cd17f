//! Recovery, forget, sweep, counters, rows.

use super::super::{Code, Forgotten, RowCall, Swept};
use super::*;

#[test]
fn recovery_hands_out_lapsed_and_unseen_parked_records_once_per_lease() {
    let mut model = start();
    acquire(&mut model, Effect::AtMostOnce);
    assert!(model.recoverable("pay").is_empty());
    model.advance(LEASE);
    model.begin(&ask(Effect::AtMostOnce, one()));
    assert_eq!(model.recoverable("pay"), [id()]);
    let claim = model.recover_one(&operation(Effect::AtMostOnce), &id()).unwrap();
    assert_eq!((claim.attempt, claim.memo.as_slice()), (2, b"memo".as_slice()));
    assert!(model.recoverable("pay").is_empty());
    model.drop_claim(&id(), claim.fence);
    assert_eq!(model.recoverable("pay"), [id()]);
    model.settle(&id(), claim.fence, &Settlement::Park("a person must look".into())).unwrap();
    assert!(model.recoverable("pay").is_empty());
}

#[test]
fn volatile_records_are_not_recovered() {
    let mut model = start();
    acquire(&mut model, Effect::InLedger);
    model.advance(LEASE);
    assert!(model.recoverable("pay").is_empty());
}

#[test]
fn forget_keeps_what_may_run_again_unless_told() {
    let mut model = start();
    acquire(&mut model, Effect::Repeatable);
    assert_eq!(model.forget(&id(), false), Forgotten { kept_unsettled: 1, ..Forgotten::default() });
    assert_eq!(model.forget_scope("ann", true), Forgotten { unsettled: 1, ..Forgotten::default() });
    assert_eq!(state(&model), None);
}

#[test]
fn a_sweep_turns_what_is_due_into_its_next_state() {
    let mut model = start();
    let fence = acquire(&mut model, Effect::Repeatable);
    model.settle(&id(), fence, &complete("yes")).unwrap();
    model.advance(RETENTION - 1);
    assert_eq!(model.sweep(10), Swept::default());
    model.advance(1);
    assert_eq!(model.sweep(0), Swept { more: true, ..Swept::default() });
    assert_eq!(model.sweep(10), Swept { tombstoned: 1, ..Swept::default() });
    model.advance(TOMBSTONE);
    assert_eq!(model.sweep(10), Swept { removed: 1, ..Swept::default() });
    assert_eq!(model.counts(), super::super::Counts::default());
}

#[test]
fn i6_a_sweep_leaves_parked_and_lapsed_records_alone() {
    let mut model = start();
    acquire(&mut model, Effect::AtMostOnce);
    model.advance(1_000_000);
    assert_eq!(model.counts().parked, 1, "a lapsed AtMostOnce record counts as parked");
    assert_eq!(model.sweep(10), Swept::default());
    model.begin(&ask(Effect::AtMostOnce, one()));
    model.advance(1_000_000);
    assert_eq!(model.sweep(10), Swept::default());
}

#[test]
fn a_transaction_is_stored_whole_or_not_at_all() {
    let mut model = start();
    let fence = acquire(&mut model, Effect::InLedger);
    let put = RowCall::Put("t".into(), b"a".to_vec(), b"1".to_vec());
    let get = RowCall::Get("t".into(), b"a".to_vec());
    let done = RowCall::Complete(id(), fence, response("yes"));
    let unique = RowCall::InsertUnique("t".into(), b"a".to_vec(), b"2".to_vec());
    let refused = [put.clone(), done.clone(), unique];
    let before = model.clone();
    assert_eq!(model.transaction(&refused), Err(Code::UniqueViolation));
    assert_eq!(model, before);
    assert_eq!(model.transaction(&[put, get, done]), Ok(vec![Some(b"1".to_vec())]), "G1");
    assert_eq!(state(&model), Some("completed"));
}

#[test]
fn g2_rows_are_not_written_again_for_a_claim_that_is_settled() {
    let mut model = start();
    let fence = acquire(&mut model, Effect::InLedger);
    let put = |value: &str| [RowCall::Put("t".into(), b"a".to_vec(), value.into())];
    model.complete_with(&id(), fence, &put("1"), &response("yes")).unwrap();
    model.complete_with(&id(), fence, &put("2"), &response("yes")).unwrap();
    assert_eq!(model.row("t", b"a"), Some(b"1".to_vec()));
}
