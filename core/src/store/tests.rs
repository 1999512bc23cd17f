//! What every store keeps, run on each of them.

mod scans;

use std::ops::Bound::Unbounded;
use std::ops::ControlFlow;
use std::sync::Arc;

use self::scans::{
    Dice, a_scan_ends_where_its_visitor_breaks, random_commits_leave_what_a_plain_map_has,
    random_scans_find_what_a_plain_map_finds, scans_keep_to_their_bounds,
};
use super::memory::MemoryStore;
use super::redb::{RedbStore, StoreOptions};
use super::{CommitError, KeyRange, OpenError, Snapshot, Space, Store, StoreError, Writes};

pub(super) const OPTIONS: StoreOptions = StoreOptions { cache_bytes: 1 << 20, creation_id: [7; 16] };

type Row = (Vec<u8>, Vec<u8>);

/// A store, and what has to stay alive for it.
struct Subject {
    store: Arc<dyn Store>,
    folder: tempfile::TempDir,
}

fn memory() -> Subject {
    Subject { store: Arc::new(MemoryStore::new()), folder: tempfile::tempdir().unwrap() }
}

fn redb() -> Subject {
    let folder = tempfile::tempdir().unwrap();
    let store = RedbStore::open(&folder.path().join("ledger"), OPTIONS).unwrap();
    Subject { store: Arc::new(store), folder }
}

pub(super) fn put(space: Space, key: &[u8], value: &[u8]) -> Writes {
    let mut writes = Writes::default();
    writes.put(space, key.to_vec(), value.to_vec());
    writes
}

pub(super) fn get(snapshot: &dyn Snapshot, space: Space, key: &[u8]) -> Option<Vec<u8>> {
    let mut value = None;
    let found = snapshot.get(space, key, &mut |bytes| value = Some(bytes.to_vec())).unwrap();
    assert_eq!(found, value.is_some());
    value
}

fn scan(snapshot: &dyn Snapshot, space: Space, range: KeyRange<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    snapshot
        .scan(space, range, &mut |key, value| {
            rows.push((key.to_vec(), value.to_vec()));
            ControlFlow::Continue(())
        })
        .unwrap();
    rows
}

fn all(snapshot: &dyn Snapshot, space: Space) -> Vec<Row> {
    scan(snapshot, space, (Unbounded, Unbounded))
}

