//! What goes on without a caller who waits for it: the janitor (T3, T6), and settling whose caller has gone (S3).

use keyledger::{
    Claim, Decision, Fingerprint, Janitor, Key, KeyId, Ledger, ManualClock, Operation, Response, Scope, Settlement,
    StateName,
};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

const LEASE: Duration = Duration::from_secs(30);
const RETENTION: Duration = Duration::from_hours(1);
/// Far more than anything here takes.
const PATIENCE: Duration = Duration::from_mins(1);

static CHARGE: Operation = Operation::repeatable("charge").lease(LEASE).retention(RETENTION);

fn ledger() -> (Ledger, ManualClock) {
    let clock = ManualClock::new(1_800_000_000_000);
    (Ledger::builder().clock(clock.clone()).in_memory().expect("a ledger"), clock)
}

fn claim(ledger: &Ledger, key: &str) -> Claim {
    let key = Key::new(key).expect("a key");
    match ledger.begin(&CHARGE, &Scope::single(), &key, Fingerprint::unchecked()).expect("a decision") {
        Decision::Acquired(claim) => claim,
        other => panic!("not granted: {other:?}"),
    }
}

fn state(ledger: &Ledger, id: &KeyId) -> Option<StateName> {
    ledger.inspect(id).expect("a look").map(|record| record.state())
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn s3_a_settling_whose_future_is_dropped_unpolled_or_in_the_middle_is_done() {
    let (ledger, _) = ledger();
    for polled in [false, true] {
        let claim = claim(&ledger, if polled { "polled" } else { "unpolled" });
        let id = claim.key_id().clone();
        {
            let mut settling = pin!(claim.complete_async(Response::text("done")));
            if polled {
                let _ = settling.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            }
        }
        wait_until("the outcome is stored", || state(&ledger, &id) == Some(StateName::Completed));
    }
}

#[test]
fn t3_a_janitor_with_a_thread_sweeps_a_batch_at_a_time_until_nothing_is_due() {
    let (ledger, clock) = ledger();
    for key in ["a", "b", "c"] {
        claim(&ledger, key).complete(Response::empty()).expect("it completes");
    }
    clock.advance(RETENTION);
    let janitor = Janitor::builder(&ledger).interval(PATIENCE).batch(1).start().expect("a janitor");
    // One a batch and a minute between rounds: all three in time only because a round goes on while more is due.
    wait_until("all are swept", || ledger.stats().expect("stats").tombstones == 3);
    janitor.stop();
}

#[test]
fn t3_a_step_that_fails_is_told_to_a_callback_and_tried_again() {
    let (ledger, _) = ledger();
    let (told, heard) = channel();
    let tell = move |error: &keyledger::Error| told.send(error.code().as_str()).unwrap_or_default();
    ledger.suspend().expect("it is suspended");
    let janitor =
        Janitor::builder(&ledger).interval(Duration::from_millis(1)).on_error(tell).start().expect("a janitor");
    for _ in 0..2 {
        assert_eq!(heard.recv_timeout(PATIENCE), Ok("suspended"));
    }
    janitor.stop();
}

#[test]
fn t3_in_quiet_hours_nothing_is_swept() {
    let (ledger, clock) = ledger();
    claim(&ledger, "a").complete(Response::empty()).expect("it completes");
    clock.advance(RETENTION);
    let quiet = Janitor::builder(&ledger).quiet(|_| true).build().expect("a janitor");
    assert_eq!(quiet.tick().expect("a step").swept, None);
    assert_eq!(ledger.stats().expect("stats").tombstones, 0);
}

#[test]
fn t3_a_recovery_handler_settles_what_its_owner_lost() {
    let (ledger, clock) = ledger();
    let lost = claim(&ledger, "a");
    let id = lost.key_id().clone();
    std::mem::forget(lost);
    clock.advance(LEASE);
    let settle = |_: &mut Claim| Ok(Settlement::Complete(Response::text("it had happened")));
    let janitor = Janitor::builder(&ledger).recover(&CHARGE, settle).build().expect("a janitor");
    assert_eq!(janitor.tick().expect("a step").recovered, 1);
    assert_eq!(state(&ledger, &id), Some(StateName::Completed));
}

#[test]
fn t6_a_tick_does_one_bounded_step_and_says_when_to_call_again() {
    let (ledger, clock) = ledger();
    for key in ["a", "b"] {
        claim(&ledger, key).complete(Response::empty()).expect("it completes");
    }
    clock.advance(RETENTION);
    let interval = Duration::from_secs(5);
    let janitor = Janitor::builder(&ledger).interval(interval).batch(1).build().expect("a janitor");
    let first = janitor.tick().expect("a step");
    assert_eq!((first.swept.map(|swept| swept.tombstoned), first.next_in), (Some(1), Duration::ZERO));
    let second = janitor.tick().expect("a step");
    assert_eq!((second.swept.map(|swept| swept.tombstoned), second.next_in), (Some(1), interval));
    let third = janitor.tick().expect("a step");
    assert_eq!((third.swept.map(|swept| swept.tombstoned), third.next_in), (Some(0), interval));
}

#[test]
fn t3_a_handler_that_fails_is_asked_about_each_record_once_in_a_step() {
    let (ledger, clock) = ledger();
    for operation in [Operation::repeatable("charge").lease(LEASE), Operation::at_most_once("mail").lease(LEASE)] {
        for key in ["1", "2", "3"] {
            let key = Key::new(key).expect("a key");
            drop(ledger.begin(&operation, &Scope::single(), &key, Fingerprint::unchecked()).expect("a decision"));
        }
        clock.advance(LEASE);
        let (tell, asked) = channel();
        let failing = move |claim: &mut Claim| {
            tell.send(claim.key_id().key().as_str().to_owned()).expect("the test listens");
            Err("the bank is closed".into())
        };
        let janitor = Janitor::builder(&ledger).recover(&operation, failing).build().expect("a janitor");
        for _ in 0..2 {
            assert_eq!(janitor.tick().expect("a step").recovered, 3);
            let mut keys: Vec<String> = asked.try_iter().collect();
            keys.sort();
            assert_eq!(keys, ["1", "2", "3"]);
            clock.advance(LEASE);
        }
    }
}

#[test]
fn t3_records_whose_recovery_always_fails_keep_no_others_from_their_turn() {
    let (ledger, clock) = ledger();
    for operation in [Operation::repeatable("charge").lease(LEASE), Operation::at_most_once("mail").lease(LEASE)] {
        for key in ["1", "2", "3", "4", "5"] {
            let key = Key::new(key).expect("a key");
            drop(ledger.begin(&operation, &Scope::single(), &key, Fingerprint::unchecked()).expect("a decision"));
            clock.advance(Duration::from_millis(1));
        }
        clock.advance(LEASE);
        let (tell, asked) = channel();
        let failing = move |claim: &mut Claim| {
            tell.send(claim.key_id().key().as_str().to_owned()).expect("the test listens");
            Err("nobody knows it".into())
        };
        let janitor = Janitor::builder(&ledger).batch(2).recover(&operation, failing).build().expect("a janitor");
        let mut keys = Vec::new();
        for _ in 0..3 {
            assert_eq!(janitor.tick().expect("a step").recovered, 2);
            keys.extend(asked.try_iter());
            clock.advance(Duration::from_millis(1));
        }
        assert_eq!(keys[..5], ["1", "2", "3", "4", "5"], "{}", operation.name());
    }
}

#[test]
fn t6_a_batch_whose_every_call_fails_is_not_asked_for_again_at_once() {
    let (ledger, clock) = ledger();
    for key in ["1", "2", "3"] {
        std::mem::forget(claim(&ledger, key));
    }
    clock.advance(LEASE);
    let is_open = Arc::new(AtomicBool::new(false));
    let bank = is_open.clone();
    let ask = move |_: &mut Claim| {
        if !bank.load(Ordering::Relaxed) {
            return Err("the bank is closed".into());
        }
        Ok(Settlement::Complete(Response::empty()))
    };
    let interval = Duration::from_secs(5);
    let janitor =
        Janitor::builder(&ledger).interval(interval).batch(1).recover(&CHARGE, ask).build().expect("a janitor");
    assert_eq!(janitor.tick().expect("a step").next_in, interval);
    is_open.store(true, Ordering::Relaxed);
    clock.advance(LEASE);
    assert_eq!(janitor.tick().expect("a step").next_in, Duration::ZERO);
}
