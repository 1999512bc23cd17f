//! Cases that broke a promise once, found by somebody who tried to (S3, P7, I1, G2, S9, T3): each failed before its mend.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use keyledger::{
    Begin, Claim, Clock, Decision, Error, ErrorCode, ErrorMeans, Filter, Fingerprint, Janitor, Key, Ledger, Operation,
    RecordView, Resolution, Response, Scope, Settlement, StateName, SystemClock,
};
use keyledger_harness::futures::finish;

static TOP_UP: Operation = Operation::in_ledger("top-up");
static CHARGE: Operation = Operation::repeatable("charge");

/// Far above what anything here takes, far below a test that hangs.
const PATIENCE: Duration = Duration::from_secs(20);

fn begin(operation: &Operation, key: &str) -> Begin {
    Begin::new(operation, &Scope::single(), &Key::new(key).unwrap(), Fingerprint::unchecked())
}

fn acquired(ledger: &Ledger, operation: &Operation, key: &str) -> Claim {
    match ledger.begin_with(&begin(operation, key)).unwrap() {
        Decision::Acquired(claim) => claim,
        other => panic!("{other:?}"),
    }
}

/// Runs `work` while another thread's transaction keeps the commit queue, and lets that go before it returns.
fn while_the_queue_is_held<R>(ledger: &Ledger, work: impl FnOnce() -> R) -> R {
    let (inside, is_inside) = mpsc::channel();
    let (go, may_go) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            ledger.transaction(|_| {
                inside.send(()).unwrap();
                may_go.recv().unwrap();
                Ok::<_, Error>(())
            })
        });
        is_inside.recv().unwrap();
        let done = work();
        go.send(()).unwrap();
        done
    })
}

#[test]
fn s3_a_completion_whose_future_is_dropped_counts_against_a_retry_that_comes_before_it() {
    let ledger = Ledger::in_memory().unwrap();
    let mut claim = acquired(&ledger, &TOP_UP, "a");
    while_the_queue_is_held(&ledger, || {
        drop(claim.complete_with_async(|tx| {
            tx.put("wallet", b"ada", "5")?;
            Ok::<_, Error>(Response::text("done"))
        }));
        drop(claim);
        let retry = ledger.begin_with(&begin(&TOP_UP, "a")).unwrap();
        assert!(matches!(retry, Decision::InProgress(_)), "{retry:?}");
    });
    let retry = ledger.begin_with(&begin(&TOP_UP, "a").wait(PATIENCE)).unwrap();
    assert!(matches!(retry, Decision::Replay(replay) if replay.response == Response::text("done")));
    assert_eq!(ledger.get("wallet", b"ada").unwrap(), Some(b"5".to_vec()));
}

#[test]
fn p7_futures_of_claims_end_after_close() {
    let ledger = Ledger::in_memory().unwrap();
    let (mut one, two) = (acquired(&ledger, &CHARGE, "a"), acquired(&ledger, &CHARGE, "b"));
    finish(ledger.sweep_async(1)).unwrap();
    ledger.close().unwrap();
    thread::sleep(Duration::from_millis(50));
    let code = |error: Error| error.code();
    assert_eq!(finish(one.record_step_async("s", "v")).map_err(code), Err(ErrorCode::Closed));
    let completed = finish(one.complete_with_async(|_| Ok::<_, Error>(Response::empty())));
    assert_eq!(completed.map_err(code), Err(ErrorCode::Closed));
    assert_eq!(
        finish(two.complete_async(Response::empty())).map_err(|error| error.source.code()),
        Err(ErrorCode::Closed)
    );
}

#[test]
fn g2_whatever_is_called_from_inside_a_closure_is_reentrant_and_never_waits_for_itself() {
    let ledger = Ledger::in_memory().unwrap();
    let claim = acquired(&ledger, &CHARGE, "a");
    let inner = ledger.clone();
    let codes = ledger.transaction(move |_| {
        let life = [inner.close(), inner.suspend(), inner.resume(), inner.reopen()];
        let mut codes: Vec<_> = life.into_iter().map(|answer| answer.map_err(|error| error.code())).collect();
        codes.push(finish(claim.complete_async(Response::empty())).map_err(|error| error.source.code()));
        Ok::<_, Error>(codes)
    });
    assert_eq!(codes.unwrap(), vec![Err(ErrorCode::Reentrant); 5]);
}

