//! A ledger file that several processes have open (contract P2).
//!
//! Whoever commits has the turn: a lock that the system gives to one process at a time, from the snapshot that the commit
//! follows from to the end of its sync. Who has it reads first what others have appended to the log; who only reads does so
//! without the turn. Whether a record is on the disk nobody but its writer knows, and that one may be dead: so what another
//! process has appended is synced before anybody is told what follows from it.
//!
//! Whoever moves the log into the tree begins a generation of it, which the tree tells in the very view that is laid under what
//! was read of the log. A process that dies in the middle of that leaves a commit of redb's that redb shows to nobody until the next
//! one writes. So a mark is appended to the log before, and whoever finds one at its end lets redb finish first
//! (docs/decisions/0007).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::engine::{Engine, RedbSnapshot};
use super::errors::while_opening;
use super::front::Front;
use super::layer::Layer;
use super::peers::Peers;
use super::region;
use crate::store::disk::Disk;
use crate::store::health::Health;
use crate::store::log::{Found, Log};
use crate::store::memtable::Memtable;
use crate::store::{CommitError, CreationId, FileReport, OpenError, Snapshot, StoreError, Turn, Writes};

/// This process's part in a shared ledger.
#[derive(Debug)]
pub(super) struct Shared {
    engine: Engine,
    peers: Arc<Peers>,
    reader: Mutex<Reader>,
}

/// How far this process has read the log.
struct Reader {
    log: Log,
    table: Arc<Memtable>,
    /// The number of the last record in the table.
    last: u64,
    /// The last record is a mark: somebody has begun to move the log, and may have died of it.
    is_marked: bool,
    /// Others have appended what may not be on the disk yet.
    is_unsynced: bool,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("last", &self.last).finish_non_exhaustive()
    }
}

impl Shared {
    /// Opens the file among its peers. The caller has the turn.
    pub(super) fn start(disk: Arc<dyn Disk>, cache_bytes: usize, peers: Arc<Peers>) -> Result<Shared, OpenError> {
        let others = peers.join().map_err(while_opening)?;
        let (engine, found) = if others {
            let engine = Engine::join(disk, cache_bytes, peers.locks())?;
            engine.finish_for_others()?;
            let found = region::read_log(&engine)?;
            (engine, found)
        } else {
            Engine::start_first(disk, cache_bytes, Some(peers.locks()), |engine| {
                let found = region::read_log(engine)?;
                found.make_durable().map_err(OpenError::Unavailable)?;
                Ok(found)
            })?
        };
        let Found { log, full, recent } = found;
        let reader = Reader { log, table: Arc::default(), last: 0, is_marked: false, is_unsynced: others };
        let shared = Shared { engine, peers, reader: Mutex::new(reader) };
        shared.take_in(full, recent)?;
        Ok(shared)
    }

    /// Puts what was found in the log into the table. A half that is full goes into the tree: here, a generation ends with that.
    fn take_in(&self, full: Vec<Writes>, recent: Vec<Writes>) -> Result<(), OpenError> {
        let mut reader = self.reader();
        let is_full = !full.is_empty();
        for writes in full.into_iter().chain(recent) {
            reader.add(writes);
        }
        if is_full { self.move_all(&mut reader, None).map_err(|error| error.into_cause().into()) } else { Ok(()) }
    }

    fn reader(&self) -> MutexGuard<'_, Reader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tree and what the log holds over it, as they are now.
    fn catch_up(&self, reader: &mut Reader) -> Result<RedbSnapshot, StoreError> {
        self.follow(reader, |_| Ok(()))
    }

    /// The same, in this process's turn: what somebody has left unfinished in the tree is finished first.
    fn catch_up_in_turn(&self, reader: &mut Reader) -> Result<RedbSnapshot, StoreError> {
        self.follow(reader, |reader| if reader.is_marked { self.engine.finish_for_others() } else { Ok(()) })
    }

    /// Reads on, from one generation to the next, until the tree is at the one that was read; `before` each look at the tree.
    fn follow(
        &self,
        reader: &mut Reader,
        before: impl Fn(&Reader) -> Result<(), StoreError>,
    ) -> Result<RedbSnapshot, StoreError> {
        loop {
            reader.read_on()?;
            before(reader)?;
            let (tree, generation) = self.engine.look_at_generation()?;
            if generation == reader.log.generation() {
                return Ok(tree);
            }
            reader.begin_again(generation);
        }
    }

    /// One commit of the tree: all that the log holds, and `more` after it. The log begins again. Only in this process's turn.
    fn move_all(&self, reader: &mut Reader, more: Option<Writes>) -> Result<(), CommitError> {
        if !reader.is_marked {
            reader.log.append_mark().map_err(|error| CommitError::NotStored(self.failed(error)))?;
            reader.is_marked = true;
        }
        let moved = reader.table.latest_and(more);
        let generation = reader.log.generation() + 1;
        self.engine.commit(&moved, generation)?;
        reader.begin_again(generation);
        reader.is_unsynced = false;
        Ok(())
    }

