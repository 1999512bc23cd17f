//! Group commit over a store in memory, and over one that fails.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::task::{Wake, Waker};
use std::thread;

use super::double::{Double, Stand};
use super::{Commits, Ended, HostCall, Overlay};

use crate::store::memory::MemoryStore;
use crate::store::{CommitError, Snapshot, Space, Store, StoreError, Writes};

/// Counts commits, and refuses them while told to.
#[derive(Default)]
struct Counter {
    commits: AtomicU64,
    refuse: AtomicU64,
}

impl Stand for Counter {
    fn commit(&self, inner: &MemoryStore, writes: Writes) -> Result<(), CommitError> {
        self.commits.fetch_add(u64::from(!writes.is_empty()), Ordering::SeqCst);
        match self.refuse.load(Ordering::SeqCst) {
            0 => inner.commit(writes),
            1 => Err(CommitError::NotStored(StoreError::Io(std::io::ErrorKind::StorageFull.into()))),
            _ => panic!("the engine below broke"),
        }
    }
}

type Counting = Double<Counter>;

fn put(key: &'static [u8]) -> impl FnOnce(&mut Overlay) -> Result<(), ()> {
    move |overlay| {
        overlay.put(Space::Rows, key.to_vec(), vec![1]);
        Ok(())
    }
}

fn has(store: &dyn Store, key: &[u8]) -> bool {
    store.snapshot().unwrap().get(Space::Rows, key, &mut |_| ()).unwrap()
}

#[test]
fn s7_work_that_fails_or_panics_stores_nothing_and_harms_nobody() {
    let store = Counting::behind(Counter::default());
    let commits = Commits::new(store.clone(), None);
    let refused: Ended<(), &str> = commits.call_here(
        |overlay| {
            overlay.put(Space::Rows, b"refused".to_vec(), vec![1]);
            Err("no")
        },
        |_| (),
    );
    assert!(matches!(refused, Ended::Refused("no")));
    let panicked: Ended<(), ()> = commits.call_here(
        |overlay| {
            overlay.put(Space::Rows, b"panicked".to_vec(), vec![1]);
            panic!("a caller's own fault")
        },
        |_| (),
    );
    assert!(matches!(panicked, Ended::Panicked(_)));
    assert!(matches!(commits.call(put(b"fine"), |_| ()), Ended::Stored(())));
    assert!(has(&*store, b"fine") && !has(&*store, b"refused") && !has(&*store, b"panicked"));
}

#[test]
fn work_that_writes_nothing_commits_nothing() {
    let store = Counting::behind(Counter::default());
    let commits = Commits::new(store.clone(), None);
    assert!(matches!(commits.call(|_| Ok::<_, ()>(7), |_| ()), Ended::Stored(7)));
    assert_eq!(store.stand.commits.load(Ordering::SeqCst), 0);
}

#[test]
fn s6_everyone_whose_call_shared_a_commit_is_told_the_same() {
    let store = Counting::behind(Counter::default());
    store.stand.refuse.store(1, Ordering::SeqCst);
    let commits = Commits::new(store.clone(), None);
    let failed = commits.call(put(b"a"), |outcome| assert!(outcome.is_err()));
    assert!(matches!(failed, Ended::Failed(error) if matches!(*error, CommitError::NotStored(_))));
    store.stand.refuse.store(0, Ordering::SeqCst);
    assert!(matches!(commits.call(put(b"b"), |outcome| assert!(outcome.is_ok())), Ended::Stored(())));
}

#[test]
fn s7_a_panic_below_leaves_it_open_whether_it_was_stored() {
    let store = Counting::behind(Counter::default());
    store.stand.refuse.store(2, Ordering::SeqCst);
    let commits = Commits::new(store.clone(), None);
    let failed = commits.call(put(b"a"), |_| ());
    assert!(matches!(failed, Ended::Failed(error) if matches!(*error, CommitError::Open(_))));
    store.stand.refuse.store(0, Ordering::SeqCst);
    assert!(matches!(commits.call(put(b"b"), |_| ()), Ended::Stored(())), "the next caller can still lead");
}

