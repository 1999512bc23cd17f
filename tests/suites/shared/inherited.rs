//! P3: what belongs to no handle but to the whole process - its list of open files, its timer - is in a forked child as good as
//! in its parent.

use super::forks::{NOT_WELL, WELL, claim, status_of};
use super::worker::{key_of, open, operation, scope};
use fork::{Fork, fork};
use keyledger::{Begin, Decision, Fingerprint, Ledger, Response};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

const FORKS: u64 = 100;
/// How many threads have the process's list of open files in hand.
const OPENERS: u64 = 3;
const WAIT: Duration = Duration::from_millis(100);
/// Far above what anything here takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Forks once; whether all is well in the child.
fn in_child(child: impl FnOnce() -> bool) -> bool {
    match fork().expect("a fork") {
        Fork::Child => std::process::exit(if child() { WELL } else { NOT_WELL }),
        Fork::Parent(pid) => status_of(pid) == Some(WELL),
    }
}

/// What a future gives; `None` if nobody wakes it.
fn finish<F: Future>(future: F) -> Option<F::Output> {
    struct Waker(Thread);
    impl Wake for Waker {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Waker(thread::current())).into();
    let (mut future, until) = (pin!(future), Instant::now() + PATIENCE);
    while Instant::now() < until {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        thread::park_timeout(until.saturating_duration_since(Instant::now()));
    }
    None
}

fn begin(key: u64) -> Begin {
    Begin::new(&operation(key), &scope(), &key_of(key), Fingerprint::of_bytes(&[b"the same"])).wait(WAIT)
}

#[test]
fn p3_a_child_has_a_handle_of_its_own_though_threads_of_the_parent_were_opening_other_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = open(&folder.path().join("ledger"));
    let stop = AtomicBool::new(false);
    thread::scope(|threads| {
        for number in 0..OPENERS {
            let (other, stop) = (folder.path().join(format!("no ledger {number}")), &stop);
            std::fs::write(&other, [7; 8192]).expect("a file");
            threads.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    Ledger::open(&other).expect_err("it is no ledger");
                }
            });
        }
        let unwell = (0..FORKS).find(|number| {
            !in_child(|| {
                claim(&ledger, *number).complete(Response::text("by a child")).is_ok() && ledger.close().is_ok()
            })
        });
        stop.store(true, Ordering::Relaxed);
        assert_eq!(unwell, None, "the first child that was not well");
    });
}

/// Whether the futures of a shared handle answer as its blocking calls do; `held` is a key that another one has claimed.
fn futures_are_well(ledger: &Ledger, held: u64, free: u64) -> bool {
    let waited = finish(ledger.begin_with_async(begin(held)));
    let many = finish(ledger.begin_many_async(vec![begin(held), begin(free)]));
    let recovered = finish(ledger.recover_async(&operation(free), 1));
    matches!(waited, Some(Ok(Decision::InProgress(_))))
        && matches!(
            many.as_ref().map(|many| many.as_deref()),
            Some(Ok([Decision::InProgress(_), Decision::Acquired(_)]))
        )
        && matches!(recovered, Some(Ok(_)))
}

#[test]
fn p3_futures_of_a_shared_handle_are_answered_in_a_child_and_in_its_child() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = open(&folder.path().join("ledger"));
    let held = ledger.begin_with(&Begin::new(
        &operation(1).lease(PATIENCE * 6),
        &scope(),
        &key_of(1),
        Fingerprint::of_bytes(&[b"the same"]),
    ));
    let Ok(Decision::Acquired(held)) = held else { panic!("{held:?}") };
    assert!(futures_are_well(&ledger, 1, 4), "in the process that opened it");
    let child = || futures_are_well(&ledger, 1, 7) && in_child(|| futures_are_well(&ledger, 1, 10));
    assert!(in_child(child), "in a child");
    held.complete(Response::text("after all forks")).expect("the parent's claim goes on");
}
