//! Store, clock, entropy and options together: where commands meet records.
//!
//! Reads that change nothing are answered from a snapshot. Everything else runs as a *session*: work in the commit queue, which
//! sees the records as the last commit left them and what the batch before it has changed. A claim of an InLedger operation
//! with nothing on disk is granted in memory, without a commit (E2).

mod begin;
mod check;
mod damage;
mod errand;
mod fence_block;
mod housekeeping;
mod job;
mod life;
mod listing;
mod looking;
pub(crate) mod outbox;
mod recovery;
pub(crate) mod reentry;
pub(crate) mod rows;
mod session;
mod settle;
mod upkeep;
mod wait;

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use crate::clock::Clock;
use crate::codec::address::{Address, RowKey, Salt};
use crate::codec::{self, DecodeError};
use crate::commit::{Commits, HostCall, Outcome};
use crate::entropy::Entropy;
use crate::fences::Fences;
use crate::home::Home;
use crate::key::KeyId;
use crate::machine::entry::Peeked;
use crate::machine::expire::{Age, age};
use crate::machine::record::{Record, Stamp, Witness};
use crate::machine::settle::Settlement;
use crate::options::Options;
use crate::outbox_memory::OutboxMemory;
use crate::store::{CommitError, OpenError, Snapshot, Space, Store, StoreError};
use crate::volatile::{Glimpse, Memory};
use crate::wake::HostTimer;

pub(crate) use begin::{Answer, Asked, Granted};
pub(crate) use check::Checked;
pub(crate) use damage::Unreadable;
pub(crate) use errand::Errand;
pub(crate) use housekeeping::{Counted, Forgot, Sweep};
pub(crate) use job::Ticket;
pub(crate) use listing::Listed;
pub(crate) use looking::{Listing, Seen};
pub(crate) use session::Session;
pub(crate) use settle::Stepped;

/// So far may the wall clock run away from the monotonic one before the janitor stops sweeping (L7).
const RUNAWAY_MS: u64 = 3600 * 1000;

/// What an engine is made of besides its store.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) options: Options,
    pub(crate) host: Option<HostCall>,
    pub(crate) timer: Option<HostTimer>,
}

/// The ledger without its public face.
pub(crate) struct Engine {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) commits: Arc<Commits>,
    pub(crate) memory: Memory,
    pub(crate) outbox: OutboxMemory,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    timer: Option<HostTimer>,
    pub(crate) options: Options,
    home: Home<Engine>,
    fences: Fences,
    pub(crate) salt: Salt,
    /// Names this opening in stamps: no other opening of the file has the same.
    opening: u64,
    opened_at: Stamp,
    phase: AtomicU8,
    /// Held while `suspend`, `resume`, `reopen` or `close` runs: one of them at a time.
    life: Mutex<()>,
    /// What `reopen` and `resume` settle: claims granted in a commit whose outcome is open (S6), and outcomes of owners who went
    /// away before they were stored (S3).
    owed: Mutex<Vec<Owed>>,
    last_sweep: Mutex<Option<Sweep>>,
}

/// A settlement that is to be stored as soon as the file is open again.
#[derive(Clone)]
struct Owed {
    address: Address,
    fence: u64,
    settlement: Settlement,
}

/// Where a handle is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    Open,
    Poisoned,
    Suspended,
    Closed,
}

/// Why the engine could not answer.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum EngineError {
    #[error(transparent)]
    Store(Arc<StoreError>),
    #[error(transparent)]
    Open(Arc<OpenError>),
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error(transparent)]
    Commit(Arc<CommitError>),
    #[error("the ledger is closed")]
    Closed,
    #[error("the ledger is suspended")]
    Suspended,
    #[error("an earlier commit failed")]
    Poisoned,
    #[error("a call from inside the ledger's own transaction")]
    Reentrant,
    #[error("every fence below 2^53 has been given out")]
    FencesSpent,
    #[error("the claim is lost")]
    ClaimLost,
    #[error("the record is not parked under that fence")]
    NotParked,
    #[error("a step of this name has another value")]
    StepDiffers,
    #[error("steps are refused for InLedger operations")]
    StepRefused,
    #[error("the steps together have {bytes} bytes, more than {bytes_max}")]
    StepsTooLarge { bytes: usize, bytes_max: usize },
    #[error("there are claims")]
    HasClaims,
    #[error("the ledger was opened by the parent process")]
    Forked,
    #[error("the purpose has another request")]
    PurposeConflict(Box<Peeked>),
    #[error("the key has another request")]
    KeyConflict(Box<Peeked>),
    #[error("the outbox has {entries} unsettled entries with {bytes} bytes")]
    OutboxFull { entries: u64, bytes: u64 },
    #[error("there is no entry {0}")]
    NoEntry(u64),
    #[error("the entry is {is}; this can be done to one that is {allowed}")]
    WrongState { is: &'static str, allowed: &'static str },
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Poisoned => EngineError::Poisoned,
            error => EngineError::Store(Arc::new(error)),
        }
    }
}