/// Half of the callers bring work of their own, half a closure that borrows from their stack; all write one counter.
#[test]
fn callers_share_commits_and_each_sees_what_the_one_before_wrote() {
    const CALLERS: u64 = 32;
    const CALLS: u64 = 50;
    let store = Counting::behind(Counter::default());
    let commits = Commits::new(store.clone(), None);
    let start = Barrier::new(usize::try_from(CALLERS).unwrap());
    thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (commits, start) = (&commits, &start);
            scope.spawn(move || {
                start.wait();
                let mut mine = 0;
                for _ in 0..CALLS {
                    let ended = if caller % 2 == 0 {
                        commits.call(count, |_| ())
                    } else {
                        commits.call_here(
                            |overlay| {
                                mine += 1;
                                count(overlay)
                            },
                            |_| (),
                        )
                    };
                    assert!(matches!(ended, Ended::Stored(())));
                }
                assert_eq!(mine, if caller % 2 == 0 { 0 } else { CALLS });
            });
        }
    });
    let mut total = 0;
    store.snapshot().unwrap().get(Space::Rows, b"count", &mut |bytes| total = number(bytes)).unwrap();
    assert_eq!(total, CALLERS * CALLS);
    assert!(store.stand.commits.load(Ordering::SeqCst) <= CALLERS * CALLS);
}

fn count(overlay: &mut Overlay) -> Result<(), ()> {
    let mut total = 0;
    overlay.get(Space::Rows, b"count", &mut |bytes| total = number(bytes)).map_err(|_| ())?;
    overlay.put(Space::Rows, b"count".to_vec(), (total + 1).to_be_bytes().to_vec());
    Ok(())
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes.try_into().unwrap())
}

struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[test]
fn a_future_is_woken_by_the_pump_and_its_work_is_done_even_if_it_is_dropped() {
    let store = Counting::behind(Counter::default());
    let commits = Commits::new(store.clone(), None);
    commits.start_pump();
    drop(commits.submit(put(b"dropped"), |_| ()));
    let ticket = commits.submit(put(b"kept"), |_| ());
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let ended = loop {
        match ticket.poll(&waker) {
            Some(ended) => break ended,
            None => thread::park(),
        }
    };
    assert!(matches!(ended, Ended::Stored(())));
    assert!(has(&*store, b"dropped") && has(&*store, b"kept"));
    commits.end_pump();
}

mod overlays {
    use std::ops::{Bound, ControlFlow};

    use super::*;

    fn scan(view: &dyn Snapshot, from: &[u8], to: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut rows = Vec::new();
        let range = (Bound::Included(from), Bound::Excluded(to));
        view.scan(Space::Rows, range, &mut |key, value| {
            rows.push((key.to_vec(), value.to_vec()));
            ControlFlow::Continue(())
        })
        .unwrap();
        rows
    }

    #[test]
    fn g1_a_scan_sees_the_base_the_batch_and_its_own_writes_each_over_the_one_before() {
        let store = MemoryStore::new();
        let mut base = Writes::default();
        for key in [b"a", b"b", b"c", b"d"] {
            base.put(Space::Rows, key.to_vec(), b"base".to_vec());
        }
        store.commit(base).unwrap();
        let mut overlay = Overlay::new(store.snapshot().unwrap());
        overlay.put(Space::Rows, b"b".to_vec(), b"batch".to_vec());
        overlay.delete(Space::Rows, b"c".to_vec());
        overlay.put(Space::Rows, b"e".to_vec(), b"batch".to_vec());
        overlay.keep();
        overlay.put(Space::Rows, b"aa".to_vec(), b"changed once more".to_vec());
        overlay.put(Space::Rows, b"c".to_vec(), b"changed once more".to_vec());
        overlay.put(Space::Rows, b"aa".to_vec(), b"own".to_vec());
        overlay.delete(Space::Rows, b"e".to_vec());
        overlay.put(Space::Rows, b"c".to_vec(), b"own".to_vec());
        let row = |key: &[u8], value: &[u8]| (key.to_vec(), value.to_vec());
        let expected =
            [row(b"a", b"base"), row(b"aa", b"own"), row(b"b", b"batch"), row(b"c", b"own"), row(b"d", b"base")];
        assert_eq!(scan(&overlay, b"", b"z"), expected);
        assert_eq!(scan(&overlay, b"aa", b"c"), expected[1..3]);
        overlay.discard();
        assert_eq!(
            scan(&overlay, b"", b"z"),
            [row(b"a", b"base"), row(b"b", b"batch"), row(b"d", b"base"), row(b"e", b"batch")]
        );
    }

