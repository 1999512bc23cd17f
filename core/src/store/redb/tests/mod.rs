//! What the store on redb keeps beyond what every store keeps: its file, its lock, and its word after a failure.

mod creation;
// The disk that the suites use too, built against this crate's own trait.
#[allow(dead_code, unreachable_pub, reason = "the suites use the rest")]
#[path = "../../../../../tests/harness/src/disk/mod.rs"]
pub(in crate::store::redb) mod disk;
mod failures;
mod left;
mod locking;
mod misplaced;
mod moving;
mod power;
mod refusals;
mod sharing;

use std::ops::Bound::Unbounded;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::disk::FakeDisk;
use super::{RedbStore, StoreOptions};
use crate::store::disk::Disk;
use crate::store::{OpenError, Snapshot, Space, Store, StoreError, Writes};

const OPTIONS: StoreOptions = StoreOptions { cache_bytes: 1 << 20, creation_id: [7; 16] };

fn open(path: &Path) -> Result<RedbStore, OpenError> {
    RedbStore::open(path, OPTIONS)
}

fn open_disk(disk: &FakeDisk) -> Result<RedbStore, OpenError> {
    RedbStore::open_disk(Arc::new(disk.clone()) as Arc<dyn Disk>, OPTIONS)
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    (folder, path)
}

fn put(key: &[u8], value: &[u8]) -> Writes {
    let mut writes = Writes::default();
    writes.put(Space::Records, key.to_vec(), value.to_vec());
    writes
}

type Row = (Vec<u8>, Vec<u8>);

fn rows(store: &RedbStore) -> Vec<Row> {
    try_rows(store).unwrap()
}

fn try_rows(store: &RedbStore) -> Result<Vec<Row>, StoreError> {
    rows_in(&*store.snapshot()?)
}

fn rows_in(snapshot: &dyn Snapshot) -> Result<Vec<Row>, StoreError> {
    let mut rows = Vec::new();
    let mut visit = |key: &[u8], value: &[u8]| {
        rows.push((key.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    };
    snapshot.scan(Space::Records, (Unbounded, Unbounded), &mut visit)?;
    Ok(rows)
}

/// A commit of its own for each number: a row that is overwritten, one that stays, one that goes, a page or more in size.
fn step(number: u8) -> Writes {
    let mut writes = put(b"last", &[number]);
    writes.put(Space::Records, vec![b'k', number], vec![number; 300 * usize::from(number % 32)]);
    if let Some(gone) = number.checked_sub(5) {
        writes.delete(Space::Records, vec![b'k', gone]);
    }
    writes
}

/// The rows that there are after the steps up to this one.
fn after_step(number: u8) -> Vec<Row> {
    let kept = number.saturating_sub(4)..=number;
    let rows = kept.map(|number| (vec![b'k', number], vec![number; 300 * usize::from(number % 32)]));
    rows.chain([(b"last".to_vec(), vec![number])]).collect()
}