impl From<OpenError> for EngineError {
    fn from(error: OpenError) -> Self {
        EngineError::Open(Arc::new(error))
    }
}

/// The record that decides about a key id at some instant, and where it is.
pub(crate) struct Found {
    /// As it is stored, whatever its age.
    pub(crate) stored: Option<Record>,
    counts: Counts,
}

enum Counts {
    Stored,
    Next(Box<Record>),
    Volatile(Box<Record>),
    Nothing,
}

impl Found {
    /// The record that decides: the one on disk; the volatile one only where the disk has none that is live (section 4).
    pub(crate) fn record(&self) -> Option<&Record> {
        match &self.counts {
            Counts::Stored => self.stored.as_ref(),
            Counts::Next(record) | Counts::Volatile(record) => Some(record),
            Counts::Nothing => None,
        }
    }

    /// The same, given away.
    pub(crate) fn into_record(self) -> Option<Record> {
        match self.counts {
            Counts::Stored => self.stored,
            Counts::Next(record) | Counts::Volatile(record) => Some(*record),
            Counts::Nothing => None,
        }
    }

    pub(crate) fn is_volatile(&self) -> bool {
        matches!(self.counts, Counts::Volatile(_))
    }
}

impl Engine {
    pub(crate) fn now(&self) -> Stamp {
        Stamp { wall_ms: self.clock.wall_ms(), mono_ms: self.clock.monotonic_ms(), opening: self.opening }
    }

    /// L7: whether the wall clock has run away from the monotonic one by more than an hour since opening.
    pub(crate) fn clock_ran_away(&self) -> bool {
        let (now, then) = (self.now(), self.opened_at);
        let by_monotonic = now.mono_ms.saturating_sub(then.mono_ms);
        now.wall_ms.abs_diff(then.wall_ms.saturating_add(by_monotonic)) > RUNAWAY_MS
    }

    /// Refuses calls on a handle that is not open, and calls from inside a closure that it runs.
    pub(crate) fn check_open(&self) -> Result<(), EngineError> {
        self.check_outside()?;
        match self.phase() {
            Phase::Open => Ok(()),
            Phase::Poisoned => Err(EngineError::Poisoned),
            Phase::Suspended => Err(EngineError::Suspended),
            Phase::Closed => Err(EngineError::Closed),
        }
    }

    /// The engine to use in this process: itself; in a forked child of a process that shares the ledger, one that the first call
    /// opens. Where there is none, calls answer `Forked` (P3).
    pub(crate) fn here(self: &Arc<Self>) -> &Arc<Self> {
        self.home.of_child().map_or(self, Engine::here)
    }

    /// Whether other processes may have the file open: what they must know has to be on disk.
    pub(crate) fn is_shared(&self) -> bool {
        self.home.is_shared()
    }

