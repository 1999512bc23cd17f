//! G1, S7, P1, P7: group commit under a scheduler that decides at every lock and bell who goes on. A failure prints the schedule
//! that repeats it.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;

use shuttle::{future, thread};

use super::double::{Double, Stand};
use super::{Commits, Ended, Overlay, Ticket};
use crate::store::memory::MemoryStore;
use crate::store::{CommitError, Snapshot, Space, Store, StoreError, Writes};

/// How many schedules of each story.
fn schedules() -> usize {
    std::env::var("KEYLEDGER_SCHEDULER_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(3000)
}

fn explore(story: fn()) {
    shuttle::check_random(story, schedules());
    shuttle::check_pct(story, schedules(), 3);
}

/// Takes its time, and refuses every commit that holds a row named `bad`.
#[derive(Default)]
struct Sluggard {
    busy: AtomicBool,
    commits: AtomicU64,
}

impl Stand for Sluggard {
    fn before_snapshot(&self) {
        thread::yield_now();
    }

    fn commit(&self, inner: &MemoryStore, writes: Writes) -> Result<(), CommitError> {
        assert!(!self.busy.swap(true, Ordering::SeqCst), "two commits at once");
        thread::yield_now();
        let refused = writes.get(Space::Rows, b"bad").is_some();
        let answer = if refused { Err(CommitError::NotStored(StoreError::Busy)) } else { inner.commit(writes) };
        self.commits.fetch_add(1, Ordering::SeqCst);
        self.busy.store(false, Ordering::SeqCst);
        answer
    }
}

type Slow = Double<Sluggard>;

impl Slow {
    fn new() -> Arc<Self> {
        Self::behind(Sluggard::default())
    }

    fn has(&self, key: &[u8]) -> bool {
        self.inner.snapshot().unwrap().get(Space::Rows, key, &mut |_| ()).unwrap()
    }
}

/// Puts a row that must not be there yet: the same work played twice would say no.
fn put(key: &'static [u8]) -> impl FnOnce(&mut Overlay) -> Result<(), &'static str> + Send {
    move |overlay| {
        if overlay.get(Space::Rows, key, &mut |_| ()).unwrap() {
            return Err("it is there");
        }
        overlay.put(Space::Rows, key.to_vec(), vec![1]);
        Ok(())
    }
}

async fn arrived(ticket: Ticket<(), &'static str>) -> Ended<(), &'static str> {
    poll_fn(|context| ticket.poll(context.waker()).map_or(Poll::Pending, Poll::Ready)).await
}

#[test]
fn p1_every_caller_is_told_after_the_commit_that_holds_its_work() {
    explore(|| {
        let store = Slow::new();
        let commits = Commits::new(store.clone(), None);
        let callers: Vec<_> = [b"a", b"b", b"c", b"d"]
            .into_iter()
            .map(|key| {
                let (store, commits) = (store.clone(), commits.clone());
                thread::spawn(move || {
                    assert!(matches!(commits.call(put(key), |_| ()), Ended::Stored(())));
                    assert!(store.has(key), "told before it was stored");
                })
            })
            .collect();
        for caller in callers {
            caller.join().unwrap();
        }
        assert!(store.stand.commits.load(Ordering::SeqCst) <= 4);
    });
}

#[test]
fn g1_of_callers_who_want_the_same_row_one_gets_it() {
    explore(|| {
        let commits = Commits::new(Slow::new(), None);
        let callers: Vec<_> = (0..3)
            .map(|number| {
                let commits = commits.clone();
                // One of them borrows from its own stack, so that the overlay goes to it and back.
                thread::spawn(move || match number {
                    0 => matches!(commits.call_here(put(b"row"), |_| ()), Ended::Stored(())),
                    _ => matches!(commits.call(put(b"row"), |_| ()), Ended::Stored(())),
                })
            })
            .collect();
        let granted = callers.into_iter().map(|caller| usize::from(caller.join().unwrap())).sum::<usize>();
        assert_eq!(granted, 1);
    });
}

#[test]
fn s7_a_commit_that_fails_is_told_to_those_who_shared_it_and_to_nobody_else() {
    explore(|| {
        let store = Slow::new();
        let commits = Commits::new(store.clone(), None);
        let callers: Vec<_> = [&b"bad"[..], b"a", b"b"]
            .into_iter()
            .map(|key| {
                let (store, commits) = (store.clone(), commits.clone());
                let told = Arc::new(AtomicU64::new(0));
                thread::spawn(move || {
                    let after = told.clone();
                    let ended = commits.call(put(key), move |outcome| {
                        after.store(1 + u64::from(outcome.is_ok()), Ordering::SeqCst);
                    });
                    let stored = matches!(ended, Ended::Stored(()));
                    assert_eq!(told.load(Ordering::SeqCst), 1 + u64::from(stored), "memory was put right before");
                    assert_eq!(store.has(key), stored);
                    assert!(stored || matches!(ended, Ended::Failed(_)));
                })
            })
            .collect();
        for caller in callers {
            caller.join().unwrap();
        }
        assert!(!store.has(b"bad"));
    });
}

#[test]
fn p1_futures_and_threads_share_commits_and_all_of_them_arrive() {
    explore(|| {
        let store = Slow::new();
        let commits = Commits::new(store.clone(), None);
        commits.start_pump();
        let tickets = [commits.submit(put(b"a"), |_| ()), commits.submit(put(b"b"), |_| ())];
        let (others, seen) = (commits.clone(), store.clone());
        let caller = thread::spawn(move || {
            assert!(matches!(others.call_here(put(b"c"), |_| ()), Ended::Stored(())));
            assert!(seen.has(b"c"));
        });
        for ticket in tickets {
            assert!(matches!(future::block_on(arrived(ticket)), Ended::Stored(())));
        }
        caller.join().unwrap();
        assert!(store.has(b"a") && store.has(b"b"));
        commits.end_pump();
    });
}

#[test]
fn p1_futures_that_nobody_lends_a_thread_to_all_arrive() {
    explore(|| {
        let store = Slow::new();
        let commits = Commits::new(store.clone(), None);
        commits.start_pump();
        let askers: Vec<_> = [b"a", b"b", b"c"]
            .into_iter()
            .map(|key| {
                let commits = commits.clone();
                thread::spawn(move || {
                    assert!(matches!(future::block_on(arrived(commits.submit(put(key), |_| ()))), Ended::Stored(())));
                })
            })
            .collect();
        for asker in askers {
            asker.join().unwrap();
        }
        commits.end_pump();
    });
}

#[test]
fn i1_a_future_that_is_polled_out_of_turn_sees_no_end_before_memory_is_put_right() {
    explore(|| {
        let commits = Commits::new(Slow::new(), None);
        commits.start_pump();
        let told = Arc::new(AtomicBool::new(false));
        let after = told.clone();
        let ticket = commits.submit(put(b"a"), move |_| {
            thread::yield_now();
            after.store(true, Ordering::SeqCst);
        });
        while ticket.poll(std::task::Waker::noop()).is_none() {
            thread::yield_now();
        }
        assert!(told.load(Ordering::SeqCst));
        commits.end_pump();
    });
}

#[test]
fn p7_a_future_whose_ticket_is_thrown_away_is_served_and_a_barrier_waits_for_it() {
    explore(|| {
        let store = Slow::new();
        let commits = Commits::new(store.clone(), None);
        commits.start_pump();
        drop(commits.submit(put(b"a"), |_| ()));
        let (others, seen) = (commits.clone(), store.clone());
        let closer = thread::spawn(move || {
            others.barrier();
            assert!(seen.has(b"a"), "the barrier went before what was in the queue");
            others.end_pump();
        });
        closer.join().unwrap();
        // The pump has ended, with its ledger: whoever comes now leads for itself.
        assert!(matches!(future::block_on(arrived(commits.submit(put(b"b"), |_| ()))), Ended::Stored(())));
    });
}

#[test]
fn t5_who_must_be_alone_meets_no_commit() {
    explore(|| {
        let store = Slow::new();
        let commits = Commits::new(store.clone(), None);
        let (others, seen) = (commits.clone(), store.clone());
        let caller = thread::spawn(move || {
            assert!(matches!(others.call(put(b"a"), |_| ()), Ended::Stored(())));
        });
        commits.alone(|| {
            let before = seen.stand.commits.load(Ordering::SeqCst);
            thread::yield_now();
            assert!(!seen.stand.busy.load(Ordering::SeqCst), "a commit is in hand");
            assert_eq!(seen.stand.commits.load(Ordering::SeqCst), before);
        });
        caller.join().unwrap();
    });
}
