//! S7: what a store says after a call to its disk was left: the host has thrown through it, and no error came back.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::disk::FakeDisk;
use super::{OPTIONS, after_step, put, rows, step};
use crate::store::disk::Disk;
use crate::store::redb::RedbStore;
use crate::store::{Store, StoreError};

/// Lets some calls through, and throws at the next, before it or after it.
#[derive(Debug)]
struct Throws {
    disk: FakeDisk,
    calls_left: AtomicI64,
    is_after: bool,
}

const NEVER: i64 = i64::MAX;

impl Throws {
    fn call<T>(&self, call: impl FnOnce(&FakeDisk) -> io::Result<T>) -> io::Result<T> {
        let is_it = self.calls_left.fetch_sub(1, Ordering::SeqCst) == 0;
        if is_it && !self.is_after {
            std::panic::resume_unwind(Box::new("thrown by the host"));
        }
        let told = call(&self.disk);
        if is_it {
            std::panic::resume_unwind(Box::new("thrown by the host"));
        }
        told
    }

    fn throw_at(&self, call: i64) {
        self.calls_left.store(call, Ordering::SeqCst);
    }
}

impl Disk for Throws {
    fn len(&self) -> io::Result<u64> {
        self.call(Disk::len)
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.call(|disk| disk.read(offset, out))
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.call(|disk| disk.write(offset, data))
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.call(|disk| disk.set_len(len))
    }
    fn sync(&self) -> io::Result<()> {
        self.call(Disk::sync)
    }
    fn close(&self) -> io::Result<()> {
        self.call(Disk::close)
    }
}

#[test]
fn s7_a_commit_that_is_left_poisons_the_store_and_reopening_finds_it_whole() {
    for is_after in [false, true] {
        let mut left = 0;
        for call in 0..20 {
            let disk = Arc::new(Throws { disk: FakeDisk::new(), calls_left: NEVER.into(), is_after });
            let store = RedbStore::open_disk(disk.clone(), OPTIONS).unwrap();
            (0..6).for_each(|number| store.commit(step(number)).unwrap());
            disk.throw_at(call);
            let committed = catch_unwind(AssertUnwindSafe(|| store.commit(step(6))));
            disk.throw_at(NEVER);
            if committed.is_ok() {
                break;
            }
            left += 1;
            assert!(matches!(store.snapshot(), Err(StoreError::Poisoned)), "call {call} was left, and it goes on");
            store.reopen().unwrap();
            assert!([after_step(5), after_step(6)].contains(&rows(&store)), "call {call}");
            store.commit(put(b"next", b"1")).unwrap();
        }
        assert!(left > 0, "no call of a commit was left");
    }
}
