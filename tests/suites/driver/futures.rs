//! The driver as a future.

use std::pin::pin;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use keyledger::{DeliveryOutcome, EntryStateName, ErrorCode, ManualClock, Stop};
use keyledger_harness::futures::block_on;
use keyledger_harness::scripted::Answer;

use crate::stage::{Stage, a_moment, until};

/// Runs the future on a thread of its own while `meanwhile` happens, then stops it.
fn while_it_runs(stage: &Stage, in_flight: usize, meanwhile: impl FnOnce()) {
    let stop = Stop::new();
    thread::scope(|scope| {
        let driver = scope.spawn(|| block_on(stage.async_driver().in_flight(in_flight).run(stop.stopped())));
        meanwhile();
        stop.stop();
        driver.join().unwrap().unwrap();
    });
}

#[test]
fn o1_the_future_sends_what_is_enqueued_before_and_while_it_works() {
    let stage = Stage::new();
    let before = stage.enqueue("before");
    while_it_runs(&stage, 8, || {
        stage.answered(&before);
        a_moment();
        stage.answered(&stage.enqueue("after"));
    });
    assert_eq!(stage.sent(), ["before", "after"]);
}

#[test]
fn the_future_has_as_many_in_flight_as_was_said() {
    let stage = Stage::new();
    let entries = stage.enqueue_all(20);
    stage.transport.block();
    while_it_runs(&stage, 3, || {
        stage.transport.wait_for_sends(3);
        a_moment();
        assert_eq!(stage.transport.in_flight(), 3);
        stage.transport.release();
        stage.all_answered(&entries);
    });
    assert_eq!(stage.transport.most_in_flight(), 3);
    assert_eq!(stage.sends_of(&entries), [1; 20]);
}

#[test]
fn stopping_the_future_settles_what_is_in_flight() {
    let stage = Stage::new();
    stage.enqueue_all(10);
    stage.transport.block();
    let stop = Stop::new();
    thread::scope(|scope| {
        let driver = scope.spawn(|| block_on(stage.async_driver().in_flight(4).run(stop.stopped())));
        stage.transport.wait_for_sends(4);
        stop.stop();
        a_moment();
        assert!(!driver.is_finished());
        stage.transport.release();
        driver.join().unwrap().unwrap();
    });
    assert_eq!((stage.count(EntryStateName::Answered), stage.count(EntryStateName::Pending)), (4, 6));
}

#[test]
fn o7_stopping_the_future_waits_no_longer_than_the_lease() {
    let stage = Stage::with(|outbox| outbox.lease(Duration::from_millis(200)));
    stage.enqueue("slow");
    stage.transport.block();
    while_it_runs(&stage, 8, || stage.transport.wait_for_sends(1));
    assert_eq!(stage.count(EntryStateName::Answered), 0);
}

#[test]
fn o6_a_future_that_is_dropped_drops_its_deliveries() {
    let clock = ManualClock::new(1_000_000);
    let stage = Stage::by_clock(&clock, |outbox| outbox.backoff(Duration::ZERO, Duration::ZERO, 2));
    let entry = stage.enqueue("one");
    stage.transport.block();
    {
        let driver = stage.async_driver();
        let mut running = pin!(driver.run(std::future::pending()));
        until("it is sent", || {
            let _ = running.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            stage.transport.in_flight() == 1
        });
    }
    stage.transport.release();
    assert_eq!(stage.outbox.lease_due(&stage.scope, 1).unwrap().len(), 1);
    assert_eq!(stage.sends_of(&[entry]), [1]);
}

#[test]
fn an_outcome_at_hand_is_stored_though_the_future_is_dropped() {
    let stage = Stage::new();
    let entry = stage.enqueue("one");
    let driver = stage.async_driver();
    let mut running = Box::pin(driver.run(std::future::pending()));
    let mut poll = || running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
    stage.transport.block();
    until("it is sent", || poll() || stage.transport.in_flight() == 1);
    stage.ledger.suspend().unwrap();
    stage.transport.release();
    until("it is back", || poll() || stage.transport.in_flight() == 0);
    stage.ledger.resume().unwrap();
    drop(running);
    stage.answered(&entry);
}

