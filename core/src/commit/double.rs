//! A store in memory that a test stands before.

use std::path::Path;
use std::sync::Arc;

use crate::store::memory::MemoryStore;
use crate::store::{CommitError, CreationId, FileReport, OpenError, Snapshot, Store, StoreError, Writes};

/// What a test does where the queue calls its store.
pub(super) trait Stand: Send + Sync {
    /// Before a view is taken.
    fn before_snapshot(&self) {}

    /// In the place of a commit, which goes on to `inner` as it likes.
    fn commit(&self, inner: &MemoryStore, writes: Writes) -> Result<(), CommitError>;
}

/// A store in memory, and who stands before it.
pub(super) struct Double<S> {
    pub(super) inner: MemoryStore,
    pub(super) stand: S,
}

impl<S: Stand> Double<S> {
    pub(super) fn behind(stand: S) -> Arc<Self> {
        Arc::new(Self { inner: MemoryStore::new(), stand })
    }
}

impl<S: Stand> Store for Double<S> {
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, StoreError> {
        self.stand.before_snapshot();
        self.inner.snapshot()
    }

    fn commit(&self, writes: Writes) -> Result<(), CommitError> {
        self.stand.commit(&self.inner, writes)
    }

    fn file_bytes(&self) -> Result<u64, StoreError> {
        self.inner.file_bytes()
    }

    fn report(&self) -> Result<FileReport, StoreError> {
        self.inner.report()
    }

    fn check(&self) -> Result<bool, StoreError> {
        self.inner.check()
    }

    fn compact(&self) -> Result<(), StoreError> {
        self.inner.compact()
    }

    fn close(&self) -> Result<(), StoreError> {
        self.inner.close()
    }

    fn reopen(&self) -> Result<(), OpenError> {
        self.inner.reopen()
    }

    fn copy_to(&self, snapshot: &dyn Snapshot, path: &Path, creation_id: CreationId) -> Result<(), OpenError> {
        self.inner.copy_to(snapshot, path, creation_id)
    }
}
