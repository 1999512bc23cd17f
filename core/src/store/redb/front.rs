//! What stands between the store's port and an open database.

use std::fmt::Debug;
use std::sync::Arc;

use crate::store::health::Health;
use crate::store::{CommitError, CreationId, FileReport, Snapshot, StoreError, Turn, Writes};

/// An open database with its log: of this process alone, or shared with others. Dropped without `close`, it is as if the process
/// had been killed.
pub(super) trait Front: Send + Sync + Debug {
    fn creation_id(&self) -> CreationId;

    fn check(&self) -> Result<(), StoreError>;

    /// Whether it still answers, shared with its views.
    fn health(&self) -> Arc<Health>;

    /// Where nobody else has the file, it is this process's turn at any time.
    fn take_turn(&self) -> Result<(Turn, Arc<dyn Snapshot>), StoreError> {
        Ok((Turn::free(), self.snapshot()?))
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, StoreError>;

    fn commit(&self, writes: Writes) -> Result<(), CommitError>;

    fn file_bytes(&self) -> Result<u64, StoreError>;

    fn report(&self) -> Result<FileReport, StoreError>;

    fn check_integrity(&mut self) -> Result<bool, StoreError>;

    fn compact(&mut self) -> Result<(), StoreError>;

    /// Lets go of the file, which the next one opens without repair.
    fn close(self: Box<Self>) -> Result<(), StoreError>;
}
