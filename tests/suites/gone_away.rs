//! Whoever asked for a settlement is gone, or its commit failed: what was to be stored is not lost, and nobody waits for a lease
//! that nobody holds (S2, S3, S6, P6).

use std::future::Future;
use std::sync::{Arc, mpsc};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use keyledger::{
    Begin, Claim, Decision, Error, ErrorCode, Fingerprint, Key, Ledger, Operation, Response, Scope, StateName,
};
use keyledger_harness::disk::FakeDisk;
use keyledger_harness::futures::finish;

static TOP_UP: Operation = Operation::in_ledger("top-up");
static CHARGE: Operation = Operation::repeatable("charge");
static MAIL: Operation = Operation::at_most_once("mail");

/// Far above what anything here takes, far below a test that hangs.
const PATIENCE: Duration = Duration::from_secs(20);

fn begin(operation: &Operation, key: &str) -> Begin {
    Begin::new(operation, &Scope::single(), &Key::new(key).unwrap(), Fingerprint::unchecked())
}

fn ask(ledger: &Ledger, operation: &Operation) -> Decision {
    ledger.begin_with(&begin(operation, "a")).unwrap()
}

fn acquired(decision: Decision) -> Claim {
    match decision {
        Decision::Acquired(claim) => claim,
        other => panic!("{other:?}"),
    }
}

fn replayed(decision: Decision) -> Response {
    match decision {
        Decision::Replay(replay) => replay.response,
        other => panic!("{other:?}"),
    }
}

/// Runs `work` while a transaction that writes a row keeps the commit queue: what `work` queues is in that commit.
fn in_one_commit<R>(ledger: &Ledger, work: impl FnOnce() -> R) -> (R, Result<(), Error>) {
    let (inside, is_inside) = mpsc::channel();
    let (go, may_go) = mpsc::channel::<()>();
    // `go` goes with the closure: should `work` panic, the leader is let go.
    thread::scope(move |scope| {
        let leader = scope.spawn(move || {
            ledger.transaction(|tx| {
                inside.send(()).unwrap();
                may_go.recv().ok();
                tx.put("t", b"k", "v")
            })
        });
        is_inside.recv().unwrap();
        let done = work();
        go.send(()).unwrap();
        (done, leader.join().unwrap())
    })
}

/// A ledger whose disk fails when it is told to.
fn on_a_bad_disk() -> (Arc<FakeDisk>, Ledger) {
    let disk = Arc::new(FakeDisk::new());
    let ledger = Ledger::builder().open_disk(disk.clone()).unwrap();
    (disk, ledger)
}

fn reopen(disk: &FakeDisk, ledger: &Ledger) {
    disk.heal();
    ledger.reopen().unwrap();
}

fn lose_the_sync(disk: &FakeDisk, ended: &Result<(), Error>) {
    assert!(disk.has_failed());
    assert_eq!(ended.as_ref().map_err(Error::code), Err(ErrorCode::Ambiguous));
}

#[test]
fn s3_an_outcome_told_to_a_suspended_ledger_by_a_future_that_is_dropped_is_stored_when_it_resumes() {
    for operation in [&CHARGE, &MAIL] {
        let ledger = Ledger::in_memory().unwrap();
        let claim = acquired(ask(&ledger, operation));
        ledger.suspend().unwrap();
        drop(claim.complete_async(Response::text("sent")));
        ledger.resume().unwrap();
        assert_eq!(replayed(ask(&ledger, operation)), Response::text("sent"));
    }
}

#[test]
fn s3_a_claim_that_a_suspended_ledger_gave_back_is_its_owners_to_settle() {
    let ledger = Ledger::in_memory().unwrap();
    let claim = acquired(ask(&ledger, &CHARGE));
    ledger.suspend().unwrap();
    let refused = finish(claim.complete_async(Response::text("first"))).unwrap_err();
    assert_eq!(refused.source.code(), ErrorCode::Suspended);
    ledger.resume().unwrap();
    refused.claim.fail(Response::text("second")).unwrap();
    assert_eq!(replayed(ask(&ledger, &CHARGE)), Response::text("second"));
}

#[test]
fn p6_a_volatile_reservation_is_over_with_suspend_and_so_is_the_outcome_told_to_it_later() {
    let ledger = Ledger::in_memory().unwrap();
    let claim = acquired(ask(&ledger, &TOP_UP));
    ledger.suspend().unwrap();
    drop(claim.complete_async(Response::text("credited")));
    ledger.resume().unwrap();
    assert_eq!(acquired(ask(&ledger, &TOP_UP)).attempt(), 1);
}

#[test]
fn p6_a_claim_whose_begin_went_away_while_suspended_is_released_on_resume() {
    for operation in [&CHARGE, &MAIL] {
        let ledger = Ledger::in_memory().unwrap();
        let mut going = Box::pin(ledger.begin_with_async(begin(operation, "a")));
        // Polled once while the queue is kept: it is granted by the commit that follows, and nobody is told of that.
        let (polled, ended) =
            in_one_commit(&ledger, || going.as_mut().poll(&mut Context::from_waker(Waker::noop())).map(drop));
        ended.unwrap();
        assert!(polled.is_pending(), "no grant is before its commit");
        assert_eq!(ledger.stats().unwrap().in_progress, 1);
        ledger.suspend().unwrap();
        drop(going);
        ledger.resume().unwrap();
        assert_eq!(acquired(ask(&ledger, operation)).attempt(), 2, "its handler cannot have run");
    }
}

