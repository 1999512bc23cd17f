//! What a call costs: syncs, and bytes written.

use keyledger::{DeliveryOutcome, Enqueue, Response};
use keyledger_harness::disk::Counts;

use crate::stage::Stage;

/// What `act` had the disk do.
fn cost<T>(stage: &Stage, act: impl FnOnce() -> T) -> (T, Counts) {
    let before = stage.disk.counts();
    let result = act();
    let after = stage.disk.counts();
    let spent = Counts {
        syncs: after.syncs - before.syncs,
        writes: after.writes - before.writes,
        written_bytes: after.written_bytes - before.written_bytes,
        ..after
    };
    (result, spent)
}

#[test]
fn o1_enqueue_of_a_kibibyte_is_one_sync_of_a_few_sectors() {
    let stage = Stage::new();
    let enqueue = Enqueue::new(&stage.scope, "pay", "text/plain", vec![b'x'; 1024]).purpose("pay cart 42");
    let (enqueued, spent) = cost(&stage, || stage.outbox.enqueue(&enqueue).unwrap());
    assert!(enqueued.created);
    assert_eq!(spent.syncs, 1);
    assert!(spent.written_bytes <= 4096, "{spent:?}");
    let (again, spent) = cost(&stage, || stage.outbox.enqueue(&enqueue).unwrap());
    assert!(!again.created);
    assert_eq!((spent.syncs, spent.writes), (0, 0), "what is there already is found without a write");
}

#[test]
fn o1_many_are_one_sync() {
    let stage = Stage::new();
    let many: Vec<Enqueue> = (0..100).map(|number| stage.request(&format!("invoice {number}"))).collect();
    let (all, spent) = cost(&stage, || stage.outbox.enqueue_many(&many).unwrap());
    assert_eq!(all.iter().filter(|enqueued| enqueued.created).count(), 100);
    assert_eq!(spent.syncs, 1);
}

#[test]
fn o4_settling_one_delivery_and_leasing_the_next_is_one_sync() {
    let stage = Stage::new();
    for purpose in ["one", "two"] {
        stage.outbox.enqueue(&stage.request(purpose)).unwrap();
    }
    let report = stage.lease_one().report(DeliveryOutcome::yes(Response::text("done")));
    let (turn, spent) = cost(&stage, || stage.outbox.settle_and_lease(&[report], &stage.scope, 1).unwrap());
    assert!(turn.settled[0].is_ok());
    assert_eq!(turn.deliveries.len(), 1);
    assert_eq!(spent.syncs, 1);
    assert!(spent.written_bytes <= 4096, "{spent:?}");
}

#[test]
fn o11_a_look_that_finds_nothing_writes_nothing() {
    let stage = Stage::new();
    stage.outbox.enqueue(&stage.request("one")).unwrap();
    let delivery = stage.lease_one();
    let (none, spent) = cost(&stage, || stage.outbox.lease_due(&stage.scope, 10).unwrap());
    assert!(none.is_empty());
    let (_, looked) = cost(&stage, || {
        stage.outbox.next_wakeup(&stage.scope).unwrap();
        stage.outbox.stats().unwrap();
        stage.outbox.find(&stage.scope, "default", "one").unwrap()
    });
    assert_eq!((spent.syncs, spent.writes, looked.syncs, looked.writes), (0, 0, 0, 0));
    drop(delivery);
}
