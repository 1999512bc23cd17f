//! Storage that fails, and ledgers that are suspended, poisoned or closed: no outcome is lost.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use keyledger::{Clock, EntryStateName, Error, ErrorCode, Ledger, SystemClock};
use keyledger_harness::disk::{FakeDisk, Fault};

use crate::stage::{Stage, a_moment, until};

fn on_disk() -> (Stage, FakeDisk) {
    let disk = FakeDisk::new();
    (Stage::of(Ledger::builder().open_disk(Arc::new(disk.clone())).unwrap(), |outbox| outbox), disk)
}

#[test]
fn an_outcome_that_a_suspended_ledger_cannot_take_is_told_again_after_it_is_resumed() {
    let stage = Stage::new();
    let entry = stage.enqueue("one");
    stage.transport.block();
    let failed = Arc::new(Mutex::new(Vec::new()));
    let noted = failed.clone();
    let note = move |error: &Error| noted.lock().unwrap().push(error.code());
    let driver = stage.driver().on_error(note).start().unwrap();
    stage.transport.wait_for_sends(1);
    stage.ledger.suspend().unwrap();
    stage.transport.release();
    until("it has met the suspended ledger", || !failed.lock().unwrap().is_empty());
    stage.ledger.resume().unwrap();
    stage.answered(&entry);
    driver.stop().unwrap();
    assert!(failed.lock().unwrap().iter().all(|code| *code == ErrorCode::Suspended));
    assert_eq!(stage.sends_of(&[entry]), [1]);
}

/// Suspends the ledger when a driver's thread asks it for the time: in the middle of a look.
#[derive(Clone, Default)]
struct Interrupting {
    is_armed: Arc<AtomicBool>,
    ledger: Arc<OnceLock<Ledger>>,
}

impl Clock for Interrupting {
    fn wall_ms(&self) -> u64 {
        let is_driver = thread::current().name() == Some("keyledger-driver");
        if is_driver && self.is_armed.swap(false, Ordering::SeqCst) {
            self.ledger.get().unwrap().suspend().unwrap();
        }
        SystemClock.wall_ms()
    }

    fn monotonic_ms(&self) -> u64 {
        SystemClock.monotonic_ms()
    }
}

#[test]
fn p6_a_suspension_in_the_middle_of_a_look_does_not_end_a_driver() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Interrupting::default());
    let ledger = Ledger::builder().clock(clock.clone()).open(folder.path().join("outbox.kl")).unwrap();
    let stage = Stage::of(ledger, |outbox| outbox);
    assert!(clock.ledger.set(stage.ledger.clone()).is_ok());
    let driver = stage.driver().start().unwrap();
    a_moment();
    clock.is_armed.store(true, Ordering::SeqCst);
    let entry = stage.enqueue("one");
    until("it is suspended", || stage.outbox.stats().is_err());
    a_moment();
    stage.ledger.resume().unwrap();
    stage.answered(&entry);
    driver.stop().unwrap();
}

#[test]
fn s7_an_outcome_whose_commit_failed_openly_is_told_again_after_reopening() {
    let (stage, disk) = on_disk();
    let entry = stage.enqueue("one");
    stage.transport.block();
    let failures = Arc::new(AtomicU64::new(0));
    let count = failures.clone();
    let note = move |_: &Error| {
        count.fetch_add(1, Ordering::SeqCst);
    };
    let driver = stage.driver().on_error(note).start().unwrap();
    stage.transport.wait_for_sends(1);
    disk.stop_at_sync(1);
    stage.transport.release();
    until("the commit has failed", || failures.load(Ordering::SeqCst) > 0);
    a_moment();
    assert!(failures.load(Ordering::SeqCst) < 10, "it tries again without pause");
    disk.heal();
    stage.ledger.reopen().unwrap();
    stage.answered(&entry);
    driver.stop().unwrap();
    assert_eq!(stage.sends_of(&[entry]), [1]);
}

