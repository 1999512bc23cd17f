//! The log in front of the tree: a commit is one appended record, and a thousand of them one commit of redb's.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};

use super::engine::Engine;
use super::front::Front;
use super::layer::Layer;
use super::mover::Mover;
use super::region;
use crate::store::disk::Disk;
use crate::store::health::Health;
use crate::store::log::{Found, Log};
use crate::store::memtable::Memtable;
use crate::store::{CommitError, CreationId, FileReport, OpenError, Snapshot, StoreError, Writes};

/// An open database with a log before it. Dropped without `close`, it is as if the process had been killed.
#[derive(Debug)]
pub(super) struct Logged {
    // Goes first: it keeps the mover from the disk, and waits for it.
    mover: Mover,
    both: Arc<LogAndTree>,
}

/// What a move works on beside those who commit.
#[derive(Debug)]
struct LogAndTree {
    engine: Engine,
    writer: Mutex<Writer>,
    /// Rung when a full half has gone into the tree, or cannot go.
    moved: Condvar,
    /// The view that everybody shares until the next commit; none while the tree is being compacted.
    latest: RwLock<Option<Arc<Layer>>>,
}

struct Writer {
    log: Log,
    /// What the log's full half holds, while it is on its way into the tree.
    full: Option<Arc<Memtable>>,
    /// What was appended since.
    recent: Arc<Memtable>,
    /// The number of the last commit.
    last: u64,
}

impl Writer {
    /// The log as it is on the disk, and the tables that its records make.
    fn open(engine: &Engine) -> Result<Writer, OpenError> {
        let found = region::read_log(engine)?;
        found.make_durable().map_err(OpenError::Unavailable)?;
        let Found { log, full, recent } = found;
        let mut writer = Writer { log, full: None, recent: Arc::default(), last: 0 };
        let is_full = !full.is_empty();
        for writes in full {
            writer.add(writes);
        }
        if is_full {
            writer.full = Some(std::mem::take(&mut writer.recent));
        }
        for writes in recent {
            writer.add(writes);
        }
        Ok(writer)
    }

    fn add(&mut self, writes: Writes) {
        self.last += 1;
        self.recent.add(self.last, writes);
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("last", &self.last).finish_non_exhaustive()
    }
}

impl Logged {
    /// Opens the ledger on `disk`, and takes in what is in the log and not in the tree. On an error not a byte was changed.
    pub(super) fn start(disk: Arc<dyn Disk>, cache_bytes: usize) -> Result<Logged, OpenError> {
        let (engine, writer) = Engine::start(disk, cache_bytes, Writer::open)?;
        let is_full = writer.full.is_some();
        let mover = Mover::before(engine.gate());
        let both = LogAndTree { engine, writer: Mutex::new(writer), moved: Condvar::new(), latest: RwLock::default() };
        let logged = Logged { mover, both: Arc::new(both) };
        logged.both.show(&logged.both.writer()).map_err(CommitError::into_cause)?;
        if is_full {
            logged.both.move_full_half();
        }
        Ok(logged)
    }

    /// From now on nobody waits while a full half of the log is moved, where the host has threads.
    pub(super) fn moving_in_background(mut self) -> Logged {
        self.mover.go_to_background();
        self
    }

    /// Runs `work` on the tree, which all of the log has gone into, while nobody else has it.
    fn alone<T>(&mut self, work: impl FnOnce(&mut Engine) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.both.settle()?;
        self.mover.wait();
        let both = Arc::get_mut(&mut self.both).ok_or(StoreError::Busy)?;
        // The view that is kept for everybody would count as a reader.
        *both.latest.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        let done = work(&mut both.engine);
        both.show(&both.writer()).map_err(CommitError::into_cause)?;
        done
    }
}

impl Front for Logged {
    fn creation_id(&self) -> CreationId {
        self.both.engine.creation_id()
    }

    fn check(&self) -> Result<(), StoreError> {
        self.both.engine.check()
    }

    fn health(&self) -> Arc<Health> {
        self.both.engine.health()
    }

    /// The view that everybody shares until the next commit.
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, StoreError> {
        self.both.engine.check()?;
        let latest = self.both.latest.read().unwrap_or_else(PoisonError::into_inner).clone();
        latest.map(|latest| latest as Arc<dyn Snapshot>).ok_or(StoreError::Poisoned)
    }

    /// Appends to the log; where a half of it is full, goes on in the other. What no log could hold goes into the tree at once.
    fn commit(&self, writes: Writes) -> Result<(), CommitError> {
        if writes.is_empty() {
            return Ok(());
        }
        if self.both.append(writes)? {
            let both = Arc::clone(&self.both);
            self.mover.start(move || both.move_full_half());
        }
        Ok(())
    }

    fn file_bytes(&self) -> Result<u64, StoreError> {
        self.both.engine.file_bytes()
    }

