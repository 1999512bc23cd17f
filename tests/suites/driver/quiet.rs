//! A driver that has nothing to do does nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use keyledger::{Clock, DeliveryOutcome, Lane, Ledger, Scope, SystemClock};
use keyledger_harness::futures::block_on;
use keyledger_harness::scripted::Answer;

use crate::stage::{Stage, until};

/// Counts how often it is asked: each look, each lease and each settlement of an outbox asks.
#[derive(Clone, Default)]
struct CountingClock {
    asked: Arc<AtomicU64>,
}

impl Clock for CountingClock {
    fn wall_ms(&self) -> u64 {
        self.asked.fetch_add(1, Ordering::Relaxed);
        SystemClock.wall_ms()
    }

    fn monotonic_ms(&self) -> u64 {
        self.asked.fetch_add(1, Ordering::Relaxed);
        SystemClock.monotonic_ms()
    }
}

/// Held, blocked, out of budget, somebody else's: nothing of it can be sent now.
fn stuck(clock: &CountingClock) -> Stage {
    let ledger = Ledger::builder().clock(clock.clone()).in_memory().unwrap();
    let stage = Stage::of(ledger, |outbox| {
        outbox
            .lane(Lane::ordered("blocked"))
            .lane(Lane::ordered("held"))
            .retry_budget(1, Duration::from_hours(1))
            .backoff(Duration::from_millis(1), Duration::from_millis(1), 2)
    });
    let tell = |lane: &str, outcome| {
        let entry = stage.enqueue_in(lane, lane);
        stage.transport.answer(entry.key().as_str(), Answer::Tell(outcome));
    };
    tell("blocked", DeliveryOutcome::unknown("parked"));
    tell("held", DeliveryOutcome::hold_lane("401"));
    for entry in stage.enqueue_all(3) {
        for _ in 0..2 {
            stage.transport.answer(entry.key().as_str(), Answer::Tell(DeliveryOutcome::retry("503")));
        }
    }
    stage.enqueue_in("blocked", "behind");
    stage.enqueue_in("held", "behind");
    let others = Stage { scope: Scope::new("bob").unwrap(), ..Stage::of(stage.ledger.clone(), |outbox| outbox) };
    others.enqueue_all(3);
    stage
}

/// How often the clock was asked in a second in which nothing happens.
fn asked_in_a_second(clock: &CountingClock) -> u64 {
    thread::sleep(Duration::from_millis(300));
    let before = clock.asked.load(Ordering::Relaxed);
    thread::sleep(Duration::from_secs(1));
    clock.asked.load(Ordering::Relaxed) - before
}

#[test]
fn o11_a_driver_does_not_spin_over_what_is_held_blocked_out_of_budget_or_anothers() {
    let clock = CountingClock::default();
    let stage = stuck(&clock);
    let driver = stage.driver().start().unwrap();
    until("all is stuck", || stage.transport.sent().len() == 6);
    let asked = asked_in_a_second(&clock);
    assert!(driver.is_running());
    driver.stop().unwrap();
    println!("the clock was asked {asked} times");
    assert!(asked < 20, "{asked}");
    assert_eq!(stage.transport.sent().len(), 6);
}

#[test]
fn o11_nor_does_its_future() {
    let clock = CountingClock::default();
    let (stage, stop) = (stuck(&clock), keyledger::Stop::new());
    let asked = thread::scope(|scope| {
        let driver = scope.spawn(|| block_on(stage.async_driver().run(stop.stopped())));
        until("all is stuck", || stage.transport.sent().len() == 6);
        let asked = asked_in_a_second(&clock);
        stop.stop();
        driver.join().unwrap().unwrap();
        asked
    });
    println!("the clock was asked {asked} times");
    assert!(asked < 20, "{asked}");
    assert_eq!(stage.transport.sent().len(), 6);
}

#[test]
fn o11_a_driver_that_is_full_does_not_spin_either() {
    let clock = CountingClock::default();
    let stage = Stage::of(Ledger::builder().clock(clock.clone()).in_memory().unwrap(), |outbox| outbox);
    stage.enqueue_all(20);
    stage.transport.block();
    let driver = stage.driver().in_flight(2).start().unwrap();
    stage.transport.wait_for_sends(2);
    let asked = asked_in_a_second(&clock);
    stage.transport.release();
    driver.stop().unwrap();
    assert!(asked < 20, "{asked}");
}
