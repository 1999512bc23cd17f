//! Requests stored with the business change, and what people decide.

use std::time::Duration;

use keyledger::{
    Batch, Cancel, Decision, DeliveryOutcome, EntryFilter, EntryResolution, EntryStateName, Error, Fingerprint, Key,
    Ledger, ManualClock, Operation, Response, SeededEntropy,
};

use crate::stage::{START_MS, Stage};

static ORDER: Operation = Operation::in_ledger("order");

#[test]
fn g1_a_request_is_stored_with_the_business_change_or_not_at_all() {
    let stage = Stage::new();
    let enqueue = stage.request("ship order 7");
    let refused = stage.ledger.transaction(|tx| {
        tx.put("orders", b"7", "paid")?;
        tx.enqueue(&stage.outbox, &enqueue)?;
        tx.insert_unique("orders", b"7", "paid again")
    });
    assert!(matches!(refused, Err(Error::UniqueViolation { .. })));
    assert!(stage.outbox.list(&EntryFilter::all()).unwrap().entries.is_empty());
    assert_eq!(stage.ledger.get("orders", b"7").unwrap(), None);

    let Decision::Acquired(mut claim) =
        stage.ledger.begin(&ORDER, &stage.scope, &Key::new("k").unwrap(), Fingerprint::unchecked()).unwrap()
    else {
        panic!("nobody else has it")
    };
    claim
        .complete_with(|tx| {
            tx.put("orders", b"7", "paid")?;
            let enqueued = tx.enqueue(&stage.outbox, &enqueue)?;
            Ok::<_, Error>(Response::text(enqueued.entry.id().to_string()))
        })
        .unwrap();
    let entries = stage.outbox.list(&EntryFilter::all()).unwrap().entries;
    assert_eq!(entries.len(), 1);
    assert_eq!(stage.ledger.get("orders", b"7").unwrap().as_deref(), Some(&b"paid"[..]));
    stage
        .ledger
        .apply(&Batch::new().put("orders", "8", "paid").enqueue(&stage.outbox, &stage.request("ship 8")))
        .unwrap();
    assert_eq!(stage.outbox.list(&EntryFilter::all()).unwrap().entries.len(), 2);
}

#[test]
fn the_outbox_of_another_ledger_is_refused() {
    let (one, other) = (Stage::new(), Stage::new());
    let refused = one.ledger.transaction(|tx| tx.enqueue(&other.outbox, &other.request("x")).map(drop));
    assert!(matches!(refused, Err(Error::InvalidArgument(_))), "{refused:?}");
}

#[test]
fn o3_a_conflict_carries_the_entry() {
    let stage = Stage::new();
    let first = stage.outbox.enqueue(&stage.request("pay").key(&Key::new("k").unwrap())).unwrap();
    let other = keyledger::Enqueue::new(&stage.scope, "pay", "text/plain", "another amount");
    let Err(Error::PurposeConflict(entry)) = stage.outbox.enqueue(&other.clone().purpose("pay")) else {
        panic!("the purpose is taken")
    };
    assert_eq!(entry.id(), first.entry.id());
    let Err(Error::KeyConflict(entry)) = stage.outbox.enqueue(&other.key(&Key::new("k").unwrap())) else {
        panic!("the key is taken")
    };
    assert_eq!(entry.id(), first.entry.id());
}

#[test]
fn o7_who_decides_and_why_stays_in_the_audit_trail() {
    let stage = Stage::new();
    let id = stage.outbox.enqueue(&stage.request("pay")).unwrap().entry.id();
    stage.lease_one().settle(DeliveryOutcome::unknown("409 parked")).unwrap();
    assert!(matches!(stage.outbox.cancel(id).unwrap(), Cancel::TooLate(_)));
    let successor = stage.outbox.resolve(id, EntryResolution::Resend, "ada", "the bank has no such charge").unwrap();
    assert_eq!(successor.state(), EntryStateName::Pending);
    let old = stage.outbox.get(id).unwrap().unwrap();
    assert_eq!(old.successor(), Some(successor.id()));
    assert_eq!((old.audit()[0].who.as_str(), old.audit()[0].outcome.as_str()), ("ada", "resend"));
    let delivery = stage.lease_one();
    assert_eq!(delivery.key(), successor.key());
    assert_eq!(delivery.request(), b"request of pay");
    assert_ne!(old.key(), successor.key());
    drop(delivery);
}

#[test]
fn p1_the_same_calls_as_futures() {
    use keyledger_harness::futures::finish;
    let clock = ManualClock::new(START_MS);
    let ledger = Ledger::builder().clock(clock).entropy(SeededEntropy::new(1)).in_memory().unwrap();
    let outbox = ledger.outbox().open().unwrap();
    let scope = keyledger::Scope::new("ada").unwrap();
    let enqueue = |purpose: &str| keyledger::Enqueue::new(&scope, "pay", "text/plain", purpose).purpose(purpose);
    let one = finish(outbox.enqueue_async(&enqueue("one"))).unwrap();
    let many = finish(outbox.enqueue_many_async(&[enqueue("one"), enqueue("two"), enqueue("three")])).unwrap();
    assert_eq!(many.iter().map(|enqueued| enqueued.created).collect::<Vec<_>>(), [false, true, true]);
    let mut due = finish(outbox.lease_due_async(&scope, 2)).unwrap();
    let reports = [
        due.remove(0).report(DeliveryOutcome::yes(Response::text("done"))),
        due.remove(0).report(DeliveryOutcome::dead("no")),
    ];
    finish(outbox.settle_async(&reports[0])).unwrap();
    let turn = finish(outbox.settle_and_lease_async(&reports[1..], &scope, 5)).unwrap();
    assert_eq!((turn.settled.len(), turn.deliveries.len()), (1, 1));
    let dead = many[1].entry.id();
    assert!(finish(outbox.wait_async(one.entry.id(), Duration::ZERO)).unwrap().is_yes());
    assert_eq!(finish(outbox.requeue_async(dead)).unwrap().state(), EntryStateName::Pending);
    assert!(finish(outbox.cancel_async(dead)).unwrap().is_cancelled());
    for delivery in turn.deliveries {
        delivery.settle(DeliveryOutcome::unknown("who knows")).unwrap();
    }
    let third = many[2].entry.id();
    let found = finish(outbox.resolve_async(third, EntryResolution::Yes(Response::text("found")), "ada", "")).unwrap();
    assert!(found.is_yes());
    assert_eq!(finish(outbox.resume_async(&scope)).unwrap().lanes, 0);
    assert!(finish(outbox.resume_entry_async(third)).is_err());
    assert!(finish(outbox.dismiss_async(third, "ada", "")).is_err());
}