#[test]
fn o5_a_future_of_the_transport_that_panics_counts_as_a_retry() {
    let stage = Stage::with(|outbox| outbox.backoff(Duration::from_millis(1), Duration::from_millis(1), 2));
    let entry = stage.enqueue("broken");
    stage.transport.answer(entry.key().as_str(), Answer::Panic);
    while_it_runs(&stage, 8, || stage.answered(&entry));
    let entry = stage.outbox.get(entry.id()).unwrap().unwrap();
    assert_eq!(entry.errors()[0].error, "the transport panicked");
    assert_eq!(stage.sends_of(&[entry]), [2]);
}

#[test]
fn o6_the_future_wakes_up_for_a_retry_by_itself() {
    let stage = Stage::with(|outbox| {
        outbox.without_jitter().backoff(Duration::from_millis(100), Duration::from_millis(100), 1)
    });
    let entry = stage.enqueue("twice");
    stage.transport.answer(entry.key().as_str(), Answer::Tell(DeliveryOutcome::retry("timeout")));
    while_it_runs(&stage, 8, || stage.answered(&entry));
    assert_eq!(stage.sends_of(&[entry]), [2]);
}

#[test]
fn o8_the_future_resumes_a_held_lane_when_there_are_other_credentials() {
    let clock = ManualClock::new(1_000_000);
    let stage = Stage::by_clock(&clock, |outbox| outbox);
    let entry = stage.enqueue("one");
    stage.transport.answer(entry.key().as_str(), Answer::Tell(DeliveryOutcome::hold_lane("401")));
    while_it_runs(&stage, 1, || {
        until("the lane is held", || stage.outbox.stats().unwrap().held_lanes() == 1);
        stage.transport.set_other_credentials(true);
        clock.advance(Duration::from_secs(5));
        stage.answered(&entry);
    });
    assert_eq!(stage.sends_of(&[entry]), [2]);
}

#[test]
fn o15_the_future_drains_beside_a_drain_of_threads() {
    let stage = Stage::new();
    let entries = stage.enqueue_all(100);
    // Longer than a lease: each waits for what the other has in flight.
    let until = Duration::from_mins(1);
    let (one, other) = thread::scope(|scope| {
        let one = scope.spawn(|| block_on(stage.async_driver().in_flight(3).drain(until, |_| {})).unwrap());
        let other = scope.spawn(|| stage.driver().in_flight(3).drain(until, |_| {}).unwrap());
        (one.join().unwrap(), other.join().unwrap())
    });
    assert_eq!(one.sent + other.sent, 100);
    assert_eq!((one.unsettled(), other.unsettled()), (0, 0));
    assert_eq!(stage.sends_of(&entries), [1; 100]);
}

#[test]
fn p7_the_future_tells_a_suspended_ledger_again_and_ends_with_a_closed_one() {
    let stage = Stage::new();
    let entry = stage.enqueue("one");
    stage.transport.block();
    let error = thread::scope(|scope| {
        let driver = scope.spawn(|| block_on(stage.async_driver().run(std::future::pending())));
        stage.transport.wait_for_sends(1);
        stage.ledger.suspend().unwrap();
        stage.transport.release();
        a_moment();
        stage.ledger.resume().unwrap();
        stage.answered(&entry);
        stage.ledger.close().unwrap();
        driver.join().unwrap().unwrap_err()
    });
    assert_eq!(error.source.code(), ErrorCode::Closed);
    assert_eq!(stage.sends_of(&[entry]), [1]);
}

#[test]
fn a_driver_and_its_futures_can_be_moved_between_threads() {
    fn is_send<T: Send>(_: &T) {}
    let stage = Stage::new();
    let driver = stage.async_driver();
    is_send(&driver);
    is_send(&driver.run(std::future::pending()));
    is_send(&driver.drain(Duration::ZERO, |_| {}));
}