#[test]
fn an_outcome_that_storage_refused_once_is_told_again_by_itself() {
    let (stage, disk) = on_disk();
    let entry = stage.enqueue("one");
    stage.transport.block();
    let driver = stage.driver().start().unwrap();
    stage.transport.wait_for_sends(1);
    disk.fail_call_with(1, Fault::NoSpace);
    stage.transport.release();
    until("the disk has refused", || disk.has_failed());
    until("it is settled", || {
        let _ = stage.ledger.reopen();
        stage.count(EntryStateName::Answered) == 1
    });
    driver.stop().unwrap();
    assert_eq!(stage.sends_of(&[entry]), [1]);
}

#[test]
fn p7_after_close_it_ends_with_the_error_and_gives_back_what_it_could_not_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outbox.kl");
    let stage = Stage::of(Ledger::open(&path).unwrap(), |outbox| outbox);
    let entry = stage.enqueue("one");
    stage.transport.block();
    let driver = stage.driver().start().unwrap();
    stage.transport.wait_for_sends(1);
    stage.ledger.close().unwrap();
    a_moment();
    assert!(driver.is_running(), "a delivery is in flight");
    stage.transport.release();
    until("it has ended", || !driver.is_running());
    let error = driver.stop().unwrap_err();
    assert_eq!((error.source.code(), error.reports.len()), (ErrorCode::Closed, 1));
    let again = Stage::of(Ledger::open(&path).unwrap(), |outbox| outbox);
    again.outbox.settle(&error.reports[0]).unwrap();
    again.answered(&entry);
}

#[test]
fn p7_a_driver_with_nothing_to_do_hears_of_the_end_at_once() {
    let stage = Stage::new();
    let driver = stage.driver().start().unwrap();
    a_moment();
    stage.ledger.close().unwrap();
    until("it has ended", || !driver.is_running());
    assert_eq!(driver.stop().unwrap_err().source.code(), ErrorCode::Closed);
}

#[test]
fn a_stop_while_the_ledger_is_suspended_ends_with_what_could_not_be_stored_when_its_leases_are_over() {
    let stage = Stage::with(|outbox| outbox.lease(Duration::from_millis(500)));
    stage.enqueue("one");
    stage.transport.block();
    let driver = stage.driver().start().unwrap();
    stage.transport.wait_for_sends(1);
    stage.ledger.suspend().unwrap();
    stage.transport.release();
    a_moment();
    let error = driver.stop().unwrap_err();
    assert_eq!((error.source.code(), error.reports.len()), (ErrorCode::Suspended, 1));
    stage.ledger.resume().unwrap();
    stage.outbox.settle(&error.reports[0]).unwrap();
    assert_eq!(stage.count(EntryStateName::Answered), 1);
}

#[test]
fn a_drain_of_a_suspended_ledger_ends_with_the_error() {
    let stage = Stage::new();
    stage.enqueue("one");
    stage.ledger.suspend().unwrap();
    let error = stage.driver().drain(Duration::ZERO, |_| {}).unwrap_err();
    assert_eq!(Error::from(error).code(), ErrorCode::Suspended);
}

#[test]
fn one_commit_settles_a_delivery_and_leases_the_next() {
    let (stage, disk) = on_disk();
    stage.enqueue_all(100);
    let before = disk.counts().syncs;
    let drained = stage.driver().in_flight(1).drain(Duration::ZERO, |_| {}).unwrap();
    let syncs = disk.counts().syncs - before;
    assert_eq!(drained.count(EntryStateName::Answered), 100);
    let commit = {
        let before = disk.counts().syncs;
        stage.enqueue("what a commit takes");
        disk.counts().syncs - before
    };
    println!("100 deliveries, one at a time: {syncs} syncs; a commit has {commit}");
    // One to lease the first, then one for each.
    assert_eq!(syncs, 101 * commit);
}