    /// Moves what the log holds into the tree. Only in this process's turn.
    fn settle(&self) -> Result<(), StoreError> {
        let mut reader = self.reader();
        self.catch_up_in_turn(&mut reader)?;
        if reader.table.is_empty() { Ok(()) } else { self.move_all(&mut reader, None).map_err(CommitError::into_cause) }
    }

    /// What others have appended is on the disk from now on.
    fn sync(&self, reader: &mut Reader) -> Result<(), StoreError> {
        if reader.is_unsynced {
            reader.log.sync().map_err(|error| self.failed(error))?;
            reader.is_unsynced = false;
        }
        Ok(())
    }

    fn append(&self, reader: &mut Reader, writes: Writes) -> Result<(), CommitError> {
        let mut record = reader.log.record(&writes);
        if Log::can_never_hold(&record) {
            return self.move_all(reader, Some(writes));
        }
        if !reader.log.has_room_for(&record) {
            self.move_all(reader, None)?;
            record = reader.log.record(&writes);
        }
        let appended =
            if reader.is_unsynced { reader.log.append_after_others(&record) } else { reader.log.append(&record) };
        appended.map_err(|error| CommitError::Open(self.failed(error)))?;
        reader.is_unsynced = false;
        reader.add(writes);
        Ok(())
    }

    fn layer(&self, reader: &Reader, tree: RedbSnapshot) -> Arc<dyn Snapshot> {
        let (table, upto, health) = (Arc::clone(&reader.table), reader.last, self.engine.health());
        Arc::new(Layer { below: Arc::new(tree), table, upto, health })
    }

    fn failed(&self, error: std::io::Error) -> StoreError {
        self.engine.poison();
        StoreError::Io(error)
    }
}

impl Reader {
    fn add(&mut self, writes: Writes) {
        self.is_marked = writes.is_empty();
        self.last += 1;
        self.table.add(self.last, writes);
    }

    /// Reads what others have appended to this generation.
    fn read_on(&mut self) -> Result<(), StoreError> {
        while let Some(writes) = self.log.read_next().map_err(StoreError::Io)? {
            self.add(writes);
            self.is_unsynced = true;
        }
        Ok(())
    }

    /// Goes to a generation that nothing of has been read yet; all before it is in the tree.
    fn begin_again(&mut self, generation: u64) {
        self.log.go_to(generation);
        self.table = Arc::default();
        self.is_marked = false;
    }
}

impl Front for Shared {
    fn creation_id(&self) -> CreationId {
        self.engine.creation_id()
    }

    fn check(&self) -> Result<(), StoreError> {
        self.engine.check()
    }

    fn health(&self) -> Arc<Health> {
        self.engine.health()
    }

    /// What others have appended is synced with the commit.
    fn take_turn(&self) -> Result<(Turn, Arc<dyn Snapshot>), StoreError> {
        self.engine.check()?;
        let turn = self.peers.take_turn()?;
        let mut reader = self.reader();
        let tree = self.catch_up_in_turn(&mut reader)?;
        Ok((turn, self.layer(&reader, tree)))
    }

    /// As the ledger is now: what any process was told before is in it.
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, StoreError> {
        self.engine.check()?;
        let mut reader = self.reader();
        let tree = self.catch_up(&mut reader)?;
        self.sync(&mut reader)?;
        Ok(self.layer(&reader, tree))
    }

    /// Only in this process's turn, in which the snapshot was taken that the writes follow from.
    fn commit(&self, writes: Writes) -> Result<(), CommitError> {
        let mut reader = self.reader();
        if writes.is_empty() {
            return self.sync(&mut reader).map_err(CommitError::Open);
        }
        self.append(&mut reader, writes)
    }

    fn file_bytes(&self) -> Result<u64, StoreError> {
        self.engine.file_bytes()
    }

    fn report(&self) -> Result<FileReport, StoreError> {
        let _turn = self.peers.take_turn()?;
        self.settle()?;
        self.engine.report()
    }

    fn check_integrity(&mut self) -> Result<bool, StoreError> {
        let _turn = self.peers.take_turn()?;
        self.catch_up_in_turn(&mut self.reader())?;
        self.engine.check_integrity()
    }

    /// Other processes read all the time.
    fn compact(&mut self) -> Result<(), StoreError> {
        Err(StoreError::Shared)
    }

    /// The last one to go leaves nothing in the log. Locks are given back one by one: a forked child may have the openings of the
    /// file that they belong to.
    fn close(self: Box<Self>) -> Result<(), StoreError> {
        let turn = self.peers.take_turn()?;
        let settled = if self.engine.is_well() && self.peers.leave()? { self.settle() } else { Ok(()) };
        let Shared { engine, peers, .. } = *self;
        let closed = engine.close();
        drop(turn);
        peers.let_go();
        settled.and(closed)
    }
}
