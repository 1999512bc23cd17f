//! A duplicate that waits (P4), and the futures beside the blocking calls (P1): real threads, the system's clock.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use keyledger::{
    Begin, Claim, Decision, Effect, Error, Fingerprint, Key, Ledger, Operation, Response, Scope, StateName,
};

static CHARGE: Operation = Operation::repeatable("charge").lease(Duration::from_mins(1));
static TOP_UP: Operation = Operation::in_ledger("top-up").lease(Duration::from_mins(1));

/// Far above what anything here takes, far below a test that hangs.
const PATIENCE: Duration = Duration::from_secs(20);

fn begin(operation: &Operation, key: &Key) -> Begin {
    Begin::new(operation, &Scope::single(), key, Fingerprint::unchecked())
}

fn acquired(decision: Decision) -> Claim {
    match decision {
        Decision::Acquired(claim) => claim,
        other => panic!("{other:?}"),
    }
}

fn owner(ledger: &Ledger, operation: &Operation, key: &Key) -> Claim {
    acquired(ledger.begin_with(&begin(operation, key)).unwrap())
}

/// Lets a waiter get to where it waits.
fn a_moment() {
    thread::sleep(Duration::from_millis(50));
}

/// What a waiter is told when `end` happens to the owner's claim meanwhile, and how long it took.
fn told_after(operation: &'static Operation, end: impl FnOnce(&Ledger, Claim)) -> (Decision, Duration) {
    let (ledger, key) = (Ledger::in_memory().unwrap(), Key::random());
    let claim = owner(&ledger, operation, &key);
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let began = Instant::now();
            (ledger.begin_with(&begin(operation, &key).wait(PATIENCE)).unwrap(), began.elapsed())
        });
        a_moment();
        end(&ledger, claim);
        waiter.join().unwrap()
    })
}

#[test]
fn p4_a_waiter_is_woken_by_settling_and_is_told_the_answer() {
    for operation in [&CHARGE, &TOP_UP] {
        let (decision, took) = told_after(operation, |_, claim| claim.complete(Response::text("done")).unwrap());
        assert!(matches!(decision, Decision::Replay(replay) if replay.response == Response::text("done")));
        assert!(took < PATIENCE / 2, "{took:?}");
    }
}

#[test]
fn p4_a_waiter_is_woken_by_release_and_by_a_drop_and_is_granted_the_claim() {
    for operation in [&CHARGE, &TOP_UP] {
        let (decision, took) = told_after(operation, |_, claim| claim.release().unwrap());
        let _ = acquired(decision);
        let (decision, took_too) = told_after(operation, |_, claim| drop(claim));
        assert_eq!(acquired(decision).attempt(), 2);
        assert!(took.max(took_too) < PATIENCE / 2);
    }
}

#[test]
fn p4_a_waiter_is_woken_by_forget_and_by_parking() {
    let (decision, took) = told_after(&CHARGE, |ledger, claim| {
        ledger.forget(claim.key_id(), true).unwrap();
    });
    assert_eq!(acquired(decision).attempt(), 1);
    let (decision, took_too) = told_after(&CHARGE, |_, claim| claim.park("who knows").unwrap());
    assert!(matches!(decision, Decision::Parked(_)));
    assert!(took.max(took_too) < PATIENCE / 2);
}

#[test]
fn p4_a_waiter_is_woken_by_the_end_of_the_lease() {
    static SHORT: Operation = Operation::repeatable("short").lease(Duration::from_millis(150));
    let (ledger, key) = (Ledger::in_memory().unwrap(), Key::random());
    let _claim = owner(&ledger, &SHORT, &key);
    let began = Instant::now();
    let next = acquired(ledger.begin_with(&begin(&SHORT, &key).wait(PATIENCE)).unwrap());
    assert_eq!(next.attempt(), 2);
    assert!(began.elapsed() < PATIENCE / 2);
}

#[test]
fn p4_a_wait_that_is_over_answers_in_progress() {
    let (ledger, key) = (Ledger::in_memory().unwrap(), Key::random());
    let _claim = owner(&ledger, &CHARGE, &key);
    let began = Instant::now();
    let decision = ledger.begin_with(&begin(&CHARGE, &key).wait(Duration::from_millis(60))).unwrap();
    assert!(matches!(decision, Decision::InProgress(_)));
    assert!(began.elapsed() >= Duration::from_millis(60));
}

#[test]
fn p7_closing_and_suspending_wake_waiters() {
    type LetGo = fn(&Ledger) -> Result<(), Error>;
    let ways: [(LetGo, &str); 2] = [(Ledger::close, "closed"), (Ledger::suspend, "suspended")];
    for (let_go, code) in ways {
        let (ledger, key) = (Ledger::in_memory().unwrap(), Key::random());
        let _claim = owner(&ledger, &CHARGE, &key);
        thread::scope(|scope| {
            let waiter = scope.spawn(|| ledger.begin_with(&begin(&CHARGE, &key).wait(PATIENCE)));
            a_moment();
            let_go(&ledger).unwrap();
            assert_eq!(waiter.join().unwrap().unwrap_err().code().as_str(), code);
        });
    }
}

