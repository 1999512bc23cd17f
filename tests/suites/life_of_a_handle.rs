//! Threads that suspend, resume, reopen and close one handle at once: one after the other, and whoever works meanwhile is told no
//! more than is so (I1, I5, P6, P7).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

use keyledger::{Begin, Claim, Decision, Error, Fingerprint, Key, Ledger, Operation, Result, Scope};

/// How many threads resume, or reopen, at once.
const THREADS: usize = 4;
const ROUNDS: u64 = 100;
const HELD: u64 = 30_000;
/// Far more than it takes: a thread that is not done by then never will be.
const DEADLOCK_AFTER: Duration = Duration::from_mins(1);

static WALLET: Operation = Operation::in_ledger("wallet");

fn begin(ledger: &Ledger, key: u64) -> Result<Decision> {
    ledger.begin(&WALLET, &Scope::single(), &Key::new(key.to_string()).unwrap(), Fingerprint::unchecked())
}

fn claim_of(decision: Decision) -> Option<Claim> {
    if let Decision::Acquired(claim) = decision { Some(claim) } else { None }
}

fn file_in(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("ledger.kl")
}

/// What `work` gives in each of so many threads that start together.
fn together<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(threads);
    thread::scope(|scope| {
        let run = |number| {
            let (start, work) = (&start, &work);
            scope.spawn(move || {
                start.wait();
                work(number)
            })
        };
        let running: Vec<_> = (0..threads).map(run).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Ends the whole program if `work` hangs.
fn without_deadlock(work: impl FnOnce()) {
    let (done, is_done) = channel::<()>();
    thread::scope(|threads| {
        threads.spawn(move || {
            if is_done.recv_timeout(DEADLOCK_AFTER) == Err(RecvTimeoutError::Timeout) {
                eprintln!("threads hang after {DEADLOCK_AFTER:?}");
                std::process::abort();
            }
        });
        work();
        drop(done);
    });
}

/// Has several threads open one ledger again at once, round after round, and work: the fences of their claims.
fn no_fence_twice(before: impl Fn(&Ledger), open_again: impl Fn(&Ledger) -> Result<()> + Sync) {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(file_in(&folder)).unwrap();
    let (next_key, fences) = (AtomicU64::new(0), Mutex::new(BTreeSet::new()));
    for round in 0..ROUNDS {
        before(&ledger);
        together(THREADS, |_| {
            open_again(&ledger).unwrap();
            for _ in 0..3 {
                let key = next_key.fetch_add(1, Ordering::Relaxed);
                let claim = claim_of(begin(&ledger, key).unwrap()).expect("the key is new");
                let is_new = fences.lock().unwrap().insert(claim.fence());
                assert!(is_new, "I5: fence {} was given out before round {round} ended", claim.fence());
            }
        });
    }
}

#[test]
fn i5_threads_that_resume_at_once_get_no_fence_twice() {
    no_fence_twice(|ledger| ledger.suspend().unwrap(), Ledger::resume);
}

#[test]
fn i5_threads_that_reopen_at_once_get_no_fence_twice() {
    no_fence_twice(|_| (), Ledger::reopen);
}

/// Claims that were suspended with the ledger and are held still, so that looking at all of them takes a while.
fn many_held(ledger: &Ledger) -> Vec<Claim> {
    let begin = |number: u64| {
        let key = Key::new(format!("held {number}")).unwrap();
        Begin::new(&WALLET, &Scope::single(), &key, Fingerprint::unchecked())
    };
    let begins: Vec<Begin> = (0..HELD).map(begin).collect();
    ledger.begin_many(&begins).unwrap().into_iter().filter_map(claim_of).collect()
}

#[test]
fn i1_p6_of_threads_that_resume_at_once_and_want_one_key_one_gets_it() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(file_in(&folder)).unwrap();
    let held = many_held(&ledger);
    for round in 0..ROUNDS / 3 {
        ledger.suspend().unwrap();
        let claims: Vec<Claim> = together(4 * THREADS, |number| {
            // One after the other, so that some come while another one is just about to be done.
            thread::sleep(Duration::from_micros(300) * u32::try_from(number).unwrap());
            ledger.resume().unwrap();
            (0..5).filter_map(|_| claim_of(begin(&ledger, round).unwrap())).collect::<Vec<_>>()
        })
        .into_iter()
        .flatten()
        .collect();
        assert_eq!(claims.len(), 1, "I1: claims of one key in round {round}");
        for claim in claims {
            claim.release().expect("no suspend came after it was granted");
        }
    }
    drop(held);
}

#[test]
fn p7_what_was_closed_stays_closed_though_a_resume_comes_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = file_in(&folder);
    for round in 0..3 * ROUNDS {
        let ledger = Ledger::open(&file).unwrap();
        ledger.suspend().unwrap();
        together(2, |number| {
            if number == 0 {
                // It may come after the end.
                let resumed = ledger.resume();
                assert!(matches!(resumed, Ok(()) | Err(Error::Closed)), "{resumed:?}");
            } else {
                (0..round % 50 * 20).for_each(|_| std::hint::spin_loop());
                ledger.close().unwrap();
            }
        });
        assert!(matches!(begin(&ledger, 1), Err(Error::Closed)), "P7: round {round}");
        Ledger::open(&file).expect("P7: the file is free").close().unwrap();
    }
}

#[test]
fn p6_suspend_and_resume_against_reopen_end_in_a_shared_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::builder().shared().open(file_in(&folder)).unwrap();
    let stop = AtomicBool::new(false);
    without_deadlock(|| {
        together(3, |number| {
            if number > 0 {
                while !stop.load(Ordering::Relaxed) {
                    let reopened = ledger.reopen();
                    assert!(matches!(reopened, Ok(()) | Err(Error::Suspended)), "{reopened:?}");
                }
                return;
            }
            for _ in 0..ROUNDS {
                ledger.suspend().unwrap();
                ledger.resume().unwrap();
            }
            stop.store(true, Ordering::Relaxed);
        });
    });
    ledger.close().unwrap();
}

#[test]
fn p7_close_against_resume_ends_in_a_shared_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let file = file_in(&folder);
    without_deadlock(|| {
        for round in 0..ROUNDS {
            let ledger = Ledger::builder().shared().open(&file).unwrap();
            ledger.suspend().unwrap();
            together(2, |number| {
                if number == 0 {
                    let resumed = ledger.resume();
                    assert!(matches!(resumed, Ok(()) | Err(Error::Closed)), "{resumed:?}");
                } else {
                    thread::sleep(Duration::from_micros(round % 60 * 20));
                    ledger.close().unwrap();
                }
            });
        }
    });
}
