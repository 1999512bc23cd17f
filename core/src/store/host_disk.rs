//! A disk that the host brings: its code may call back into the ledger that it keeps, whose call could only wait for itself (G2).

use std::io;
use std::sync::Arc;

use super::disk::Disk;
use crate::inside::{Inside, Names, is_inside};

thread_local! {
    /// The disks that have a call of this thread.
    static CALLS: Names = const { Names::new() };
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
        is_inside(&CALLS, self)
    }

    fn call<T>(&self, call: impl FnOnce(&dyn Disk) -> io::Result<T>) -> io::Result<T> {
        let _inside = Inside::enter(&CALLS, self);
        call(&*self.disk)
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