#[test]
fn s7_work_of_others_that_a_thread_plays_is_not_inside_of_what_that_thread_is_inside_of() {
    let (outer, inner) = (Ledger::in_memory().unwrap(), Ledger::in_memory().unwrap());
    let answer = outer.transaction(|_| {
        let reader = outer.clone();
        // Queued while this thread, which is inside of `outer`, leads the queue of `inner`.
        inner.transaction(|_| {
            let inner = inner.clone();
            let queued =
                thread::spawn(move || {
                    finish(inner.transaction_async(move |_| {
                        Ok::<_, Error>(reader.get("t", b"k").map_err(|error| error.code()))
                    }))
                });
            thread::sleep(Duration::from_millis(100));
            Ok::<_, Error>(queued)
        })
    });
    assert_eq!(answer.unwrap().join().unwrap().unwrap(), Ok(None));
}

#[test]
fn s9_a_claim_that_is_lost_answers_as_begin_would_also_when_the_handler_said_no() {
    static BRIEF: Operation = Operation::repeatable("brief").lease(Duration::from_millis(1));
    let ledger = Ledger::in_memory().unwrap();
    let means = |_: &String| ErrorMeans::Final(Response::text("declined"));
    let answer = ledger.run_with(&begin(&BRIEF, "a"), means, |_| {
        thread::sleep(Duration::from_millis(20));
        acquired(&ledger, &BRIEF, "a").complete(Response::text("charged")).unwrap();
        Err("declined".to_owned())
    });
    assert_eq!(answer.unwrap(), Response::text("charged"));
}

#[test]
fn i2_a_handler_that_has_stored_its_answer_and_then_fails_is_answered_from_what_it_stored() {
    let ledger = Ledger::in_memory().unwrap();
    let key = Key::new("a").unwrap();
    let answer = ledger.run(&CHARGE, &Scope::single(), &key, Fingerprint::unchecked(), |claim| {
        claim.complete_with(|_| Ok::<_, Error>(Response::text("stored"))).unwrap();
        Err("too late".to_owned())
    });
    assert_eq!(answer.unwrap(), Response::text("stored"));
}

#[test]
fn e2_a_step_that_is_refused_is_refused_before_it_runs() {
    let ledger = Ledger::in_memory().unwrap();
    let mut ran = false;
    let mut run = |claim: &mut Claim, name: &str| {
        let step = claim.step::<Error>(name, || {
            ran = true;
            Ok(Vec::new())
        });
        assert!(step.is_err());
    };
    run(&mut acquired(&ledger, &TOP_UP, "a"), "in the ledger");
    let mut claim = acquired(&ledger, &CHARGE, "b");
    run(&mut claim, "");
    claim.complete_with(|_| Ok::<_, Error>(Response::empty())).unwrap();
    run(&mut claim, "after settling");
    assert!(!ran);
}

#[test]
fn t3_a_panic_in_a_recovery_handler_is_reported_and_the_janitor_goes_on() {
    let ledger = Ledger::in_memory().unwrap();
    let claim = acquired(&ledger, &CHARGE, "a");
    let id = claim.key_id().clone();
    drop(claim);
    let (calls, errors) = (AtomicU32::new(0), Arc::new(AtomicU32::new(0)));
    let reported = errors.clone();
    let janitor = Janitor::builder(&ledger)
        .interval(Duration::from_millis(20))
        .on_error(move |_| {
            reported.fetch_add(1, Ordering::SeqCst);
        })
        .recover(&CHARGE, move |_| {
            assert_ne!(calls.fetch_add(1, Ordering::SeqCst), 0, "the first call panics");
            Ok(Settlement::Complete(Response::text("found out")))
        })
        .start()
        .unwrap();
    let until = Instant::now() + PATIENCE;
    while ledger.inspect(&id).unwrap().unwrap().state() != StateName::Completed {
        assert!(Instant::now() < until, "one panic ended the janitor for good");
        thread::yield_now();
    }
    janitor.stop();
    assert_eq!(errors.load(Ordering::SeqCst), 1);
}

#[test]
fn l5_a_janitor_with_an_endless_interval_works_once_and_waits() {
    let ledger = Ledger::in_memory().unwrap();
    let janitor = Janitor::builder(&ledger).interval(Duration::MAX).start().unwrap();
    let until = Instant::now() + PATIENCE;
    while ledger.stats().unwrap().last_sweep.is_none() {
        assert!(Instant::now() < until);
        thread::yield_now();
    }
    janitor.stop();
}

