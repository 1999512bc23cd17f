//! A ledger file that is only looked at: not a byte of it is changed, whatever its last owner left (contract P8).
//!
//! What the log holds is laid over the tree and not moved into it; what redb writes while it opens and checks a file stays in memory.

use std::sync::{Arc, PoisonError, RwLock};

use super::engine::Engine;
use super::front::Front;
use super::layer::Layer;
use super::region;
use super::veil::Veil;
use crate::store::disk::Disk;
use crate::store::health::Health;
use crate::store::log::Found;
use crate::store::memtable::Memtable;
use crate::store::{CommitError, CreationId, FileReport, OpenError, Snapshot, StoreError, Writes};

/// An open database that refuses whatever changes it.
#[derive(Debug)]
pub(super) struct Look {
    engine: Engine,
    file: Arc<dyn Disk>,
    /// Its full half, and the one after it.
    log: [Table; 2],
    /// None while pages are checked.
    view: RwLock<Option<Arc<Layer>>>,
}

/// What a half of the log holds, and the number of its last record.
struct Table(Arc<Memtable>, u64);

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Table").field(&self.1).finish()
    }
}

impl Table {
    fn of(records: Vec<Writes>) -> Self {
        let (table, mut last) = (Memtable::default(), 0);
        for writes in records {
            last += 1;
            table.add(last, writes);
        }
        Table(Arc::new(table), last)
    }
}

impl Look {
    /// Looks at the ledger on `file`, which is only read.
    pub(super) fn start(file: Arc<dyn Disk>, cache_bytes: usize) -> Result<Look, OpenError> {
        let veil = Arc::new(Veil::over(Arc::clone(&file)).map_err(OpenError::Unavailable)?);
        let (engine, Found { full, recent, .. }) = Engine::start(veil, cache_bytes, region::read_log)?;
        let log = [Table::of(full), Table::of(recent)];
        let look = Look { engine, file, log, view: RwLock::default() };
        look.show()?;
        Ok(look)
    }

    fn show(&self) -> Result<(), StoreError> {
        let lay = |below, Table(table, upto): &Table| {
            Arc::new(Layer { below, table: Arc::clone(table), upto: *upto, health: self.engine.health() })
        };
        let [full, recent] = &self.log;
        let view = lay(lay(self.engine.snapshot()?, full), recent);
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = Some(view);
        Ok(())
    }
}

impl Front for Look {
    fn creation_id(&self) -> CreationId {
        self.engine.creation_id()
    }

    fn check(&self) -> Result<(), StoreError> {
        self.engine.check()
    }

    fn health(&self) -> Arc<Health> {
        self.engine.health()
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, StoreError> {
        self.engine.check()?;
        let view = self.view.read().unwrap_or_else(PoisonError::into_inner).clone();
        view.map(|view| view as Arc<dyn Snapshot>).ok_or(StoreError::Poisoned)
    }

    fn commit(&self, writes: Writes) -> Result<(), CommitError> {
        if writes.is_empty() { Ok(()) } else { Err(CommitError::NotStored(StoreError::LookedAt)) }
    }

    fn file_bytes(&self) -> Result<u64, StoreError> {
        self.engine.check()?;
        self.file.len().map_err(StoreError::Io)
    }

    /// Of the tree: what is in the log takes none of its pages.
    fn report(&self) -> Result<FileReport, StoreError> {
        self.engine.report()
    }

    fn check_integrity(&mut self) -> Result<bool, StoreError> {
        *self.view.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        let checked = self.engine.check_integrity();
        if checked.is_ok() {
            self.show()?;
        }
        checked
    }

    fn compact(&mut self) -> Result<(), StoreError> {
        Err(StoreError::LookedAt)
    }

    /// As after a kill: there is nothing to be left behind.
    fn close(self: Box<Self>) -> Result<(), StoreError> {
        let Look { engine, file, view, .. } = *self;
        drop(view);
        engine.health().close();
        drop(engine);
        file.close().map_err(StoreError::Io)
    }
}
