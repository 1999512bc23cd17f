//! I4: what was acknowledged survives a kill and a loss of power; what was not is there whole or not at all.

use super::creation::crashes;
use super::disk::{Crash, FakeDisk};
use super::{Row, after_step, folder, open, open_disk, put, rows, step};
use crate::store::{CommitError, OpenError, Space, Store, StoreError, Writes};

const STEPS: u8 = 12;

/// Commits steps until one fails; tells how many were acknowledged.
fn run(store: &dyn Store, step: &dyn Fn(u8) -> Writes) -> u8 {
    (0..STEPS).take_while(|&number| store.commit(step(number)).is_ok()).count().try_into().unwrap()
}

fn expected(steps: u8) -> Vec<Row> {
    steps.checked_sub(1).map_or_else(Vec::new, after_step)
}

#[test]
fn i4_power_lost_at_any_sync_loses_no_acknowledged_commit() {
    let syncs = power_lost_at_any_sync(12, &step);
    assert!(syncs > u64::from(STEPS), "{syncs}");
}

/// Every third commit does not fit into the log any more, and each seventh fits into no log.
#[test]
fn i4_power_lost_at_any_sync_loses_no_commit_while_the_log_is_moved_into_the_tree() {
    let syncs = power_lost_at_any_sync(3, &|number| {
        let mut writes = step(number);
        let bytes = if number % 7 == 6 { 1_100_000 } else { 400_000 };
        writes.put(Space::Rows, vec![number], vec![number; bytes]);
        writes
    });
    assert!(syncs > 2 * u64::from(STEPS), "{syncs}");
}

/// Runs all steps, stopped at each sync in turn, with each kind of crash; tells how many syncs there were.
fn power_lost_at_any_sync(seeds: u64, step: &dyn Fn(u8) -> Writes) -> u64 {
    for sync in 1.. {
        let disk = FakeDisk::new();
        let store = open_disk(&disk).unwrap();
        disk.stop_at_sync(sync);
        let acknowledged = run(&store, step);
        let closed = store.close();
        if !disk.has_failed() {
            assert_eq!(acknowledged, STEPS);
            closed.unwrap();
            return sync;
        }
        for crash in crashes(seeds) {
            let image = FakeDisk::of(disk.crash(crash));
            let again = open_disk(&image).unwrap_or_else(|error| panic!("sync {sync}, {crash:?}: {error}"));
            let found = rows(&again);
            assert!(
                found == expected(acknowledged) || found == expected(acknowledged + 1),
                "sync {sync}, {crash:?}: {acknowledged} acknowledged"
            );
            again.commit(put(b"again", b"")).unwrap();
        }
    }
    unreachable!("the steps end")
}

#[test]
fn i4_a_store_that_is_dropped_writes_nothing_and_is_repaired_by_the_next_open() {
    let disk = FakeDisk::new();
    let store = open_disk(&disk).unwrap();
    let acknowledged = run(&store, &step);
    let (before, image) = (disk.counts(), disk.shown());
    drop(store);
    assert_eq!(disk.counts(), before, "P7: garbage collection never writes to the file");
    assert!(disk.shown() == image);
    assert_eq!(rows(&open_disk(&disk).unwrap()), expected(acknowledged));
}

#[test]
fn p7_a_snapshot_that_outlives_its_store_reaches_no_file() {
    let disk = FakeDisk::new();
    let store = open_disk(&disk).unwrap();
    run(&store, &step);
    let snapshot = store.snapshot().unwrap();
    store.close().unwrap();
    let before = disk.counts();
    assert!(matches!(snapshot.get(Space::Records, b"last", &mut |_| ()), Err(StoreError::Closed)));
    drop((snapshot, store));
    assert_eq!(disk.counts(), before);
}

#[test]
fn a_closed_file_is_opened_without_a_repair() {
    let disk = FakeDisk::new();
    let store = open_disk(&disk).unwrap();
    run(&store, &step);
    store.close().unwrap();
    assert_eq!(disk.counts().closes, 1);
    let before = disk.counts();
    let store = open_disk(&disk).unwrap();
    let reads = disk.counts().reads - before.reads;
    // A repair walks the tree: hundreds of reads.
    assert!(reads < 25, "{reads} reads");
    assert_eq!(rows(&store), expected(STEPS));
}