    fn report(&self) -> Result<FileReport, StoreError> {
        self.both.settle()?;
        self.both.engine.report()
    }

    fn check_integrity(&mut self) -> Result<bool, StoreError> {
        self.alone(Engine::check_integrity)
    }

    fn compact(&mut self) -> Result<(), StoreError> {
        self.both.settle()?;
        // What was deleted has been in the log as well (section 4).
        if let Err(error) = self.both.writer().log.erase() {
            self.both.engine.poison();
            return Err(StoreError::Io(error));
        }
        self.alone(Engine::compact)
    }

    /// Leaves nothing in the log.
    fn close(self: Box<Self>) -> Result<(), StoreError> {
        let settled = if self.both.engine.is_well() { self.both.settle() } else { Ok(()) };
        let Logged { mover, both } = *self;
        mover.end();
        let closed = match Arc::into_inner(both) {
            Some(LogAndTree { engine, writer, latest, .. }) => {
                drop((writer, latest));
                engine.close()
            }
            None => Err(StoreError::Busy),
        };
        settled.and(closed)
    }
}

impl LogAndTree {
    /// Appends to the log. Whether a half of it is full now, and is to be moved into the tree.
    #[expect(clippy::similar_names, reason = "a writer writes writes")]
    fn append(&self, writes: Writes) -> Result<bool, CommitError> {
        let mut writer = self.writer();
        let mut record = writer.log.record(&writes);
        if Log::can_never_hold(&record) {
            writer = self.wait_for_mover(writer).map_err(CommitError::NotStored)?;
            self.move_all(&mut writer, Some(writes))?;
            return Ok(false);
        }
        let is_full = !writer.log.has_room_for(&record);
        if is_full {
            writer = self.wait_for_mover(writer).map_err(CommitError::NotStored)?;
            writer.log.begin_generation();
            writer.full = Some(std::mem::take(&mut writer.recent));
            record = writer.log.record(&writes);
        }
        if let Err(error) = writer.log.append(&record) {
            self.engine.poison();
            return Err(CommitError::Open(StoreError::Io(error)));
        }
        writer.add(writes);
        self.show(&writer)?;
        Ok(is_full)
    }

    /// One commit of the tree: what the full half of the log holds.
    fn move_full_half(&self) {
        let writer = self.writer();
        let (full, generation) = (writer.full.clone(), writer.log.generation());
        drop(writer);
        // A failure poisons the engine: whoever commits next is told.
        let moved = full.map_or(Ok(()), |full| self.engine.commit(&full.latest(), generation));
        let mut writer = self.writer();
        match moved {
            Ok(()) => {
                writer.full = None;
                let _ = self.show(&writer);
            }
            Err(error) => self.engine.poison_by(error.into_cause()),
        }
        self.moved.notify_all();
    }

    /// One commit of the tree: all that the log holds, and `more` after it. The log begins again.
    fn move_all(&self, writer: &mut Writer, more: Option<Writes>) -> Result<(), CommitError> {
        let moved = writer.recent.latest_and(more);
        self.engine.commit(&moved, writer.log.generation() + 1)?;
        writer.log.begin_generation();
        writer.recent = Arc::default();
        self.show(writer)
    }

    /// What was committed is seen from now on. It is on disk already, so a failure here leaves nothing to say but that.
    fn show(&self, writer: &Writer) -> Result<(), CommitError> {
        let tree = self.engine.snapshot().map_err(|error| {
            self.engine.poison();
            CommitError::Open(error)
        })?;
        let lay = |below, table: &Arc<Memtable>, upto| {
            let (table, health) = (Arc::clone(table), self.engine.health());
            Arc::new(Layer { below, table, upto, health })
        };
        let below: Arc<dyn Snapshot> = match &writer.full {
            Some(full) => lay(tree, full, writer.last),
            None => tree,
        };
        let latest = lay(below, &writer.recent, writer.last);
        *self.latest.write().unwrap_or_else(PoisonError::into_inner) = Some(latest);
        Ok(())
    }

    /// Moves what the log holds into the tree.
    fn settle(&self) -> Result<(), StoreError> {
        let mut writer = self.wait_for_mover(self.writer())?;
        if writer.recent.is_empty() {
            return Ok(());
        }
        self.move_all(&mut writer, None).map_err(CommitError::into_cause)
    }

    /// Returns when no half of the log is on its way into the tree.
    fn wait_for_mover<'a>(&self, writer: MutexGuard<'a, Writer>) -> Result<MutexGuard<'a, Writer>, StoreError> {
        let is_under_way = |writer: &mut Writer| writer.full.is_some() && self.engine.is_well();
        let writer = self.moved.wait_while(writer, is_under_way).unwrap_or_else(PoisonError::into_inner);
        self.engine.check()?;
        Ok(writer)
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
