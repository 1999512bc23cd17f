//! Stopping: nothing is lost, nothing is started.

use std::thread;
use std::time::{Duration, Instant};

use keyledger::{DeliveryOutcome, EntryStateName, Response, Stop};
use keyledger_harness::scripted::Answer;

use crate::stage::{Stage, a_moment, until};

#[test]
fn stopping_in_the_middle_settles_what_is_in_flight_and_starts_nothing() {
    let stage = Stage::new();
    let entries = stage.enqueue_all(10);
    stage.transport.block();
    let driver = stage.driver().in_flight(4).start().unwrap();
    stage.transport.wait_for_sends(4);
    thread::scope(|scope| {
        let stopped = scope.spawn(|| driver.stop());
        a_moment();
        assert!(!stopped.is_finished());
        stage.transport.release();
        stopped.join().unwrap().unwrap();
    });
    assert_eq!(stage.count(EntryStateName::Answered), 4);
    assert_eq!(stage.count(EntryStateName::Pending), 6);
    a_moment();
    assert_eq!(stage.sends_of(&entries).into_iter().sum::<usize>(), 4);
}

#[test]
fn o7_a_stop_waits_no_longer_than_the_lease_and_a_yes_that_comes_later_counts() {
    let stage = Stage::with(|outbox| outbox.lease(Duration::from_millis(300)));
    let entry = stage.enqueue("slow");
    stage.transport.block();
    let driver = stage.driver().start().unwrap();
    stage.transport.wait_for_sends(1);
    let began = Instant::now();
    driver.stop().unwrap();
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(stage.count(EntryStateName::Sending), 1);
    stage.transport.release();
    stage.answered(&entry);
}

#[test]
fn a_handle_that_is_dropped_stops_its_driver() {
    let stage = Stage::new();
    let driver = stage.driver().start().unwrap();
    stage.answered(&stage.enqueue("one"));
    drop(driver);
    stage.enqueue("two");
    a_moment();
    assert_eq!(stage.sent(), ["one"]);
}

#[test]
fn any_thread_may_stop_it_and_one_stop_may_end_several() {
    let (stage, stop) = (Stage::new(), Stop::new());
    thread::scope(|scope| {
        let drivers = [(); 2].map(|()| scope.spawn(|| stage.driver().run_until(&stop)));
        stage.answered(&stage.enqueue("one"));
        stop.clone().stop();
        for driver in drivers {
            driver.join().unwrap().unwrap();
        }
    });
    assert!(stop.is_stopped());
    stage.driver().run_until(&stop).unwrap();
}

#[test]
fn o7_no_delivery_is_started_whose_lease_is_over() {
    let stage = Stage::with(|outbox| outbox.lease(Duration::from_millis(40)));
    let entries = stage.enqueue_all(60);
    let slow = Answer::Tell(DeliveryOutcome::yes(Response::text("done")));
    stage.transport.always(slow);
    let drained = stage.driver().in_flight(16).drain(Duration::from_secs(5), |_| {}).unwrap();
    assert_eq!(drained.unsettled(), 0);
    assert!(stage.transport.sent().iter().all(|sent| !sent.lease_left.is_zero()));
    assert!(stage.sends_of(&entries).iter().all(|sends| *sends >= 1));
}

#[test]
fn threads_have_the_name_that_was_given() {
    let stage = Stage::new();
    let (names, entry) = (std::sync::Arc::new(std::sync::Mutex::new(Vec::new())), stage.enqueue("one"));
    let transport = Named(names.clone());
    let driver = keyledger::Driver::new(&stage.outbox, &stage.scope, transport).name("invoices").start().unwrap();
    stage.answered(&entry);
    driver.stop().unwrap();
    assert_eq!(*names.lock().unwrap(), ["invoices-send"]);
}

struct Named(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

impl keyledger::Transport for Named {
    fn send(&self, _: &keyledger::Delivery) -> DeliveryOutcome {
        self.0.lock().unwrap().extend(thread::current().name().map(ToOwned::to_owned));
        DeliveryOutcome::yes(Response::text("done"))
    }
}

#[test]
fn a_driver_that_is_stopped_leaves_no_thread_that_waits() {
    let stage = Stage::new();
    let driver = stage.driver().start().unwrap();
    stage.answered(&stage.enqueue("one"));
    driver.stop().unwrap();
    until("the transport is let go", || std::sync::Arc::strong_count(&stage.transport) == 1);
}
