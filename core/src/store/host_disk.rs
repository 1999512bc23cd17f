//! A disk that the host brings: its code may call back into the ledger that it keeps, whose call could only wait for itself (G2).

use std::cell::RefCell;
use std::io;
use std::sync::Arc;

use super::disk::Disk;

thread_local! {
    /// The disks that have a call of this thread.
    static INSIDE: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// The host's disk, and who is inside of a call of it.
#[derive(Debug)]
pub(super) struct HostDisk {
    disk: Arc<dyn Disk>,
}

impl HostDisk {
    pub(super) fn of(disk: Arc<dyn Disk>) -> Arc<Self> {
        Arc::new(Self { disk })
    }

    /// Whether this thread is inside of a call of this disk.
    pub(super) fn is_calling(&self) -> bool {
        INSIDE.with_borrow(|inside| inside.contains(&self.name()))
    }

    fn call<T>(&self, call: impl FnOnce(&dyn Disk) -> io::Result<T>) -> io::Result<T> {
        let _inside = Inside::enter(self.name());
        call(&*self.disk)
    }

    /// Its address, which it has to itself for as long as it is called.
    fn name(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

/// Says that this thread is inside until it is dropped.
struct Inside;

impl Inside {
    fn enter(name: usize) -> Self {
        INSIDE.with_borrow_mut(|inside| inside.push(name));
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.with_borrow_mut(Vec::pop);
    }
}

impl Disk for HostDisk {
    fn len(&self) -> io::Result<u64> {
        self.call(|disk| disk.len())
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
        self.call(|disk| disk.sync())
    }

    fn write_synced(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.call(|disk| disk.write_synced(offset, data))
    }

    fn close(&self) -> io::Result<()> {
        self.call(|disk| disk.close())
    }
}
