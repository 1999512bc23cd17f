//! Who waits for an outcome is woken, and any later process can read it (O13).

use std::thread;
use std::time::{Duration, Instant};

use keyledger::{DeliveryOutcome, Enqueue, EntryStateName, Error, Ledger, Response, Scope};

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn o13_a_waiter_is_woken_by_the_answer() {
    let ledger = Ledger::in_memory().unwrap();
    let outbox = ledger.outbox().open().unwrap();
    let scope = Scope::single();
    let id = outbox.enqueue(&Enqueue::new(&scope, "pay", "", "x")).unwrap().entry.id();
    let waiter = thread::spawn({
        let outbox = outbox.clone();
        move || outbox.wait(id, PATIENCE)
    });
    thread::sleep(Duration::from_millis(50));
    let delivery = outbox.lease_due(&scope, 1).unwrap().pop().unwrap();
    delivery.settle(DeliveryOutcome::yes(Response::text("done"))).unwrap();
    let began = Instant::now();
    assert!(waiter.join().unwrap().unwrap().is_yes());
    assert!(began.elapsed() < PATIENCE / 4);
}

#[test]
fn o13_whoever_shows_an_entry_to_a_person_need_not_wait_for_it_to_be_settled() {
    let ledger = Ledger::in_memory().unwrap();
    let outbox = ledger.outbox().open().unwrap();
    let scope = Scope::single();
    let id = outbox.enqueue(&Enqueue::new(&scope, "pay", "", "x")).unwrap().entry.id();
    outbox.lease_due(&scope, 1).unwrap().pop().unwrap().settle(DeliveryOutcome::unknown("409 parked")).unwrap();
    let began = Instant::now();
    let shown = outbox.wait_until(id, PATIENCE, |entry| entry.unknown().is_some()).unwrap();
    assert_eq!(shown.state(), EntryStateName::Unknown);
    assert!(began.elapsed() < PATIENCE / 4);
}

#[test]
fn p7_close_wakes_whoever_waits() {
    let ledger = Ledger::in_memory().unwrap();
    let outbox = ledger.outbox().open().unwrap();
    let id = outbox.enqueue(&Enqueue::new(&Scope::single(), "pay", "", "x")).unwrap().entry.id();
    let waiter = thread::spawn({
        let outbox = outbox.clone();
        move || outbox.wait(id, PATIENCE)
    });
    thread::sleep(Duration::from_millis(50));
    ledger.close().unwrap();
    assert!(matches!(waiter.join().unwrap(), Err(Error::Closed)));
}

#[test]
fn o13_changes_begin_with_what_is_there_and_go_on_in_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("phone.keyledger");
    let scope = Scope::single();
    let (last, id) = {
        let ledger = Ledger::open(&path).unwrap();
        let outbox = ledger.outbox().open().unwrap();
        let id = outbox.enqueue(&Enqueue::new(&scope, "pay", "", "x")).unwrap().entry.id();
        let mut changes = outbox.changes(0);
        let first = changes.next(Duration::ZERO).unwrap().expect("what is there");
        assert_eq!(first.state(), EntryStateName::Pending);
        assert!(changes.next(Duration::ZERO).unwrap().is_none());
        let delivery = outbox.lease_due(&scope, 1).unwrap().pop().unwrap();
        assert_eq!(changes.next(PATIENCE).unwrap().unwrap().state(), EntryStateName::Sending);
        delivery.settle(DeliveryOutcome::yes(Response::text("done"))).unwrap();
        ledger.close().unwrap();
        (changes.last_change(), id)
    };
    let ledger = Ledger::open(&path).unwrap();
    let outbox = ledger.outbox().open().unwrap();
    let mut changes = outbox.changes(last);
    let answered = changes.next(Duration::ZERO).unwrap().expect("the answer, which no process has read");
    assert_eq!(answered.response(), Some(&Response::text("done")));
    assert!(changes.next(Duration::ZERO).unwrap().is_none());
    let mut seen = Vec::new();
    let end = outbox
        .changes_of(id, |entry| {
            seen.push(entry.state());
            true
        })
        .unwrap();
    assert!(end.is_yes());
    assert_eq!(seen, [EntryStateName::Answered], "it starts with the current value, and ends when that is settled");
}