    #[test]
    fn a_scan_ends_where_the_visitor_breaks() {
        let store = MemoryStore::new();
        let mut overlay = Overlay::new(store.snapshot().unwrap());
        for key in [b"a", b"b", b"c"] {
            overlay.put(Space::Rows, key.to_vec(), Vec::new());
        }
        let mut seen = 0;
        let everything = (Bound::Unbounded, Bound::Unbounded);
        overlay
            .scan(Space::Rows, everything, &mut |_, _| {
                seen += 1;
                if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
        assert_eq!(seen, 2);
    }
}

#[test]
fn where_the_host_commits_futures_share_a_sync_and_blocking_calls_come_after_them() {
    let store = Counting::behind(Counter::default());
    let called = Arc::new(AtomicUsize::new(0));
    let seen = called.clone();
    let host: HostCall = Arc::new(move || {
        seen.fetch_add(1, Ordering::SeqCst);
    });
    let commits = Commits::new(store.clone(), Some(host));
    commits.start_pump();
    let count = || (called.load(Ordering::SeqCst), store.stand.commits.load(Ordering::SeqCst));
    let tickets = [b"a", b"b", b"c"].map(|key| commits.submit(put(key), |_| ()));
    assert_eq!(count(), (1, 0), "the host is called once, and nothing is committed before it comes");
    commits.commit_queued();
    assert_eq!(count(), (1, 1));
    assert!(tickets.iter().all(|ticket| matches!(ticket.poll(Waker::noop()), Some(Ended::Stored(())))));
    let queued = commits.submit(put(b"d"), |_| ());
    assert!(matches!(commits.call(put(b"e"), |_| ()), Ended::Stored(())));
    assert_eq!(count(), (2, 3), "what was queued before has been committed before");
    assert!(has(&*store, b"d") && matches!(queued.poll(Waker::noop()), Some(Ended::Stored(()))));
    commits.commit_queued();
    assert_eq!(count(), (2, 3), "there was nothing left to do");
}

#[test]
fn where_the_host_commits_a_blocking_call_waits_for_nobody_whatever_futures_leave_behind() {
    let store = Counting::behind(Counter::default());
    let commits = Commits::new(store.clone(), Some(Arc::new(|| ())));
    // What was granted to a future that is gone is given back as its commit ends: that queues more.
    let behind = commits.clone();
    drop(commits.submit(put(b"granted"), move |_| drop(behind.submit(put(b"given back"), |_| ()))));
    // And more of them than one commit takes.
    let many: Vec<_> = (0..2 * super::BATCH_MAX).map(|_| commits.submit(put(b"one of many"), |_| ())).collect();
    assert!(matches!(commits.call(put(b"call"), |_| ()), Ended::Stored(())));
    assert!(has(&*store, b"given back"));
    assert!(many.iter().all(|ticket| matches!(ticket.poll(Waker::noop()), Some(Ended::Stored(())))));
}

/// What is left half way: nobody waits for ever, and whoever comes next leads.
mod left {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn goes_on(commits: &Arc<Commits>) {
        let (commits, (done, is_done)) = (commits.clone(), std::sync::mpsc::channel());
        thread::spawn(move || done.send(matches!(commits.call(put(b"next"), |_| ()), Ended::Stored(()))));
        let led = is_done.recv_timeout(std::time::Duration::from_secs(20));
        assert_eq!(led, Ok(true), "nobody has handed the lead on");
    }

    fn unwinds(call: impl FnOnce()) {
        assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
    }

    #[test]
    fn a_leader_that_is_left_hands_the_lead_on() {
        let commits = Commits::new(Counting::behind(Counter::default()), None);
        unwinds(|| drop(commits.call(put(b"a"), |_| panic!("left after its commit"))));
        goes_on(&commits);
    }

    #[test]
    fn a_leader_that_is_left_in_the_middle_of_its_followers_tells_all_of_them() {
        let commits = Commits::new(Counting::behind(Counter::default()), Some(Arc::new(|| ())));
        let before = commits.submit(put(b"before"), |_| ());
        let breaks = commits.submit(put(b"breaks"), |_| panic!("left while it was told"));
        let after = commits.submit(put(b"after"), |_| ());
        unwinds(|| commits.commit_queued());
        for ticket in [before, after] {
            assert!(matches!(ticket.poll(Waker::noop()), Some(Ended::Stored(()))));
        }
        assert!(breaks.poll(Waker::noop()).is_none(), "it was left while it was told, and nobody else was");
        goes_on(&commits);
    }

    #[test]
    fn a_host_that_could_not_be_called_keeps_nobody_waiting() {
        let is_down = Arc::new(AtomicUsize::new(1));
        let seen = is_down.clone();
        let host: HostCall = Arc::new(move || assert_eq!(seen.load(Ordering::SeqCst), 0, "the host cannot be called"));
        let commits = Commits::new(Counting::behind(Counter::default()), Some(host));
        unwinds(|| drop(commits.submit(put(b"a"), |_| ())));
        is_down.store(0, Ordering::SeqCst);
        let next = commits.submit(put(b"b"), |_| ());
        commits.commit_queued();
        assert!(matches!(next.poll(Waker::noop()), Some(Ended::Stored(()))));
    }
}
