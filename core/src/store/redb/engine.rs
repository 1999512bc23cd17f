//! A redb database over an open disk: snapshots, commits, and the state they leave it in.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use ::redb::{Builder, ConcurrencyMode, Database, ReadableDatabase, StorageBackend, WriteTransaction};

use super::backend::{Backend, Gate, Gatekeeper};
use super::errors::{self, caught};
use super::header::{self, PAGE, STORAGE};
use super::scrub;
use super::tables::{self, Tables};
use super::trial::Trial;
use crate::store::disk::Disk;
use crate::store::health::Health;
use crate::store::{
    CommitError, CreationId, FileReport, KeyRange, OpenError, Snapshot, Space, StoreError, Visit, Writes, holds_nothing,
};

/// How a store is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoreOptions {
    /// Memory for pages of the file, in bytes.
    pub(crate) cache_bytes: usize,
    /// Names the file if it is created now.
    pub(crate) creation_id: CreationId,
}

/// An open database. Dropped without `close`, it is as if the process had been killed: nothing more is written.
pub(super) struct Engine {
    // Goes first: the gate is shut before redb's own drop, which would write.
    gatekeeper: Gatekeeper,
    database: Database,
    health: Arc<Health>,
    latest: RwLock<Option<Arc<RedbSnapshot>>>,
    /// A view that is kept pins pages. Beside other processes, who may commit for hours while this one rests, none is kept.
    keeps_view: bool,
    creation_id: CreationId,
}

impl Engine {
    /// Opens the ledger on `disk`. On an error not a byte of it was changed, unless the disk fails while a repair that is
    /// already known to end well is written to it; then the next open repairs again.
    ///
    /// `examine` has a look before anything is changed; what it writes is written only if it is content.
    pub(super) fn start<T>(
        disk: Arc<dyn Disk>,
        cache_bytes: usize,
        examine: impl FnOnce(&Engine) -> Result<T, OpenError>,
    ) -> Result<(Engine, T), OpenError> {
        Engine::start_first(disk, cache_bytes, None, examine)
    }

    /// The same for a file that other processes may open as well, by their locks.
    pub(super) fn start_first<T>(
        disk: Arc<dyn Disk>,
        cache_bytes: usize,
        locks: Option<Arc<dyn StorageBackend>>,
        examine: impl FnOnce(&Engine) -> Result<T, OpenError>,
    ) -> Result<(Engine, T), OpenError> {
        let header = header::inspect(&*disk)?;
        let trial = Arc::new(Trial::over(Arc::clone(&disk)));
        let gate = Gate::open_on(Arc::clone(&trial) as Arc<dyn Disk>);
        let engine = Engine::launch(gate, cache_bytes, header.creation_id, locks).map_err(errors::while_opening)?;
        engine.look().map_err(errors::while_opening)?;
        let examined = examine(&engine)?;
        trial.settle().map_err(OpenError::Unavailable)?;
        engine.gatekeeper.0.lead_to(disk);
        Ok((engine, examined))
    }

    /// Opens a file that other processes have open: they vouch for it, and there is nothing to repair. They read while
    /// this happens, so nothing is held back.
    pub(super) fn join(
        disk: Arc<dyn Disk>,
        cache_bytes: usize,
        locks: Arc<dyn StorageBackend>,
    ) -> Result<Engine, OpenError> {
        let header = header::inspect(&*disk)?;
        let gate = Gate::open_on(disk);
        Engine::launch(gate, cache_bytes, header.creation_id, Some(locks)).map_err(errors::while_opening)
    }

    /// Makes a commit of redb's whole, or undone, that a process died in: readers see it only then.
    pub(super) fn finish_for_others(&self) -> Result<(), StoreError> {
        let finished = caught(|| self.begin_write()?.abort().map_err(errors::of_storage));
        self.noting_failure(finished)
    }

    /// What leads to the disk for as long as the engine is open.
    pub(super) fn gate(&self) -> Arc<Gate> {
        Arc::clone(&self.gatekeeper.0)
    }

    pub(super) fn poison(&self) {
        self.health.poison();
    }

    pub(super) fn is_well(&self) -> bool {
        self.health.is_well()
    }

    /// As `poison`; the next call is told why.
    pub(super) fn poison_by(&self, cause: StoreError) {
        self.health.poison_by(cause);
    }

    pub(super) fn health(&self) -> Arc<Health> {
        Arc::clone(&self.health)
    }

