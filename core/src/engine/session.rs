//! One caller's work in the commit queue: reads and writes of records, with the memory that belongs to them.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use super::fence_block::FenceBlock;
use super::{Engine, EngineError, Found, Owed, Phase, find, read_with, reentry};
use crate::codec::address::{Address, operation_mark};
use crate::codec::counters::{COUNTERS, Counters};
use crate::codec::encode_record;
use crate::codec::index::{self, Shelf};
use crate::commit::{Ended, Outcome, Overlay};
use crate::machine::record::{Record, Stamp, State, Witness};
use crate::machine::settle::Settlement;
use crate::outbox_memory::Dropped;
use crate::store::{CommitError, Space, StoreError};
use crate::volatile::Glimpse;

/// What work in the queue sees: the overlay, the engine, and one instant that all of it happens at.
pub(crate) struct Session<'a> {
    pub(crate) overlay: &'a mut Overlay,
    pub(crate) engine: &'a Arc<Engine>,
    pub(crate) now: Stamp,
    traces: &'a Traces,
}

/// The work said no: what it wrote is thrown away.
#[derive(Clone, Copy, Debug)]
pub(super) struct SaidNo;

/// Whether what work wrote is kept.
pub(super) type Kept = Result<(), SaidNo>;

/// Work that owns what it needs.
pub(super) type Work = Box<dyn FnOnce(&mut Session<'_>) -> Kept + Send>;

/// What must be put right in memory when the commit has ended.
#[derive(Default)]
pub(super) struct Traces {
    list: Mutex<TraceList>,
}

#[derive(Default)]
struct TraceList {
    /// The work ended well, so what it wrote is in the commit.
    kept: bool,
    traces: Vec<Trace>,
}

enum Trace {
    /// The slot was marked: this commit may change the record.
    Occupied(Address),
    /// The record is on disk now with this fence: a volatile one up to it is over. Whether its claim goes on.
    Wrote(Address, u64, bool),
    GrantedInMemory(Address, u64),
    /// This was known in memory, and is released or forgotten.
    Left(Address, Box<Glimpse>),
    GrantedOnDisk(Address, u64),
    ReservedFences,
    /// Whoever waits for the outbox must look again.
    OutboxChanged,
    /// Deliveries that had been dropped are back in this commit.
    TookBack(Vec<Dropped>),
}

impl Traces {
    fn push(&self, trace: Trace) {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).traces.push(trace);
    }

    fn keep(&self) {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).kept = true;
    }

    fn take(&self) -> TraceList {
        std::mem::take(&mut *self.list.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Engine {
    /// Work for the queue, and what puts memory right after it.
    pub(super) fn job(
        self: &Arc<Self>,
        work: Work,
    ) -> (impl FnOnce(&mut Overlay) -> Kept + Send + 'static, impl FnOnce(&Outcome) + Send + 'static) {
        let traces = Arc::new(Traces::default());
        let after = self.after(traces.clone());
        let engine = self.clone();
        let play = move |overlay: &mut Overlay| {
            let _outside = reentry::leave();
            engine.play(overlay, &traces, work)
        };
        (play, after)
    }

    /// Plays work on this very thread, whoever leads the queue; returns when the commit that holds it has ended.
    pub(super) fn play_here(
        self: &Arc<Self>,
        work: &mut dyn FnMut(&mut Session<'_>) -> Kept,
    ) -> Result<(), EngineError> {
        let traces = Arc::new(Traces::default());
        let after = self.after(traces.clone());
        self.conclude(self.commits.call_here(|overlay| self.play(overlay, &traces, work), after))
    }

    /// Plays work in a session of its own; what it traced counts only if it went well.
    fn play(
        self: &Arc<Self>,
        overlay: &mut Overlay,
        traces: &Traces,
        work: impl FnOnce(&mut Session<'_>) -> Kept,
    ) -> Kept {
        let kept = work(&mut Session { overlay, engine: self, now: self.now(), traces });
        match kept {
            Ok(()) => traces.keep(),
            Err(SaidNo) => self.stay(traces),
        }
        kept
    }

    /// The work said no, so what it released or forgot in memory is there again, for whoever follows in this commit, too.
    fn stay(&self, traces: &Traces) {
        let mut list = traces.list.lock().unwrap_or_else(PoisonError::into_inner);
        for trace in std::mem::take(&mut list.traces) {
            match trace {
                Trace::Left(address, known) => self.memory.with(&address, |slot| slot.restore(*known)),
                other => list.traces.push(other),
            }
        }
    }

    fn after(self: &Arc<Self>, traces: Arc<Traces>) -> impl FnOnce(&Outcome) + Send + 'static {
        let engine = self.clone();
        move |outcome| {
            engine.note_outcome(outcome);
            let list = traces.take();
            for trace in list.traces {
                engine.put_right(trace, list.kept, outcome);
            }
        }
    }

    fn put_right(&self, trace: Trace, kept: bool, outcome: &Outcome) {
        let stored = kept && outcome.is_ok();
        match trace {
            Trace::Occupied(address) => self.memory.with_existing(&address.row, |slot| {
                slot.commits = slot.commits.saturating_sub(1);
                slot.wake();
            }),
            Trace::Wrote(address, fence, goes_on) if stored => {
                let over = if goes_on { fence } else { fence + 1 };
                self.memory.forget_seen(&address.row, over);
                self.memory.with_existing(&address.row, |slot| {
                    slot.volatile.take_if(|record| record.fence <= fence);
                    slot.witness.forget_before(over);
                });
            }
            Trace::GrantedInMemory(address, fence) if !stored => self.memory.with_existing(&address.row, |slot| {
                slot.volatile.take_if(|record| record.fence == fence);
            }),
            Trace::Left(address, known) if !stored => self.memory.with(&address, |slot| slot.restore(*known)),
            Trace::GrantedOnDisk(address, fence) if kept && !stored => self.adopt_orphan(address, fence, outcome),
            Trace::ReservedFences => self.fences.end_reservation(stored),
            Trace::OutboxChanged => self.outbox.ring(),
            Trace::TookBack(dropped) if stored => self.outbox.took_back(&dropped),
            Trace::Wrote(..)
            | Trace::GrantedInMemory(..)
            | Trace::GrantedOnDisk(..)
            | Trace::Left(..)
            | Trace::TookBack(_) => {}
        }
    }

    /// S6: a begin that ends in an error has granted nothing; `reopen` releases what it may have stored.
    fn adopt_orphan(&self, address: Address, fence: u64, outcome: &Outcome) {
        if outcome.as_ref().is_err_and(|error| matches!(**error, CommitError::Open(_))) {
            self.owe(Owed { address, fence, settlement: Settlement::Release });
        }
    }

    /// Whether work and its commit came to their ends, and the work has answered; a panic of the caller's own closure goes on in
    /// the caller.
    pub(super) fn conclude(&self, ended: Ended<(), SaidNo>) -> Result<(), EngineError> {
        match ended {
            Ended::Stored(()) | Ended::Refused(SaidNo) => Ok(()),
            Ended::Failed(error) if self.phase() == Phase::Suspended && is_closed(&error) => {
                Err(EngineError::Suspended)
            }
            Ended::Failed(error) => Err(EngineError::Commit(error)),
            Ended::Panicked(payload) => resume(payload),
        }
    }
}

/// The work came after the store had been let go.
fn is_closed(error: &CommitError) -> bool {
    matches!(error, CommitError::NotStored(StoreError::Closed))
}

fn resume(payload: Box<dyn Any + Send>) -> ! {
    std::panic::resume_unwind(payload)
}

/// The store's space for what the codec lays there.
pub(super) fn space_of(shelf: Shelf) -> Space {
    match shelf {
        Shelf::Records => Space::Records,
        Shelf::Live => Space::Live,
        Shelf::Expiry => Space::Expiry,
        Shelf::Unsettled => Space::Unsettled,
    }
}

impl Session<'_> {
    /// What counts for a key id; from here to the end of the commit nobody else decides about it.
    pub(crate) fn find(&mut self, address: &Address) -> Result<(Found, Witness), EngineError> {
        let glimpse = self.occupy(address);
        let witness = glimpse.witness;
        Ok((find(self.overlay, address, glimpse, self.now)?, witness))
    }

    /// Marks a key id as this commit's to decide about.
    pub(super) fn occupy(&mut self, address: &Address) -> Glimpse {
        let glimpse = self.engine.memory.with(address, |slot| {
            slot.commits += 1;
            slot.glimpse()
        });
        self.traces.push(Trace::Occupied(address.clone()));
        glimpse
    }

    /// Forgets what memory knows of a key id, up to a fence, for whoever follows in this commit; a commit that fails restores it.
    pub(super) fn leave_memory(&mut self, address: &Address, fence: u64) {
        let known = self.engine.memory.with(address, |slot| {
            let known = slot.glimpse();
            slot.volatile.take_if(|record| record.fence <= fence);
            slot.witness.forget_before(fence + 1);
            known
        });
        self.traces.push(Trace::Left(address.clone(), Box::new(known)));
    }

    /// Stores `new` in the place of `stored`, with its index rows and the counters (I7). `None` is no record.
    pub(crate) fn write(
        &mut self,
        address: &Address,
        stored: Option<&Record>,
        new: Option<&Record>,
    ) -> Result<(), EngineError> {
        self.move_index_rows(address, stored, new);
        let space = |record| space_of(index::shelf_of(record));
        let (old_space, new_space) = (stored.map(space), new.map(space));
        if let Some(space) = old_space.filter(|_| old_space != new_space) {
            self.overlay.delete(space, address.row.as_bytes().to_vec());
        }
        if let (Some(space), Some(record)) = (new_space, new) {
            self.overlay.put(space, address.row.as_bytes().to_vec(), encode_record(&address.id, record));
            let goes_on = matches!(record.state, State::InProgress { .. });
            self.traces.push(Trace::Wrote(address.clone(), record.fence, goes_on));
        }
        let mut counters = self.counters()?;
        counters.move_record(stored, new);
        self.overlay.put(Space::Meta, COUNTERS.to_vec(), counters.encode());
        Ok(())
    }

    fn move_index_rows(&mut self, address: &Address, stored: Option<&Record>, new: Option<&Record>) {
        let operation = operation_mark(address.id.operation(), &self.engine.salt);
        let rows = |record| index::rows(address.row, operation, record);
        let old_rows: Vec<_> = stored.into_iter().flat_map(rows).collect();
        let new_rows: Vec<_> = new.into_iter().flat_map(rows).collect();
        for (shelf, key) in old_rows.iter().filter(|row| !new_rows.contains(row)) {
            self.overlay.delete(space_of(*shelf), key.clone());
        }
        for (shelf, key) in new_rows.into_iter().filter(|row| !old_rows.contains(row)) {
            self.overlay.put(space_of(shelf), key, Vec::new());
        }
    }

    pub(crate) fn counters(&self) -> Result<Counters, EngineError> {
        Ok(read_with(self.overlay, Space::Meta, COUNTERS, Counters::decode)?.unwrap_or_default())
    }

    /// The next fence; reserves a block first when there is none left.
    pub(crate) fn fence(&mut self) -> Result<u64, EngineError> {
        if let Some(fence) = self.engine.fences.take() {
            return Ok(fence);
        }
        let block = FenceBlock::after(self.overlay, self.engine.fences.next(), self.engine.is_shared())?;
        let (space, key, value) = block.row();
        self.overlay.put(space, key, value);
        self.engine.fences.reserve(block.start, block.end);
        self.traces.push(Trace::ReservedFences);
        self.engine.fences.take().ok_or(EngineError::FencesSpent)
    }

    /// Keeps a claim in memory alone (E2).
    pub(crate) fn grant_in_memory(&mut self, address: &Address, record: Record) {
        self.traces.push(Trace::GrantedInMemory(address.clone(), record.fence));
        self.engine.memory.with(address, |slot| {
            slot.witness.forget_before(record.fence);
            slot.volatile = Some(record);
        });
    }

    /// Forgets dropped deliveries when this commit is on disk; if it fails, they are taken back by the next.
    pub(super) fn takes_back(&mut self, dropped: Vec<Dropped>) {
        self.traces.push(Trace::TookBack(dropped));
    }

    /// Wakes whoever waits for the outbox when this commit has ended.
    pub(super) fn changes_outbox(&mut self) {
        self.traces.push(Trace::OutboxChanged);
    }

    /// Remembers that a claim is in this commit: should its outcome stay open, `reopen` releases it.
    pub(crate) fn granted_on_disk(&mut self, address: &Address, fence: u64) {
        self.traces.push(Trace::GrantedOnDisk(address.clone(), fence));
    }
}