#[test]
fn s3_an_outcome_whose_commit_failed_with_nobody_left_to_hear_of_it_is_stored_when_the_ledger_reopens() {
    let (disk, ledger) = on_a_bad_disk();
    let claim = acquired(ask(&ledger, &MAIL));
    let ((), ended) = in_one_commit(&ledger, || {
        drop(claim.complete_async(Response::text("sent")));
        disk.stop_at_sync(1);
    });
    lose_the_sync(&disk, &ended);
    reopen(&disk, &ledger);
    assert_eq!(replayed(ask(&ledger, &MAIL)), Response::text("sent"));
}

#[test]
fn s2_a_completion_that_said_no_with_nobody_left_to_hear_of_it_leaves_no_claim_that_nobody_holds() {
    let ledger = Ledger::in_memory().unwrap();
    let mut claim = acquired(ask(&ledger, &CHARGE));
    drop(claim.complete_with_async(|_| Err(Error::NotFound("the order".into()))));
    drop(claim);
    assert_eq!(acquired(ledger.begin_with(&begin(&CHARGE, "a").wait(PATIENCE)).unwrap()).attempt(), 2);
}

#[test]
fn s3_a_claim_whose_completion_was_dropped_may_still_be_settled_and_is_told_what_was_stored() {
    let ledger = Ledger::in_memory().unwrap();
    let mut claim = acquired(ask(&ledger, &CHARGE));
    drop(claim.complete_with_async(|_| Ok::<_, Error>(Response::text("stored"))));
    let late = claim.complete(Response::text("another")).unwrap_err();
    assert_eq!(late.source.code(), ErrorCode::ClaimLost);
    assert_eq!(replayed(ask(&ledger, &CHARGE)), Response::text("stored"));

    let key = Key::new("b").unwrap();
    let answer = ledger.run(&CHARGE, &Scope::single(), &key, Fingerprint::unchecked(), |claim| {
        drop(claim.complete_with_async(|_| Ok::<_, Error>(Response::text("stored"))));
        Ok::<_, Error>(Response::text("another"))
    });
    assert_eq!(answer.unwrap(), Response::text("stored"), "I2: what was stored is what everyone is told");
}

#[test]
fn s6_a_volatile_claim_whose_release_failed_is_as_it_was() {
    let (disk, ledger) = on_a_bad_disk();
    let claim = acquired(ask(&ledger, &TOP_UP));
    let (releasing, ended) = in_one_commit(&ledger, || {
        let releasing = claim.release_async();
        disk.stop_at_sync(1);
        releasing
    });
    lose_the_sync(&disk, &ended);
    let given_back = finish(releasing).unwrap_err();
    assert_eq!(given_back.source.code(), ErrorCode::Ambiguous);
    reopen(&disk, &ledger);
    assert!(matches!(ask(&ledger, &TOP_UP), Decision::InProgress(_)), "it was not released");
    given_back.claim.complete(Response::text("credited")).unwrap();
}

#[test]
fn s6_a_volatile_claim_that_a_failed_commit_was_to_forget_is_as_it_was() {
    let (disk, ledger) = on_a_bad_disk();
    let claim = acquired(ask(&ledger, &TOP_UP));
    let (forgetting, ended) = in_one_commit(&ledger, || {
        let forgetting = ledger.forget_async(claim.key_id(), true);
        disk.stop_at_sync(1);
        forgetting
    });
    lose_the_sync(&disk, &ended);
    assert_eq!(finish(forgetting).map_err(|error| error.code()), Err(ErrorCode::Ambiguous));
    reopen(&disk, &ledger);
    assert!(matches!(ask(&ledger, &TOP_UP), Decision::InProgress(_)), "it was not forgotten");
    claim.complete(Response::text("credited")).unwrap();
}

#[test]
fn i1_what_follows_in_the_same_commit_meets_the_claim_as_released_or_forgotten() {
    let ledger = Ledger::in_memory().unwrap();
    let claim = acquired(ask(&ledger, &TOP_UP));
    let (id, fence) = (claim.key_id().clone(), claim.fence());
    let settlement = keyledger::Settlement::Complete(Response::text("late"));
    let ((forgetting, late, next), ended) = in_one_commit(&ledger, || {
        let forgetting = ledger.forget_async(&id, true);
        let late = ledger.settle_async(&id, fence, settlement);
        let mut next = Box::pin(ledger.begin_many_async(vec![begin(&TOP_UP, "a")]));
        assert!(next.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        (forgetting, late, next)
    });
    ended.unwrap();
    assert_eq!(finish(forgetting).unwrap().unsettled, 1);
    assert_eq!(finish(late).map_err(|error| error.code()), Err(ErrorCode::ClaimLost));
    let next = acquired(finish(next).unwrap().remove(0));
    assert_eq!((next.attempt(), next.fence() > fence), (1, true));
    drop(claim);
    assert!(!ledger.inspect(&id).unwrap().unwrap().is_lapsed(), "the old claim's object ends nothing of the new one");
    next.complete(Response::text("credited")).unwrap();
    assert_eq!(ledger.inspect(&id).unwrap().unwrap().state(), StateName::Completed);
}

#[test]
fn s2_what_is_released_twice_is_released_once() {
    let ledger = Ledger::in_memory().unwrap();
    let claim = acquired(ask(&ledger, &TOP_UP));
    let (id, fence) = (claim.key_id().clone(), claim.fence());
    claim.release().unwrap();
    let again = ledger.settle(&id, fence, keyledger::Settlement::Release);
    assert_eq!(again.map_err(|error| error.code()), Err(ErrorCode::ClaimLost), "there is no record that says so");
}