#[test]
fn p4_of_many_waiters_one_is_granted_and_the_others_go_on_waiting() {
    const WAITERS: usize = 16;
    let (ledger, key, running, runs) =
        (Ledger::in_memory().unwrap(), Key::random(), AtomicUsize::new(0), AtomicUsize::new(0));
    let claim = owner(&ledger, &CHARGE, &key);
    thread::scope(|scope| {
        for _ in 0..WAITERS {
            scope.spawn(|| {
                let claim = acquired(ledger.begin_with(&begin(&CHARGE, &key).wait(PATIENCE)).unwrap());
                assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0, "I1: one at a time");
                runs.fetch_add(1, Ordering::SeqCst);
                running.fetch_sub(1, Ordering::SeqCst);
                claim.release().unwrap();
            });
        }
        a_moment();
        claim.release().unwrap();
    });
    assert_eq!(runs.load(Ordering::SeqCst), WAITERS);
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The least of executors: no runtime is needed (P1).
fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn p1_a_day_in_futures_on_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(folder.path().join("ledger.kl")).unwrap();
    block_on(async {
        for operation in [&CHARGE, &TOP_UP] {
            let key = Key::random();
            let mut claim = acquired(ledger.begin_with_async(begin(operation, &key)).await.unwrap());
            if operation.effect() == Effect::Repeatable {
                claim.record_step_async("asked", "yes").await.unwrap();
                claim.complete_async(Response::text("done")).await.unwrap();
            } else {
                let stored = claim.complete_with_async(|tx| {
                    tx.put("wallet", b"ada", "5")?;
                    Ok::<_, Error>(Response::text("done"))
                });
                assert_eq!(stored.await.unwrap(), Response::text("done"));
            }
            let again = ledger.begin_with_async(begin(operation, &key)).await.unwrap();
            assert!(matches!(again, Decision::Replay(replay) if replay.response == Response::text("done")));
        }
        let row = ledger.transaction_async(|tx| tx.get("wallet", b"ada")).await.unwrap();
        assert_eq!(row, Some(b"5".to_vec()));
        let swept = ledger.sweep_async(10).await.unwrap();
        assert_eq!(swept.removed + swept.tombstoned, 0);
        let refused: Result<(), Error> = ledger.transaction_async(|tx| tx.insert_unique("wallet", b"ada", "6")).await;
        assert_eq!(refused.unwrap_err().code().as_str(), "unique_violation");
    });
    ledger.close().unwrap();
}

#[test]
fn p4_a_future_waits_too_and_is_woken_by_settling_and_by_time() {
    let (ledger, key) = (Ledger::in_memory().unwrap(), Key::random());
    let claim = owner(&ledger, &CHARGE, &key);
    let settler = thread::spawn(move || {
        a_moment();
        claim.complete(Response::text("done")).unwrap();
    });
    let waited = block_on(ledger.begin_with_async(begin(&CHARGE, &key).wait(PATIENCE))).unwrap();
    assert!(matches!(waited, Decision::Replay(_)));
    settler.join().unwrap();
    let other = Key::random();
    let _claim = owner(&ledger, &CHARGE, &other);
    let waited = block_on(ledger.begin_with_async(begin(&CHARGE, &other).wait(Duration::from_millis(60)))).unwrap();
    assert!(matches!(waited, Decision::InProgress(_)));
}

/// Polls a future once and drops it.
fn poll_and_drop<F: Future>(future: F) {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let _ = pin!(future).poll(&mut Context::from_waker(&waker));
}

#[test]
fn a_begin_whose_future_is_dropped_releases_the_claim_that_it_was_granted() {
    let ledger = Ledger::in_memory().unwrap();
    for operation in [&CHARGE, &TOP_UP] {
        let key = Key::random();
        poll_and_drop(ledger.begin_with_async(begin(operation, &key)));
        let next = acquired(ledger.begin_with(&begin(operation, &key).wait(PATIENCE)).unwrap());
        next.complete(Response::empty()).unwrap();
    }
}

#[test]
fn s3_a_settlement_whose_future_is_dropped_is_stored_all_the_same() {
    let (ledger, key) = (Ledger::in_memory().unwrap(), Key::random());
    let claim = owner(&ledger, &CHARGE, &key);
    let id = claim.key_id().clone();
    drop(claim.complete_async(Response::text("done")));
    let until = Instant::now() + PATIENCE;
    while ledger.inspect(&id).unwrap().unwrap().state() != StateName::Completed {
        assert!(Instant::now() < until, "the settlement was lost");
        thread::yield_now();
    }
}

#[test]
fn p1_dropping_the_last_handle_lets_go_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.kl");
    let ledger = Ledger::open(&path).unwrap();
    // The thread that leads for futures must not keep the file.
    block_on(ledger.transaction_async(|tx| tx.put("t", b"k", "v"))).unwrap();
    drop(ledger);
    let until = Instant::now() + PATIENCE;
    let again = loop {
        match Ledger::open(&path) {
            Ok(ledger) => break ledger,
            Err(Error::AlreadyOpen) if Instant::now() < until => thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(again.get("t", b"k").unwrap(), Some(b"v".to_vec()));
}
