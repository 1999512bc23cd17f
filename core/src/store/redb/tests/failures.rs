//! S6, S7: what a store says after a call to its disk has failed.

use std::sync::Arc;

use super::disk::{Crash, FakeDisk};
use super::{after_step, open_disk, put, rows, step};
use crate::store::disk::Disk;
use crate::store::redb::RedbStore;
use crate::store::redb::witness::Witness;
use crate::store::{CommitError, Space, Store, StoreError, Writes};

fn prepared() -> (FakeDisk, RedbStore) {
    let disk = FakeDisk::new();
    let store = open_disk(&disk).unwrap();
    for number in 0..6 {
        store.commit(step(number)).unwrap();
    }
    (disk, store)
}

fn is_poisoned(store: &RedbStore) -> bool {
    let commit = store.commit(put(b"key", b""));
    let all = [
        matches!(store.snapshot(), Err(StoreError::Poisoned)),
        matches!(commit, Err(CommitError::NotStored(StoreError::Poisoned))),
        matches!(store.file_bytes(), Err(StoreError::Poisoned)),
        matches!(store.report(), Err(StoreError::Poisoned)),
        matches!(store.compact(), Err(StoreError::Poisoned)),
    ];
    assert!(all.iter().all(|one| *one) || !all.iter().any(|one| *one), "{all:?}");
    all[0]
}

/// Longer than the log, so that the file grows, which is where a full disk is met.
#[test]
fn s7_a_commit_that_fails_poisons_the_store_until_it_is_reopened() {
    let answers = every_call_of_a_commit_fails(0, 3 << 20);
    assert!(answers.open > 0 && answers.not_stored > 0 && answers.stored == 0, "{answers:?}");
}

/// The half of the log is full before, so that it is moved into the tree once the commit is in the other.
#[test]
fn s7_a_failure_while_the_log_is_moved_loses_nothing_and_the_next_call_is_told() {
    let answers = every_call_of_a_commit_fails(700_000, 500_000);
    assert!(answers.open > 0 && answers.stored > 0, "{answers:?}");
}

#[derive(Debug, Default)]
struct Answers {
    open: u32,
    not_stored: u32,
    /// By the log, when what failed was the move that came after it.
    stored: u32,
}

/// Fails each call of a commit with a value of `big` bytes once, after one with `filling` bytes.
fn every_call_of_a_commit_fails(filling: usize, big: usize) -> Answers {
    let mut answers = Answers::default();
    for call in 1.. {
        let (disk, store) = prepared();
        let mut filler = Writes::default();
        filler.put(Space::Rows, b"filler".to_vec(), vec![1; filling]);
        store.commit(filler).unwrap();
        let snapshot = store.snapshot().unwrap();
        disk.fail_call(call);
        let mut writes = step(6);
        writes.put(Space::Records, b"big".to_vec(), vec![6; big]);
        let answer = store.commit(writes);
        if !disk.has_failed() {
            answer.unwrap();
            break;
        }
        match answer {
            Err(CommitError::Open(_)) => answers.open += 1,
            Err(CommitError::NotStored(_)) => answers.not_stored += 1,
            // redb makes some writes again at the end.
            Ok(()) => match store.snapshot() {
                Ok(_) => continue,
                Err(StoreError::Io(_)) => answers.stored += 1,
                Err(error) => panic!("call {call}: {error:?}"),
            },
            Err(error) => panic!("call {call}: {error:?}"),
        }
        let nothing_stored = matches!(answer, Err(CommitError::NotStored(_)));
        assert!(is_poisoned(&store), "call {call}");
        assert!(matches!(snapshot.get(Space::Records, b"last", &mut |_| ()), Err(StoreError::Poisoned)));
        store.reopen().unwrap();
        let mut found = rows(&store);
        let before = found == after_step(5);
        found.retain(|(key, _)| key != b"big");
        let after = found == after_step(6);
        assert!(if answer.is_ok() { after } else { before || (!nothing_stored && after) }, "call {call}");
        store.commit(put(b"again", b"")).unwrap();
    }
    answers
}

#[test]
fn s7_a_read_that_fails_is_told_and_reopening_heals() {
    let (disk, store) = prepared();
    drop(store);
    let store = open_disk(&disk).unwrap();
    // Nothing but the root is in memory yet.
    store.commit(put(b"zzz", &vec![1; 20_000])).unwrap();
    drop(store);
    let store = open_disk(&disk).unwrap();
    let snapshot = store.snapshot().unwrap();
    disk.fail_call(1);
    let read = snapshot.get(Space::Records, b"zzz", &mut |_| ());
    if disk.has_failed() {
        assert!(matches!(read, Err(StoreError::Io(_))), "{read:?}");
        assert!(is_poisoned(&store));
    }
    store.reopen().unwrap();
    assert_eq!(rows(&store).len(), after_step(5).len() + 1);
}

#[test]
fn s7_a_poisoned_store_can_be_closed_and_writes_nothing_then() {
    let (disk, store) = prepared();
    disk.stop_at_sync(1);
    assert!(matches!(store.commit(step(6)), Err(CommitError::Open(_))));
    let before = disk.counts();
    assert!(store.close().is_err(), "the disk is gone, and closing it fails too");
    assert_eq!(disk.counts().writes, before.writes);
    assert!(matches!(store.snapshot(), Err(StoreError::Closed)));
    assert!(store.reopen().is_err(), "the disk is still gone");
    disk.heal();
    store.reopen().unwrap();
    rows(&store);
}

/// Neither the log nor redb's way of committing needs this today: it holds whatever they come to be.
#[test]
fn s6_what_a_failed_sync_has_lost_is_written_once_more() {
    let (disk, doubts) = (FakeDisk::new(), Arc::default());
    let witness = Witness::of(Arc::new(disk.clone()), &doubts);
    witness.write(0, b"told").unwrap();
    disk.stop_at_sync(1);
    assert!(witness.sync().is_err());
    disk.heal();
    // The system takes it for written: reads show it, and a sync that succeeds passes it over.
    disk.sync().unwrap();
    assert!(disk.shown() == b"told" && disk.crash(Crash::LosesAll) != b"told");
    doubts.settle(&disk).unwrap();
    assert!(disk.crash(Crash::LosesAll) == b"told");
}

#[test]
fn an_empty_commit_does_not_touch_the_disk() {
    let (disk, store) = prepared();
    let before = disk.counts();
    store.commit(Writes::default()).unwrap();
    assert_eq!(disk.counts(), before);
}

#[test]
fn e2_a_commit_is_one_sync_and_a_second_one_where_the_file_grows() {
    let (disk, store) = prepared();
    for number in 6..40 {
        let before = disk.counts();
        store.commit(step(number)).unwrap();
        let after = disk.counts();
        let growths = after.set_lens - before.set_lens;
        assert!((1..=1 + growths).contains(&(after.syncs - before.syncs)), "step {number}");
    }
}