#[test]
fn i4_a_killed_process_loses_nothing() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    let acknowledged = run(&store, &step);
    // To the file this is what a kill is: no close, and the lock goes with the handle.
    drop(store);
    let store = open(&path).unwrap();
    assert_eq!(rows(&store), expected(acknowledged));
    assert!(matches!(open(&path), Err(OpenError::AlreadyOpen)));
}

/// A failed sync leaves pages in the system's cache that it takes for written. Reads show them, no later sync writes them.
#[test]
fn s6_reopening_after_a_failed_sync_acknowledges_only_what_is_on_the_disk() {
    each_call_of_the_fifth_step_fails(&step);
}

/// The fifth step fills a half of the log, which is moved into the tree then.
#[test]
fn s6_reopening_after_a_sync_that_failed_while_the_log_was_moved_acknowledges_only_what_is_on_the_disk() {
    each_call_of_the_fifth_step_fails(&|number| {
        let mut writes = step(number);
        writes.put(Space::Rows, vec![number], vec![number; 250_000]);
        writes
    });
}

fn each_call_of_the_fifth_step_fails(step: &dyn Fn(u8) -> Writes) {
    let disk = FakeDisk::new();
    let store = open_disk(&disk).unwrap();
    for number in 0..4 {
        store.commit(step(number)).unwrap();
    }
    let calls = disk.counts().calls;
    store.commit(step(4)).unwrap();
    let calls_of_a_commit = disk.counts().calls - calls;
    for call in 1..=calls_of_a_commit + 2 {
        let disk = FakeDisk::new();
        let store = open_disk(&disk).unwrap();
        for number in 0..4 {
            store.commit(step(number)).unwrap();
        }
        disk.fail_call(call);
        let answer = store.commit(step(4));
        disk.heal();
        if matches!(answer, Err(CommitError::NotStored(_))) || answer.is_ok() && store.snapshot().is_ok() {
            continue;
        }
        store.reopen().unwrap();
        let seen = rows(&store);
        assert!(seen == expected(4) && answer.is_err() || seen == expected(5));
        store.commit(put(b"later", b"")).unwrap();
        for crash in crashes(20) {
            let again = open_disk(&FakeDisk::of(disk.crash(crash))).unwrap();
            let mut found = rows(&again);
            found.retain(|(key, _)| key != b"later");
            assert!(found == seen, "call {call}, {crash:?}: what was seen after reopening is gone");
        }
    }
}

#[test]
fn t5_power_lost_while_compacting_loses_nothing() {
    let mut sync = 1;
    loop {
        let disk = FakeDisk::new();
        let store = open_disk(&disk).unwrap();
        run(&store, &step);
        // Makes holes that compacting cannot give back.
        let mut writes = Writes::default();
        writes.put(Space::Rows, b"long".to_vec(), vec![1; 300_000]);
        store.commit(writes).unwrap();
        disk.stop_at_sync(sync);
        let compacted = store.compact();
        if !disk.has_failed() {
            compacted.unwrap();
            break;
        }
        assert!(compacted.is_err());
        for crash in crashes(3) {
            let again = open_disk(&FakeDisk::of(disk.crash(crash))).unwrap();
            assert!(rows(&again) == expected(STEPS), "sync {sync}, {crash:?}");
        }
        sync += 1;
    }
    assert!(sync > 2);
}

#[test]
fn a_crash_is_repeated_by_its_seed() {
    let disk = FakeDisk::new();
    let _store = open_disk(&disk).unwrap();
    assert_eq!(disk.crash(Crash::KeepsSome(3)), disk.crash(Crash::KeepsSome(3)));
}

/// Section 4: what was forgotten stays in the file until it is compacted, and no longer.
#[test]
fn t5_compacting_leaves_no_byte_of_what_was_deleted() {
    let mark = b"the name of somebody who wants to be forgotten";
    let holds_mark = |disk: &FakeDisk| disk.shown().windows(mark.len()).any(|bytes| bytes == mark);
    for filling in [0, 1_200_000] {
        let disk = FakeDisk::new();
        let store = open_disk(&disk).unwrap();
        run(&store, &step);
        store.commit(put(b"forget me", mark)).unwrap();
        store.commit(put(b"filler", &vec![1; filling])).unwrap();
        let mut writes = Writes::default();
        writes.delete(Space::Records, b"forget me".to_vec());
        store.commit(writes).unwrap();
        assert!(holds_mark(&disk));
        store.compact().unwrap();
        assert!(!holds_mark(&disk), "{filling} bytes after it");
        assert_eq!(rows(&store).len(), expected(STEPS).len() + 1);
    }
}
