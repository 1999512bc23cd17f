//! The log in front of the tree: a commit is one appended record, and a thousand of them one commit of redb's.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::backend::Gate;
use super::engine::{Engine, RedbSnapshot};
use super::header::PAGE;
use crate::store::disk::Disk;
use crate::store::log::{LOG_BYTES, Log, LogError, Region};
use crate::store::memtable::Memtable;
use crate::store::merge::scan_with;
use crate::store::{
    CommitError, FileReport, KeyRange, OpenError, Snapshot, Space, StoreError, Visit, Writes, holds_nothing,
};

/// An open database with a log before it.
#[derive(Debug)]
pub(super) struct Logged {
    engine: Engine,
    writer: Mutex<Writer>,
    /// The view that everybody shares until the next commit; none while the tree is being compacted.
    latest: RwLock<Option<Arc<LoggedSnapshot>>>,
}

struct Writer {
    log: Log,
    table: Arc<Memtable>,
    /// The number of the last commit.
    last: u64,
}

impl Writer {
    /// The log as it is on the disk, and the table that its records make.
    fn open(engine: &Engine) -> Result<Writer, OpenError> {
        let region = Arc::new(LogRegion(engine.gate()));
        let (log, records) = Log::open(region, engine.creation_id(), engine.generation()?).map_err(refused)?;
        log.make_durable().map_err(OpenError::Unavailable)?;
        let (table, mut last) = (Arc::<Memtable>::default(), 0);
        for writes in &records {
            last += 1;
            table.add(last, writes);
        }
        Ok(Writer { log, table, last })
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("last", &self.last).finish_non_exhaustive()
    }
}

/// The log's stretch of a disk: after the header page.
struct LogRegion(Arc<Gate>);

impl Region for LogRegion {
    fn read(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.pass(|disk| disk.read(PAGE + at, out))
    }

    fn write(&self, at: u64, data: &[u8]) -> io::Result<()> {
        self.0.pass(|disk| disk.write(PAGE + at, data))
    }

    fn sync(&self) -> io::Result<()> {
        self.0.pass(|disk| disk.sync())
    }
}

impl Logged {
    /// Opens the ledger on `disk`, and takes in what is in the log and not in the tree. On an error not a byte was changed.
    pub(super) fn start(disk: Arc<dyn Disk>, cache_bytes: usize) -> Result<Logged, OpenError> {
        let (engine, writer) = Engine::start(disk, cache_bytes, Writer::open)?;
        let logged = Logged { engine, writer: Mutex::new(writer), latest: RwLock::default() };
        logged.show(&logged.writer()).map_err(of_commit)?;
        Ok(logged)
    }

    pub(super) fn creation_id(&self) -> crate::store::CreationId {
        self.engine.creation_id()
    }

    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.engine.check()
    }

    /// The view that everybody shares until the next commit.
    pub(super) fn snapshot(&self) -> Result<Arc<LoggedSnapshot>, StoreError> {
        self.engine.check()?;
        self.latest.read().unwrap_or_else(PoisonError::into_inner).clone().ok_or(StoreError::Poisoned)
    }

    /// Appends to the log; where it is full, moves it into the tree first. What no log could hold goes into the tree at once.
    #[expect(clippy::similar_names, reason = "a writer writes writes")]
    pub(super) fn commit(&self, writes: &Writes) -> Result<(), CommitError> {
        if writes.is_empty() {
            return Ok(());
        }
        let mut writer = self.writer();
        let mut record = writer.log.record(writes);
        if !writer.log.has_room_for(&record) {
            let too_long = record.len() as u64 > LOG_BYTES;
            self.move_into_tree(&mut writer, too_long.then_some(writes))?;
            if too_long {
                return Ok(());
            }
            record = writer.log.record(writes);
        }
        if let Err(error) = writer.log.append(&record) {
            self.engine.poison();
            return Err(CommitError::Open(StoreError::Io(error)));
        }
        writer.last += 1;
        writer.table.add(writer.last, writes);
        self.show(&writer)
    }

    /// One commit of the tree: all that the log holds, and `more` after it. The log begins again.
    fn move_into_tree(&self, writer: &mut Writer, more: Option<&Writes>) -> Result<(), CommitError> {
        let mut moved = writer.table.latest();
        if let Some(more) = more {
            moved.absorb(more.clone());
        }
        self.engine.commit(&moved, writer.log.next_generation())?;
        writer.log.begin_generation();
        writer.table = Arc::default();
        self.show(writer)
    }

    /// What was committed is seen from now on. It is on disk already, so a failure here leaves nothing to say but that.
    fn show(&self, writer: &Writer) -> Result<(), CommitError> {
        let base = self.engine.snapshot().map_err(|error| {
            self.engine.poison();
            CommitError::Open(error)
        })?;
        let latest = LoggedSnapshot { base, table: Arc::clone(&writer.table), upto: writer.last };
        *self.latest.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(latest));
        Ok(())
    }

    /// Moves what the log holds into the tree.
    fn settle(&self) -> Result<(), StoreError> {
        let mut writer = self.writer();
        if writer.table.is_empty() {
            return Ok(());
        }
        self.move_into_tree(&mut writer, None).map_err(of_commit)
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn file_bytes(&self) -> Result<u64, StoreError> {
        self.engine.file_bytes()
    }

    pub(super) fn report(&self) -> Result<FileReport, StoreError> {
        self.settle()?;
        self.engine.report()
    }

    pub(super) fn compact(&mut self) -> Result<(), StoreError> {
        self.settle()?;
        // What was deleted has been in the log as well (section 4).
        if let Err(error) = self.writer().log.erase() {
            self.engine.poison();
            return Err(StoreError::Io(error));
        }
        // The view that is kept for everybody would count as a reader.
        *self.latest.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        let compacted = self.engine.compact();
        self.show(&self.writer()).map_err(of_commit)?;
        compacted
    }

    /// Leaves a file with nothing in its log, that the next one opens without repair, and lets go of it.
    pub(super) fn close(self) -> Result<(), StoreError> {
        let settled = if self.engine.check().is_ok() { self.settle() } else { Ok(()) };
        let Logged { engine, writer, latest } = self;
        drop((writer, latest));
        let closed = engine.close();
        settled.and(closed)
    }
}

fn of_commit(error: CommitError) -> StoreError {
    match error {
        CommitError::NotStored(error) | CommitError::Open(error) => error,
    }
}

fn refused(error: LogError) -> OpenError {
    match error {
        LogError::Io(error) => OpenError::Unavailable(error),
        LogError::Damaged => super::header::damaged("a record of its log is damaged, with whole ones after it"),
    }
}

/// The tree as it was when the log was last moved into it, and the log up to one commit over it.
#[derive(Debug)]
pub(super) struct LoggedSnapshot {
    base: Arc<RedbSnapshot>,
    table: Arc<Memtable>,
    upto: u64,
}

impl Snapshot for LoggedSnapshot {
    fn get(&self, space: Space, key: &[u8], read: &mut dyn FnMut(&[u8])) -> Result<bool, StoreError> {
        self.base.check()?;
        let mut found = false;
        let is_known = self.table.get(space, key, self.upto, &mut |value| {
            if let Some(value) = value {
                found = true;
                read(value);
            }
        });
        if is_known { Ok(found) } else { self.base.get(space, key, read) }
    }

    fn scan(&self, space: Space, range: KeyRange<'_>, visit: Visit<'_>) -> Result<(), StoreError> {
        self.base.check()?;
        if holds_nothing(range) {
            return Ok(());
        }
        let changes = self.table.changes(space, range, self.upto);
        scan_with(&*self.base, space, range, changes, visit)
    }
}
