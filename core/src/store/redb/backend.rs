//! What redb is given for a file: a disk from the end of the log on, behind a gate that can be shut for good.

use std::io;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ::redb::{BackendError, StorageBackend};

use super::header::STORAGE;
use crate::store::disk::Disk;

/// Lets calls through to a disk until it is shut. Shutting waits for calls under way.
#[derive(Debug)]
pub(super) struct Gate(RwLock<Option<Arc<dyn Disk>>>);

impl Gate {
    pub(super) fn open_on(disk: Arc<dyn Disk>) -> Arc<Gate> {
        Arc::new(Gate(RwLock::new(Some(disk))))
    }

    /// From now on calls go to `disk`. A gate that is shut stays shut.
    pub(super) fn lead_to(&self, disk: Arc<dyn Disk>) {
        if let Some(current) = &mut *self.write() {
            *current = disk;
        }
    }

    /// Lets nothing through any more.
    pub(super) fn shut(&self) {
        self.write().take();
    }

    /// Where calls go now.
    pub(super) fn disk(&self) -> Option<Arc<dyn Disk>> {
        self.read().clone()
    }

    pub(super) fn pass<T>(&self, call: impl FnOnce(&dyn Disk) -> io::Result<T>) -> io::Result<T> {
        match &*self.read() {
            Some(disk) => call(&**disk),
            None => Err(io::Error::other("the store is closed")),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<Arc<dyn Disk>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Option<Arc<dyn Disk>>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shuts its gate when it goes, so that whatever redb does after that reaches no file (contract P7).
#[derive(Debug)]
pub(super) struct Gatekeeper(pub(super) Arc<Gate>);

impl Drop for Gatekeeper {
    fn drop(&mut self) {
        self.0.shut();
    }
}

/// The disk without its first page and the log.
#[derive(Debug)]
pub(super) struct Backend {
    pub(super) gate: Arc<Gate>,
    /// Where redb's locks between processes are; none where the file is locked whole.
    pub(super) locks: Option<Arc<dyn StorageBackend>>,
}

impl Backend {
    fn locked<T>(
        &self,
        alone: T,
        lock: impl FnOnce(&dyn StorageBackend) -> Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        self.locks.as_ref().map_or(Ok(alone), |locks| lock(&**locks))
    }
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.gate.pass(|disk| disk.len().map(|len| len.saturating_sub(STORAGE)))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.gate.pass(|disk| disk.read(STORAGE + offset, out))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.gate.pass(|disk| disk.set_len(STORAGE + len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.gate.pass(|disk| disk.sync())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.gate.pass(|disk| disk.write(STORAGE + offset, data))
    }

    // A file that is locked whole was locked before redb saw it, and no other handle of this process has it.
    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.locked(true, |locks| locks.try_lock_range(start, end))
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.locked(true, |locks| locks.try_lock_shared_range(start, end))
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.locked((), |locks| locks.lock_range(start, end))
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.locked((), |locks| locks.lock_shared_range(start, end))
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.locked((), |locks| locks.unlock_range(start, end))
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.locked(false, |locks| locks.query_lock_range(start, end))
    }
}
