//! P2, I4: two who share a disk, one after the other and crosswise, and a loss of power at every sync.
//!
//! Both are in this process: their locks are a table of who holds which bytes, so that the disk can be the fake one.

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::sync::{Arc, Mutex};

use ::redb::{BackendError, StorageBackend};

use super::creation::crashes;
use super::disk::FakeDisk;
use super::{Row, after_step, open_disk, put, rows, rows_in, step};
use crate::store::disk::Disk;
use crate::store::redb::front::Front;
use crate::store::redb::peers::Peers;
use crate::store::redb::shared::Shared;
use crate::store::{CommitError, Space, Store, Writes};

/// Who holds which bytes: the first and last of them, by whom, and whether shared.
type Held = Arc<Mutex<Vec<(u64, u64, u32, bool)>>>;

/// Locks as the system gives them to one of several openings of a file.
#[derive(Debug)]
struct Locks {
    held: Held,
    me: u32,
}

fn ends(start: Bound<u64>, end: Bound<u64>) -> (u64, u64) {
    let first = match start {
        Bound::Included(at) => at,
        Bound::Excluded(at) => at + 1,
        Bound::Unbounded => 0,
    };
    let last = match end {
        Bound::Included(at) => at,
        Bound::Excluded(at) => at - 1,
        Bound::Unbounded => u64::MAX,
    };
    (first, last)
}

impl Locks {
    fn conflicts(&self, (first, last): (u64, u64), shared: bool) -> bool {
        let held = self.held.lock().unwrap();
        held.iter()
            .any(|(from, to, by, is_shared)| *by != self.me && *from <= last && first <= *to && !(shared && *is_shared))
    }

    fn take(&self, range: (u64, u64), shared: bool) -> bool {
        let free = !self.conflicts(range, shared);
        if free {
            self.held.lock().unwrap().push((range.0, range.1, self.me, shared));
        }
        free
    }
}

impl Drop for Locks {
    fn drop(&mut self) {
        self.held.lock().unwrap().retain(|(_, _, by, _)| *by != self.me);
    }
}

