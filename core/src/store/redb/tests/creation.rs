//! P5: a new file is put in place whole, or not at all.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Barrier;

use super::disk::{Crash, FakeDisk};
use super::{OPTIONS, StoreOptions, folder, open, open_disk, put, rows};
use crate::store::redb::RedbStore;
use crate::store::{OpenError, Store};

#[cfg(unix)]
#[test]
fn p5_a_new_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = folder();
    let _store = open(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn p5_creation_leaves_nothing_beside_the_file() {
    let (folder, path) = folder();
    let store = open(&path).unwrap();
    store.copy_to(&*store.snapshot().unwrap(), &folder.path().join("copy"), [8; 16]).unwrap();
    let names: BTreeSet<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, BTreeSet::from(["copy".into(), "ledger".into()]));
}

#[test]
fn p5_a_left_over_temporary_file_is_never_opened() {
    let (folder, path) = folder();
    let left_over = |number| folder.path().join(format!(".ledger.{}-{number}.new", std::process::id()));
    for number in 0..200 {
        fs::write(left_over(number), "left over").unwrap();
    }
    drop(open(&path).unwrap());
    for number in 0..200 {
        assert_eq!(fs::read(left_over(number)).unwrap(), b"left over");
    }
}

#[test]
fn p5_of_many_creators_one_wins_and_the_others_find_its_file() {
    for _ in 0..10 {
        let (folder, path) = folder();
        let barrier = Barrier::new(8);
        let create = |number| {
            barrier.wait();
            RedbStore::open(&path, StoreOptions { creation_id: [number; 16], ..OPTIONS })
        };
        let create = &create;
        let opened: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || create(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let winners = opened.iter().flatten().count();
        assert_eq!(winners, 1);
        assert!(opened.iter().all(|one| matches!(one, Ok(_) | Err(OpenError::AlreadyOpen))));
        drop(opened);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        drop(open(&path).unwrap());
    }
}

/// The contract's P5 on a disk without names: whatever sync it is stopped at, the next open finishes the work.
#[test]
fn p5_creation_stopped_at_any_sync_is_started_over() {
    let mut sync = 1;
    loop {
        let disk = FakeDisk::new();
        disk.stop_at_sync(sync);
        let opened = open_disk(&disk);
        if !disk.has_failed() {
            assert_eq!(rows(&opened.unwrap()), []);
            break;
        }
        assert!(matches!(opened, Err(OpenError::Unavailable(_))), "{opened:?}");
        for crash in crashes(12) {
            let disk = FakeDisk::of(disk.crash(crash));
            let store = open_disk(&disk).unwrap_or_else(|error| panic!("sync {sync}, {crash:?}: {error}"));
            assert_eq!(rows(&store), []);
            store.commit(put(b"key", b"value")).unwrap();
            drop(store);
            assert_eq!(rows(&open_disk(&FakeDisk::of(disk.crash(Crash::LosesAll))).unwrap()).len(), 1);
        }
        sync += 1;
    }
    assert!(sync > 3, "creation has {sync} syncs");
}

#[test]
fn i9_a_disk_that_is_not_blank_and_no_ledger_is_refused() {
    for image in [b"hello".to_vec(), vec![0; 4097], vec![1; 100_000]] {
        let disk = FakeDisk::of(image.clone());
        assert!(matches!(open_disk(&disk), Err(OpenError::WrongFormat(_))));
        assert_eq!(disk.shown(), image);
    }
}

pub(super) fn crashes(seeds: u64) -> impl Iterator<Item = Crash> {
    [Crash::LosesAll, Crash::KeepsAll].into_iter().chain((0..seeds).map(Crash::KeepsSome))
}