/// Makes a test of each truth for each store.
macro_rules! on_every_store {
    ($($truth:ident)*) => {
        mod on_memory {
            $(#[test] fn $truth() { super::$truth(&super::memory()); })*
        }
        mod on_redb {
            $(#[test] fn $truth() { super::$truth(&super::redb()); })*
        }
    };
}

on_every_store! {
    a_new_store_is_empty
    what_is_committed_is_read_from_its_space_alone
    a_snapshot_stays_as_it_is_while_commits_go_on
    a_delete_removes_one_key_and_of_a_missing_key_does_nothing
    the_later_write_to_a_key_wins
    an_empty_key_and_an_empty_value_are_stored
    a_value_of_a_mebibyte_comes_back_byte_for_byte
    scans_keep_to_their_bounds
    a_scan_ends_where_its_visitor_breaks
    random_commits_leave_what_a_plain_map_has
    random_scans_find_what_a_plain_map_finds
    a_closed_store_answers_closed_and_reopens_with_its_content
    closing_twice_and_reopening_an_open_store_are_no_errors
    a_snapshot_of_before_the_close_is_closed_even_after_reopening
    compacting_waits_for_no_snapshot
    a_copy_holds_what_the_snapshot_shows
    a_copy_leaves_a_path_that_exists_alone
    threads_read_while_one_commits
    bytes_are_counted
}

fn a_new_store_is_empty(subject: &Subject) {
    let snapshot = subject.store.snapshot().unwrap();
    for space in Space::ALL {
        assert_eq!(get(&*snapshot, space, b""), None);
        assert_eq!(all(&*snapshot, space), []);
    }
}

fn what_is_committed_is_read_from_its_space_alone(subject: &Subject) {
    for space in Space::ALL {
        subject.store.commit(put(space, b"key", format!("{space:?}").as_bytes())).unwrap();
    }
    let snapshot = subject.store.snapshot().unwrap();
    for space in Space::ALL {
        let value = format!("{space:?}").into_bytes();
        assert_eq!(get(&*snapshot, space, b"key"), Some(value.clone()));
        assert_eq!(all(&*snapshot, space), [(b"key".to_vec(), value)]);
        assert_eq!(get(&*snapshot, space, b"ke"), None);
    }
}

fn a_snapshot_stays_as_it_is_while_commits_go_on(subject: &Subject) {
    let mut taken = Vec::new();
    for round in 0_u8..20 {
        let mut writes = put(Space::Records, b"same", &[round]);
        writes.put(Space::Records, vec![round], vec![round]);
        if round > 0 {
            writes.delete(Space::Records, vec![round - 1]);
        }
        subject.store.commit(writes).unwrap();
        taken.push((round, subject.store.snapshot().unwrap()));
    }
    for (round, snapshot) in taken {
        let rows = vec![(vec![round], vec![round]), (b"same".to_vec(), vec![round])];
        assert_eq!(all(&*snapshot, Space::Records), rows);
    }
}

fn a_delete_removes_one_key_and_of_a_missing_key_does_nothing(subject: &Subject) {
    let mut writes = put(Space::Rows, b"a", b"1");
    writes.put(Space::Rows, b"b".to_vec(), b"2".to_vec());
    subject.store.commit(writes).unwrap();
    let mut writes = Writes::default();
    writes.delete(Space::Rows, b"a".to_vec());
    writes.delete(Space::Rows, b"missing".to_vec());
    writes.delete(Space::Meta, b"b".to_vec());
    subject.store.commit(writes).unwrap();
    assert_eq!(all(&*subject.store.snapshot().unwrap(), Space::Rows), [(b"b".to_vec(), b"2".to_vec())]);
}

fn the_later_write_to_a_key_wins(subject: &Subject) {
    let mut writes = put(Space::Meta, b"key", b"first");
    writes.absorb(put(Space::Meta, b"key", b"second"));
    subject.store.commit(writes).unwrap();
    assert_eq!(get(&*subject.store.snapshot().unwrap(), Space::Meta, b"key"), Some(b"second".to_vec()));
    let mut writes = Writes::default();
    writes.delete(Space::Meta, b"key".to_vec());
    writes.absorb(put(Space::Meta, b"key", b"third"));
    subject.store.commit(writes).unwrap();
    assert_eq!(get(&*subject.store.snapshot().unwrap(), Space::Meta, b"key"), Some(b"third".to_vec()));
}

fn an_empty_key_and_an_empty_value_are_stored(subject: &Subject) {
    let mut writes = put(Space::Rows, b"", b"of the empty key");
    writes.put(Space::Rows, b"k".to_vec(), Vec::new());
    subject.store.commit(writes).unwrap();
    let snapshot = subject.store.snapshot().unwrap();
    assert_eq!(get(&*snapshot, Space::Rows, b""), Some(b"of the empty key".to_vec()));
    assert_eq!(get(&*snapshot, Space::Rows, b"k"), Some(Vec::new()));
}

fn a_value_of_a_mebibyte_comes_back_byte_for_byte(subject: &Subject) {
    let mut dice = Dice(1);
    let value: Vec<u8> = (0..1 << 20).map(|_| dice.byte()).collect();
    subject.store.commit(put(Space::Records, b"big", &value)).unwrap();
    assert!(get(&*subject.store.snapshot().unwrap(), Space::Records, b"big") == Some(value));
}

fn a_closed_store_answers_closed_and_reopens_with_its_content(subject: &Subject) {
    let store = &subject.store;
    store.commit(put(Space::Records, b"key", b"value")).unwrap();
    store.close().unwrap();
    assert!(matches!(store.snapshot(), Err(StoreError::Closed)));
    assert!(matches!(store.commit(put(Space::Meta, b"", b"")), Err(CommitError::NotStored(StoreError::Closed))));
    assert!(matches!(store.commit(Writes::default()), Err(CommitError::NotStored(StoreError::Closed))));
    assert!(matches!(store.file_bytes(), Err(StoreError::Closed)));
    assert!(matches!(store.report(), Err(StoreError::Closed)));
    assert!(matches!(store.compact(), Err(StoreError::Closed)));
    store.reopen().unwrap();
    let snapshot = store.snapshot().unwrap();
    assert_eq!(get(&*snapshot, Space::Records, b"key"), Some(b"value".to_vec()));
    assert_eq!(all(&*snapshot, Space::Meta), []);
}

fn closing_twice_and_reopening_an_open_store_are_no_errors(subject: &Subject) {
    subject.store.reopen().unwrap();
    subject.store.close().unwrap();
    subject.store.close().unwrap();
    subject.store.reopen().unwrap();
    subject.store.reopen().unwrap();
    subject.store.commit(put(Space::Meta, b"key", b"value")).unwrap();
}

fn a_snapshot_of_before_the_close_is_closed_even_after_reopening(subject: &Subject) {
    let snapshot = subject.store.snapshot().unwrap();
    subject.store.close().unwrap();
    subject.store.reopen().unwrap();
    assert!(matches!(snapshot.get(Space::Meta, b"", &mut |_| ()), Err(StoreError::Closed)));
    let scanned = snapshot.scan(Space::Meta, (Unbounded, Unbounded), &mut |_, _| ControlFlow::Continue(()));
    assert!(matches!(scanned, Err(StoreError::Closed)));
}

fn compacting_waits_for_no_snapshot(subject: &Subject) {
    for round in 0_u8..50 {
        subject.store.commit(put(Space::Records, &[round], &[round; 5000])).unwrap();
    }
    let snapshot = subject.store.snapshot().unwrap();
    assert!(matches!(subject.store.compact(), Err(StoreError::Busy)));
    let before = all(&*snapshot, Space::Records);
    drop(snapshot);
    subject.store.compact().unwrap();
    assert!(all(&*subject.store.snapshot().unwrap(), Space::Records) == before);
    subject.store.commit(put(Space::Records, b"after", b"")).unwrap();
}

fn a_copy_holds_what_the_snapshot_shows(subject: &Subject) {
    let mut writes = Writes::default();
    for number in 0_u32..3000 {
        let space = Space::ALL[number as usize % 4];
        writes.put(space, number.to_be_bytes().to_vec(), vec![number.to_be_bytes()[3]; 2000]);
    }
    subject.store.commit(writes).unwrap();
    let snapshot = subject.store.snapshot().unwrap();
    subject.store.commit(put(Space::Rows, b"later", b"not in the copy")).unwrap();
    let path = subject.folder.path().join("copy");
    subject.store.copy_to(&*snapshot, &path, [9; 16]).unwrap();

    let copy = RedbStore::open(&path, OPTIONS).unwrap();
    assert_eq!(copy.creation_id(), [9; 16], "I5: a copy is another ledger");
    let copied = copy.snapshot().unwrap();
    for space in Space::ALL {
        assert!(all(&*copied, space) == all(&*snapshot, space));
    }
}

fn a_copy_leaves_a_path_that_exists_alone(subject: &Subject) {
    let path = subject.folder.path().join("taken");
    std::fs::write(&path, "mine").unwrap();
    let copied = subject.store.copy_to(&*subject.store.snapshot().unwrap(), &path, [9; 16]);
    let Err(OpenError::Store(StoreError::Io(error))) = copied else { panic!("{copied:?}") };
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
}

fn threads_read_while_one_commits(subject: &Subject) {
    let store = &subject.store;
    store.commit(put(Space::Records, b"left", &[0])).unwrap();
    store.commit(put(Space::Records, b"right", &[0])).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut last = 0;
                while last < 100 {
                    let snapshot = store.snapshot().unwrap();
                    let left = get(&*snapshot, Space::Records, b"left").unwrap();
                    let right = get(&*snapshot, Space::Records, b"right").unwrap();
                    assert_eq!(left, right, "a snapshot shows all of a commit or nothing of it");
                    assert!(left[0] >= last, "a later snapshot never shows an earlier state");
                    last = left[0];
                }
            });
        }
        for round in 1..=100 {
            let mut writes = put(Space::Records, b"left", &[round]);
            writes.put(Space::Records, b"right".to_vec(), vec![round]);
            store.commit(writes).unwrap();
            let seen = get(&*store.snapshot().unwrap(), Space::Records, b"left");
            assert_eq!(seen, Some(vec![round]), "what was committed is seen at once");
        }
    });
}

fn bytes_are_counted(subject: &Subject) {
    let store = &subject.store;
    let before = store.report().unwrap().stored_bytes;
    store.commit(put(Space::Records, &[1; 10], &vec![2; 90_000])).unwrap();
    let report = store.report().unwrap();
    let stored = report.stored_bytes - before;
    assert!((90_010..90_100).contains(&stored), "{stored}");
    assert_eq!(report.file_bytes, store.file_bytes().unwrap());
    let sum = report.stored_bytes + report.overhead_bytes + report.free_bytes + report.leaked_bytes;
    assert_eq!(sum, report.file_bytes, "{report:?}");
    store.commit(put(Space::Records, &[1; 10], &[])).unwrap();
    assert!(store.report().unwrap().stored_bytes < before + 100);
}