// The disk goes another way: only locks are asked of this one.
impl StorageBackend for Locks {
    fn len(&self) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn read(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync_data(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn write(&self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        Ok(self.take(ends(start, end), false))
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        Ok(self.take(ends(start, end), true))
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        assert!(self.take(ends(start, end), false), "one thread waits for itself");
        Ok(())
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        assert!(self.take(ends(start, end), true), "one thread waits for itself");
        Ok(())
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        let (first, last) = ends(start, end);
        let mut held = self.held.lock().unwrap();
        let place = held.iter().position(|(from, to, by, _)| (*from, *to, *by) == (first, last, self.me));
        held.remove(place.expect("what is unlocked was locked"));
        Ok(())
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        Ok(self.conflicts(ends(start, end), false))
    }
}

/// A disk that is shared, and how many have joined.
struct Crowd {
    disk: FakeDisk,
    held: Held,
    joined: u32,
}

impl Crowd {
    fn on(disk: &FakeDisk) -> Crowd {
        open_disk(disk).unwrap().close().unwrap();
        Crowd { disk: disk.clone(), held: Held::default(), joined: 0 }
    }

    fn join(&mut self) -> Shared {
        self.joined += 1;
        let peers = Peers::by(Arc::new(Locks { held: self.held.clone(), me: self.joined }));
        let _turn = peers.take_turn().unwrap();
        Shared::start(Arc::new(self.disk.clone()) as Arc<dyn Disk>, 1 << 20, Arc::clone(&peers)).unwrap()
    }
}

fn commit(shared: &Shared, writes: Writes) -> Result<(), CommitError> {
    let (turn, view) = shared.take_turn().map_err(CommitError::NotStored)?;
    drop(view);
    let committed = shared.commit(writes);
    drop(turn);
    committed
}

fn seen_by(shared: &Shared) -> Vec<Row> {
    rows_in(&*shared.snapshot().unwrap()).unwrap()
}

/// A step that is so long that the log is moved into the tree at every third, and goes there at once at every seventh.
fn long_step(number: u8) -> Writes {
    let mut writes = step(number);
    let bytes = if number % 7 == 6 { 1_100_000 } else { 400_000 };
    writes.put(Space::Rows, vec![number], vec![number; bytes]);
    writes
}

#[test]
fn p2_each_sees_what_the_other_has_committed() {
    let mut crowd = Crowd::on(&FakeDisk::new());
    let both = [crowd.join(), crowd.join()];
    for number in 0..24 {
        commit(&both[usize::from(number % 2)], long_step(number)).unwrap();
        for one in &both {
            assert_eq!(seen_by(one), after_step(number), "step {number}");
        }
    }
    // One who rests while the other moves the log several times, and one who comes late.
    for number in 24..40 {
        commit(&both[0], long_step(number)).unwrap();
    }
    assert_eq!(seen_by(&both[1]), after_step(39));
    assert_eq!(seen_by(&crowd.join()), after_step(39));
}

#[test]
fn p2_a_view_stays_as_it_was_while_the_other_commits_and_moves_the_log() {
    let mut crowd = Crowd::on(&FakeDisk::new());
    let both = [crowd.join(), crowd.join()];
    let mut views = BTreeMap::new();
    for number in 0..20 {
        commit(&both[0], long_step(number)).unwrap();
        views.insert(number, both[1].snapshot().unwrap());
    }
    for (number, view) in views {
        assert_eq!(rows_in(&*view).unwrap(), after_step(number));
    }
}

#[test]
fn i4_power_lost_at_any_sync_of_two_who_share_loses_nothing_that_either_was_told() {
    for sync in 1.. {
        let disk = FakeDisk::new();
        let mut crowd = Crowd::on(&disk);
        let both = [crowd.join(), crowd.join()];
        disk.stop_at_sync(sync);
        let mut told = 0_u8;
        for number in 0..12 {
            let (one, other) = (&both[usize::from(number % 2)], &both[usize::from(1 - number % 2)]);
            if commit(one, long_step(number)).is_err() {
                break;
            }
            told = number + 1;
            // The other is told of it, too: what it reads must outlive the loss of power.
            if other.snapshot().is_err() {
                break;
            }
        }
        if !disk.has_failed() {
            assert_eq!(told, 12);
            return;
        }
        for crash in crashes(3) {
            let again =
                open_disk(&FakeDisk::of(disk.crash(crash))).unwrap_or_else(|error| panic!("sync {sync}: {error}"));
            let found = rows(&again);
            let expected = |steps: u8| steps.checked_sub(1).map_or_else(Vec::new, after_step);
            assert!(found == expected(told) || found == expected(told + 1), "sync {sync}, {crash:?}: {told} told");
            again.commit(put(b"again", b"")).unwrap();
        }
    }
}

#[test]
fn i4_what_one_who_was_killed_has_written_and_not_synced_is_synced_before_it_is_told() {
    let disk = FakeDisk::new();
    let mut crowd = Crowd::on(&disk);
    let (killed, other) = (crowd.join(), crowd.join());
    commit(&killed, step(0)).unwrap();
    // Killed in the sync of its next commit: the bytes are in the system's cache, and nobody knows.
    disk.stop_at_sync(1);
    assert!(commit(&killed, step(1)).is_err());
    disk.forget_the_sync();
    drop(killed);
    let seen = seen_by(&other);
    for crash in crashes(20) {
        let again = open_disk(&FakeDisk::of(disk.crash(crash))).unwrap();
        assert_eq!(rows(&again), seen, "{crash:?}: what was told is gone");
    }
    commit(&other, step(2)).unwrap();
}

/// A killed process leaves a commit of redb's that nobody sees until somebody writes there; whoever commits to the log meanwhile
/// must not commit to a generation that is over.
#[test]
fn i4_one_who_goes_on_after_another_was_killed_in_moving_the_log_loses_nothing_it_was_told() {
    for (first, last) in [(6, 7), (0, 7)] {
        for sync in 1.. {
            let disk = FakeDisk::new();
            let mut crowd = Crowd::on(&disk);
            let (killed, other) = (crowd.join(), crowd.join());
            commit(&killed, step(0)).unwrap();
            seen_by(&other);
            disk.stop_at_sync(sync);
            for number in first..last {
                let _ = commit(&killed, long_step(number));
            }
            if !disk.has_failed() {
                assert!(sync > 2);
                break;
            }
            disk.forget_the_sync();
            drop(killed);
            commit(&other, put(b"told", b"after it")).unwrap();
            let seen = seen_by(&other);
            assert_eq!(seen_by(&crowd.join()), seen, "sync {sync}: one who joins sees something else");
            for crash in crashes(10) {
                let again = open_disk(&FakeDisk::of(disk.crash(crash))).unwrap();
                assert!(rows(&again) == seen, "sync {sync}, {crash:?}: what was told is gone");
            }
            for number in 20..24 {
                commit(&other, long_step(number)).unwrap();
            }
            assert!(seen_by(&other).iter().any(|(key, _)| key == b"told"), "sync {sync}: laid over by an older state");
        }
    }
}

#[test]
fn i9_the_last_of_those_who_share_leaves_nothing_in_the_log() {
    let disk = FakeDisk::new();
    let mut crowd = Crowd::on(&disk);
    let (one, other) = (crowd.join(), crowd.join());
    commit(&one, step(0)).unwrap();
    Box::new(one).close().unwrap();
    commit(&other, step(1)).unwrap();
    Box::new(other).close().unwrap();
    let mut image = disk.shown();
    image[4096..4096 + (2 << 20)].fill(0);
    assert_eq!(rows(&open_disk(&FakeDisk::of(image)).unwrap()), after_step(1));
}