    /// Makes a database with empty tables after the log of `disk`.
    pub(super) fn create(
        disk: Arc<dyn Disk>,
        cache_bytes: usize,
        creation_id: CreationId,
    ) -> Result<Engine, OpenError> {
        let gate = Gate::open_on(disk);
        let engine = Engine::launch(gate, cache_bytes, creation_id, None).map_err(errors::while_opening)?;
        engine.create_tables().map_err(errors::while_opening)?;
        Ok(engine)
    }

    fn launch(
        gate: Arc<Gate>,
        cache_bytes: usize,
        creation_id: CreationId,
        locks: Option<Arc<dyn StorageBackend>>,
    ) -> Result<Engine, StoreError> {
        let keeps_view = locks.is_none();
        let mode = if keeps_view { ConcurrencyMode::ExclusiveWriter } else { ConcurrencyMode::MultiWriter };
        let backend = Backend { gate: Arc::clone(&gate), locks };
        let gatekeeper = Gatekeeper(gate);
        let database = caught(|| {
            let mut builder = Builder::new();
            builder.set_cache_size(cache_bytes).set_concurrency_mode(mode);
            builder.create_with_backend(backend).map_err(errors::of_database)
        })?;
        Ok(Engine { gatekeeper, database, health: Arc::default(), latest: RwLock::default(), keeps_view, creation_id })
    }

    fn create_tables(&self) -> Result<(), StoreError> {
        caught(|| {
            let transaction = self.begin_write()?;
            tables::create(&transaction)?;
            transaction.commit().map_err(errors::of_commit)
        })
    }