    /// Whether this is a forked child, to which the handle does not belong (P3).
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.home.is_elsewhere()
    }

    /// Refuses calls in a forked child (P3), and from inside a closure that this ledger runs, or a disk that it calls (G2).
    fn check_outside(&self) -> Result<(), EngineError> {
        if self.is_elsewhere() {
            return Err(EngineError::Forked);
        }
        let is_inside = reentry::is_inside(self) || self.store.is_calling_its_host();
        if is_inside { Err(EngineError::Reentrant) } else { Ok(()) }
    }

    pub(crate) fn phase(&self) -> Phase {
        const PHASES: [Phase; 4] = [Phase::Open, Phase::Poisoned, Phase::Suspended, Phase::Closed];
        PHASES[usize::from(self.phase.load(Ordering::Acquire))]
    }

    fn set_phase(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
    }

    /// A failed commit whose outcome is open poisons the handle (S7).
    fn note_outcome(&self, outcome: &Outcome) {
        let (open, poisoned) = (Phase::Open as u8, Phase::Poisoned as u8);
        if let Err(error) = outcome
            && matches!(**error, CommitError::Open(_))
            && self.phase.compare_exchange(open, poisoned, Ordering::AcqRel, Ordering::Acquire).is_ok()
        {
            self.memory.for_each(|_, slot| slot.wake());
            self.outbox.ring();
        }
    }

    pub(crate) fn snapshot(&self) -> Result<Arc<dyn Snapshot>, EngineError> {
        self.check_open()?;
        match self.store.snapshot() {
            // The look was overtaken: whoever resumes can look again.
            Err(StoreError::Closed) if self.phase() == Phase::Suspended => Err(EngineError::Suspended),
            snapshot => Ok(snapshot?),
        }
    }

    pub(crate) fn file_bytes(&self) -> Result<u64, EngineError> {
        self.check_open()?;
        Ok(self.store.file_bytes()?)
    }

    /// L7: remembers when this process first saw a lease of another opening, whatever it looked for.
    pub(crate) fn see(&self, address: &Address, found: &Found, now: Stamp) {
        if let Some(record) = found.record() {
            self.memory.see(&address.row, record, now);
        }
    }

    /// What counts for a key id right now, by a snapshot.
    pub(crate) fn find_now(&self, address: &Address) -> Result<(Found, Witness, Stamp), EngineError> {
        self.check_open()?;
        let glimpse = self.memory.look(&address.row);
        let snapshot = self.snapshot()?;
        let (witness, now) = (glimpse.witness, self.now());
        Ok((find(&*snapshot, address, glimpse, now)?, witness, now))
    }

    pub(crate) fn address(&self, id: KeyId) -> Address {
        Address::new(id, &self.salt)
    }
}

/// The record that decides about a key id in what `view` shows.
pub(crate) fn find(view: &dyn Snapshot, address: &Address, glimpse: Glimpse, now: Stamp) -> Result<Found, EngineError> {
    let stored = read_record(view, address)?;
    let on_disk = stored.as_ref().map_or(Age::NoRecord, |record| age(record, &glimpse.witness, now));
    let counts = match on_disk {
        Age::AsStored => Counts::Stored,
        Age::Next(record) => Counts::Next(record),
        Age::NoRecord => volatile_counts(glimpse, now),
    };
    Ok(Found { stored, counts })
}

fn volatile_counts(glimpse: Glimpse, now: Stamp) -> Counts {
    let Some(record) = glimpse.volatile else { return Counts::Nothing };
    match age(&record, &glimpse.witness, now) {
        Age::AsStored => Counts::Volatile(Box::new(record)),
        Age::Next(record) => Counts::Volatile(record),
        Age::NoRecord => Counts::Nothing,
    }
}

/// The stored record of a key id, whatever its age. Settled ones are looked for first: a replay is one read.
pub(crate) fn read_record(view: &dyn Snapshot, address: &Address) -> Result<Option<Record>, EngineError> {
    let decode = |bytes: &[u8]| codec::decode_record(&address.id, bytes);
    match read_with(view, Space::Records, address.row.as_bytes(), decode)? {
        Some(record) => Ok(Some(record)),
        None => read_with(view, Space::Live, address.row.as_bytes(), decode),
    }
}

/// The record in a row, and the key id that it is for.
pub(crate) fn read_entry(view: &dyn Snapshot, row: &RowKey) -> Result<Option<(KeyId, Record)>, EngineError> {
    match read_with(view, Space::Records, row.as_bytes(), codec::decode_entry)? {
        Some(entry) => Ok(Some(entry)),
        None => read_with(view, Space::Live, row.as_bytes(), codec::decode_entry),
    }
}

/// The value under `key`, decoded where it lies.
pub(crate) fn read_with<T>(
    view: &dyn Snapshot,
    space: Space,
    key: &[u8],
    decode: impl Fn(&[u8]) -> Result<T, DecodeError>,
) -> Result<Option<T>, EngineError> {
    let mut decoded = None;
    view.get(space, key, &mut |bytes| decoded = Some(decode(bytes)))?;
    Ok(decoded.transpose()?)
}
