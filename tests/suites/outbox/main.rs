//! The outbox, with the clock in the test's hand.

use std::time::Duration;

use keyledger::{DeliveryOutcome, Enqueue, EntryStateName, Ledger, ManualClock, Response, Scope, SeededEntropy};

fn ledger(clock: &ManualClock) -> Ledger {
    Ledger::builder().clock(clock.clone()).entropy(SeededEntropy::new(1)).in_memory().unwrap()
}

#[test]
fn o1_what_is_enqueued_is_sent_with_its_key_and_answered() {
    let clock = ManualClock::new(1_000_000);
    let ledger = ledger(&clock);
    let outbox = ledger.outbox().open().unwrap();
    let scope = Scope::new("ada").unwrap();
    let enqueued =
        outbox.enqueue(&Enqueue::new(&scope, "charge", "text/plain", "ten euros").purpose("pay cart 42")).unwrap();
    assert!(enqueued.created);
    let again =
        outbox.enqueue(&Enqueue::new(&scope, "charge", "text/plain", "ten euros").purpose("pay cart 42")).unwrap();
    assert!(!again.created);
    assert_eq!(again.entry.key(), enqueued.entry.key());
    assert_eq!(outbox.next_wakeup(&scope).unwrap(), Some(1_000_000));
    let mut deliveries = outbox.lease_due(&scope, 10).unwrap();
    assert_eq!(deliveries.len(), 1);
    let delivery = deliveries.pop().unwrap();
    assert_eq!(delivery.request(), b"ten euros");
    assert_eq!(delivery.lease_left(), Duration::from_secs(30));
    delivery.settle(DeliveryOutcome::retry("timeout")).unwrap();
    assert_eq!(outbox.stats().unwrap().count(EntryStateName::Pending), 1);
    assert!(outbox.lease_due(&scope, 10).unwrap().is_empty());
    let at = outbox.next_wakeup(&scope).unwrap().unwrap();
    assert!(at > 1_000_000, "{at}");
    clock.advance(Duration::from_millis(at - 1_000_000));
    let delivery = outbox.lease_due(&scope, 10).unwrap().pop().unwrap();
    assert_eq!(delivery.key(), enqueued.entry.key());
    delivery.settle(DeliveryOutcome::yes(Response::text("done"))).unwrap();
    let entry = outbox.wait(enqueued.entry.id(), Duration::ZERO).unwrap();
    assert!(entry.is_yes());
    assert_eq!(entry.response(), Some(&Response::text("done")));
    assert_eq!(outbox.next_wakeup(&scope).unwrap(), None);
}