    pub(super) fn creation_id(&self) -> CreationId {
        self.creation_id
    }

    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.health.check()
    }

    /// The view that everybody shares until the next commit.
    pub(super) fn snapshot(&self) -> Result<Arc<RedbSnapshot>, StoreError> {
        if let Some(snapshot) = &*self.latest.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(Arc::clone(snapshot));
        }
        let mut latest = self.latest_mut();
        if let Some(snapshot) = &*latest {
            return Ok(Arc::clone(snapshot));
        }
        let snapshot = Arc::new(self.look()?);
        *latest = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    fn look(&self) -> Result<RedbSnapshot, StoreError> {
        self.look_at_generation().map(|(snapshot, _)| snapshot)
    }

    /// A view of the tree as it is now, and which generation of the log is not in it.
    pub(super) fn look_at_generation(&self) -> Result<(RedbSnapshot, u64), StoreError> {
        let looked = caught(|| {
            let transaction = self.database.begin_read().map_err(errors::of_transaction)?;
            Ok((Tables::open(&transaction)?, tables::generation(&transaction)?))
        });
        let (tables, generation) = self.noting_failure(looked)?;
        Ok((RedbSnapshot { tables, health: Arc::clone(&self.health) }, generation))
    }

    // The lock is held while a view is taken, so that a view of before a commit cannot be put back after it.
    fn latest_mut(&self) -> RwLockWriteGuard<'_, Option<Arc<RedbSnapshot>>> {
        self.latest.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The generation of the log that is not yet in the tree.
    pub(super) fn generation(&self) -> Result<u64, StoreError> {
        self.look_at_generation().map(|(_, generation)| generation)
    }

    /// Stores `writes`, and that they are all of the log before `generation`.
    pub(super) fn commit(&self, writes: &Writes, generation: u64) -> Result<(), CommitError> {
        // Until redb's commit is called no page that was written is referenced by anything.
        let applied = caught(|| {
            let mut transaction = self.begin_write()?;
            tables::apply(&transaction, writes)?;
            tables::set_generation(&transaction, generation)?;
            // One sync more, a thousand commits apart: a killed file opens at once instead of being walked.
            transaction.set_quick_repair(true);
            Ok(transaction)
        });
        let transaction = self.noting_failure(applied).map_err(CommitError::NotStored)?;
        if let Err(error) = caught(|| transaction.commit().map_err(errors::of_commit)) {
            self.health.poison();
            return Err(CommitError::Open(error));
        }
        // Held from now on, also while nobody reads: redb writes a quarter less when a reader keeps it from freeing pages
        // at once. If it cannot be had, the next reader is told why; the commit is stored all the same.
        if self.keeps_view {
            let mut latest = self.latest_mut();
            *latest = self.look().ok().map(Arc::new);
        }
        Ok(())
    }

    fn begin_write(&self) -> Result<WriteTransaction, StoreError> {
        self.database.begin_write().map_err(errors::of_transaction)
    }

    // After a failed call to the disk redb refuses whatever needs the disk again, and after a panic nobody knows. All
    // callers are told the same, also those whose page happens to be in memory.
    fn noting_failure<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(StoreError::Io(_) | StoreError::Corrupt(_) | StoreError::Row { .. } | StoreError::Poisoned) = &result
        {
            self.health.poison();
        }
        result
    }

    pub(super) fn file_bytes(&self) -> Result<u64, StoreError> {
        self.gatekeeper.0.pass(|disk| disk.len()).map_err(StoreError::Io)
    }

    pub(super) fn report(&self) -> Result<FileReport, StoreError> {
        let walked = caught(|| {
            let transaction = self.begin_write()?;
            let stats = transaction.stats().map_err(errors::of_storage)?;
            transaction.abort().map_err(errors::of_storage)?;
            Ok(stats)
        });
        let stats = self.noting_failure(walked)?;
        let file_bytes = self.file_bytes()?;
        let allocated = stats.allocated_pages() * stats.page_size() as u64;
        // Our header, the log and redb's header are neither allocated nor free.
        let free_bytes = file_bytes.saturating_sub(STORAGE + PAGE).saturating_sub(allocated);
        let slack = stats.fragmented_bytes().saturating_sub(free_bytes);
        let used = stats.stored_bytes() + stats.metadata_bytes() + slack;
        Ok(FileReport {
            file_bytes,
            stored_bytes: stats.stored_bytes(),
            overhead_bytes: stats.metadata_bytes() + slack + STORAGE + PAGE,
            free_bytes,
            leaked_bytes: allocated.saturating_sub(used),
        })
    }

    /// Whether every checksum in the tree matches. What does not is not mended by this.
    pub(super) fn check_integrity(&mut self) -> Result<bool, StoreError> {
        *self.latest_mut() = None;
        let checked = caught(|| self.database.check_integrity().map_err(errors::of_database));
        self.noting_failure(checked)
    }

    pub(super) fn compact(&mut self) -> Result<(), StoreError> {
        *self.latest_mut() = None;
        let cleared = caught(|| scrub::remove(&self.database));
        self.noting_failure(cleared)?;
        self.give_back_free_pages()?;
        let free_pages = self.report()?.free_bytes / PAGE;
        if free_pages == 0 {
            return Ok(());
        }
        let scrubbed = caught(|| scrub::overwrite_free_pages(&self.database, free_pages));
        self.noting_failure(scrubbed)?;
        self.give_back_free_pages()
    }

    fn give_back_free_pages(&mut self) -> Result<(), StoreError> {
        let compacted = caught(|| self.database.compact().map(drop).map_err(errors::of_compaction));
        self.noting_failure(compacted)
    }

    /// Leaves a file that the next one opens without repair, and lets go of it.
    pub(super) fn close(self) -> Result<(), StoreError> {
        let disk = self.gatekeeper.0.disk();
        let finished = self.finish();
        let let_go = match disk {
            Some(disk) => disk.close().map_err(StoreError::Io),
            None => Ok(()),
        };
        finished.and(let_go)
    }

    /// Leaves a file that the next one opens without repair, and keeps hold of the disk.
    pub(super) fn finish(self) -> Result<(), StoreError> {
        let Engine { gatekeeper, database, health, latest, .. } = self;
        let broken = !health.is_well();
        health.close();
        drop(latest);
        if broken {
            gatekeeper.0.shut();
            return Ok(());
        }
        caught(|| database.close().map_err(errors::of_database))
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("health", &self.health).finish_non_exhaustive()
    }
}

/// A read transaction with its tables open.
pub(super) struct RedbSnapshot {
    tables: Tables,
    health: Arc<Health>,
}

impl RedbSnapshot {
    // As in the engine. Damage of one page alone does not keep anybody from reading the others.
    fn noting_failure<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(StoreError::Io(_) | StoreError::Poisoned) = &result {
            self.health.poison();
        }
        result
    }
}

impl fmt::Debug for RedbSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedbSnapshot").finish_non_exhaustive()
    }
}

impl Snapshot for RedbSnapshot {
    fn get(&self, space: Space, key: &[u8], read: &mut dyn FnMut(&[u8])) -> Result<bool, StoreError> {
        self.health.check()?;
        self.noting_failure(self.tables.get(space, key, read))
    }

    fn scan(&self, space: Space, range: KeyRange<'_>, visit: Visit<'_>) -> Result<(), StoreError> {
        self.health.check()?;
        if holds_nothing(range) {
            return Ok(());
        }
        self.noting_failure(self.tables.scan(space, range, visit))
    }
}