#[test]
fn t5_compact_waits_for_those_who_read() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(folder.path().join("ledger.kl")).unwrap();
    ledger.transaction(|tx| (0..500u32).try_for_each(|row| tx.put("t", &row.to_be_bytes(), vec![7; 100]))).unwrap();
    let (over, readers) = (Arc::new(AtomicU32::new(0)), 3);
    thread::scope(|scope| {
        for _ in 0..readers {
            scope.spawn(|| {
                while over.load(Ordering::SeqCst) == 0 {
                    assert_eq!(ledger.scan("t", b"", None, 1000).unwrap().len(), 500);
                }
            });
        }
        let compacted: Vec<_> = (0..10).map(|_| ledger.compact(false).map(drop)).collect();
        over.store(1, Ordering::SeqCst);
        assert!(compacted.iter().all(Result::is_ok), "{compacted:?}");
    });
}

#[test]
fn t5_a_lapsed_claim_is_nobodys_and_does_not_keep_compact_from_starting() {
    static MAIL: Operation = Operation::at_most_once("mail");
    let ledger = Ledger::in_memory().unwrap();
    let refused = |ledger: &Ledger| ledger.compact(false).map(drop).map_err(|error| error.code());
    for (operation, key) in [(&CHARGE, "a"), (&MAIL, "b"), (&TOP_UP, "c")] {
        let claim = acquired(&ledger, operation, key);
        assert_eq!(refused(&ledger), Err(ErrorCode::Unavailable), "{operation:?}");
        drop(claim);
        assert_eq!(refused(&ledger), Ok(()), "{operation:?}");
    }
    // Lapsed ones in any number do not hide one that is live.
    let live = acquired(&ledger, &CHARGE, "live");
    for key in 0..300 {
        drop(acquired(&ledger, &CHARGE, &format!("lapsed {key}")));
    }
    assert_eq!(refused(&ledger), Err(ErrorCode::Unavailable));
    live.complete(Response::empty()).unwrap();
    assert_eq!(refused(&ledger), Ok(()));
}

/// A clock that does something once, when the time is next asked for.
#[derive(Clone, Default)]
struct Prompted(Arc<Mutex<Option<Act>>>);

type Act = Box<dyn FnOnce() + Send>;

impl Clock for Prompted {
    fn wall_ms(&self) -> u64 {
        let prompt = self.0.lock().unwrap().take();
        if let Some(act) = prompt {
            act();
        }
        SystemClock.wall_ms()
    }

    fn monotonic_ms(&self) -> u64 {
        SystemClock.monotonic_ms()
    }
}

#[test]
fn e2_a_page_shows_a_key_id_once_although_its_claim_is_completed_meanwhile() {
    let prompted = Prompted::default();
    let ledger = Ledger::builder().clock(prompted.clone()).in_memory().unwrap();
    let claim = acquired(&ledger, &TOP_UP, "a");
    *prompted.0.lock().unwrap() = Some(Box::new(move || claim.complete(Response::empty()).unwrap()));
    let page = ledger.list(&Filter::all()).unwrap();
    assert_eq!(page.records.iter().map(RecordView::state).collect::<Vec<_>>(), [StateName::Completed]);
}

#[test]
fn e2_a_page_never_shows_a_key_id_twice_while_others_complete_theirs() {
    let ledger = Ledger::in_memory().unwrap();
    let over = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for key in 0..3000 {
                acquired(&ledger, &TOP_UP, &key.to_string()).complete(Response::empty()).unwrap();
            }
            over.store(1, Ordering::SeqCst);
        });
        while over.load(Ordering::SeqCst) == 0 {
            let page = ledger.list(&Filter::all().limit(5000)).unwrap();
            let ids: HashSet<_> = page.records.iter().map(RecordView::key_id).collect();
            assert_eq!(ids.len(), page.records.len(), "a key id is there twice");
        }
    });
}

#[test]
fn l5_a_page_of_no_records_is_an_invalid_argument_and_not_an_empty_answer() {
    let ledger = Ledger::in_memory().unwrap();
    acquired(&ledger, &CHARGE, "a").park("who knows").unwrap();
    let none = Filter::all().limit(0);
    assert_eq!(ledger.list(&none).map_err(|error| error.code()).err(), Some(ErrorCode::InvalidArgument));
    let resolved = ledger.resolve_many(&none, &Resolution::NotDone, "ada", "");
    assert_eq!(resolved.map_err(|error| error.code()), Err(ErrorCode::InvalidArgument));
    assert_eq!(ledger.resolve_many(&Filter::all().limit(1), &Resolution::NotDone, "ada", "").unwrap(), 1);
}
