//! A disk in memory that counts, fails on demand, and loses its power.
//!
//! It keeps what was synced apart from what was only written. Reads show both, as a page cache does; [`FakeDisk::crash`]
//! gives what a loss of power could have left.

mod crash;
mod dice;
mod faults;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use keyledger::test_support::Disk;

pub use self::crash::Crash;
pub use self::dice::Dice;
pub use self::faults::Fault;
use self::faults::{Call, Faults, Strike};

// The most that a disk writes as one.
const SECTOR: usize = 512;

/// What a disk was asked to do so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls of any kind, failed ones included.
    pub calls: u64,
    /// Reads that succeeded.
    pub reads: u64,
    /// Writes that succeeded.
    pub writes: u64,
    /// Bytes of those writes.
    pub written_bytes: u64,
    /// Changes of length that succeeded.
    pub set_lens: u64,
    /// Syncs that succeeded.
    pub syncs: u64,
    /// How often the disk was let go of.
    pub closes: u64,
}

/// A disk in memory. Clones are the same disk.
#[derive(Debug, Clone, Default)]
pub struct FakeDisk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    shown: Vec<u8>,
    synced: Vec<u8>,
    pending: Vec<Change>,
    // Written before a sync that failed: shown, and kept by no later sync unless written once more.
    dropped: Vec<Change>,
    counts: Counts,
    faults: Faults,
}

/// Something done to a disk since its last sync.
#[derive(Debug, Clone)]
enum Change {
    Write { offset: usize, data: Vec<u8> },
    SetLen(usize),
}

impl FakeDisk {
    /// An empty disk.
    pub fn new() -> FakeDisk {
        FakeDisk::default()
    }

    /// A disk that holds `image`, synced.
    pub fn of(image: Vec<u8>) -> FakeDisk {
        FakeDisk(Arc::new(Mutex::new(State { shown: image.clone(), synced: image, ..State::default() })))
    }

    /// What reads see now.
    pub fn shown(&self) -> Vec<u8> {
        self.state().shown.clone()
    }

    /// What it was asked to do so far.
    pub fn counts(&self) -> Counts {
        self.state().counts
    }

    /// From now on, the `number`-th sync (the first is 1) and every call after it fail, and change nothing.
    pub fn stop_at_sync(&self, number: u64) {
        self.state().faults.stop_at_sync(number);
    }

    /// From now on, the `number`-th call (the first is 1) fails once with EIO, and changes nothing.
    pub fn fail_call(&self, number: u64) {
        self.fail_call_with(number, Fault::Io);
    }

    /// From now on, of the calls that `fault` can befall the `number`-th (the first is 1) fails with it, once.
    pub fn fail_call_with(&self, number: u64, fault: Fault) {
        self.state().faults.fail_call(number, fault);
    }

    /// Takes back every fault that has not happened yet, and ends a stop.
    pub fn heal(&self) {
        self.state().faults = Faults::default();
    }

    /// Ends a stop as a kill would have it: the sync that it came at was never asked for, and a later one keeps what this one did not.
    pub fn forget_the_sync(&self) {
        self.heal();
        let mut state = self.state();
        let dropped = std::mem::take(&mut state.dropped);
        state.pending.splice(..0, dropped);
    }

    /// Whether the sync that it was to stop at has come, or the call that was to fail.
    pub fn has_failed(&self) -> bool {
        self.state().faults.have_struck()
    }

    /// What a loss of power at this moment leaves.
    pub fn crash(&self, crash: Crash) -> Vec<u8> {
        let state = self.state();
        let unsure: Vec<Change> = state.dropped.iter().chain(&state.pending).cloned().collect();
        crash::image(&state.synced, &unsure, crash)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does a call, or as much of it as the faults let it do.
    fn call<T>(&self, call: Call, act: impl FnOnce(&mut State, Extent) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.state();
        state.counts.calls += 1;
        match state.faults.strike(call) {
            Strike::Misses => act(&mut state, Extent::Whole),
            Strike::Hits(error) => {
                if call == Call::Sync {
                    state.drop_pending();
                }
                Err(error)
            }
            Strike::HitsHalfway(error) => act(&mut state, Extent::Half).and(Err(error)),
        }
    }
}

/// How far a call gets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Half,
}

impl Extent {
    fn of(self, len: usize) -> usize {
        match self {
            Extent::Whole => len,
            Extent::Half => len / 2,
        }
    }
}

impl State {
    fn change(&mut self, change: Change) {
        change.apply(&mut self.shown);
        self.pending.push(change);
    }

    // What a failed sync was to write is taken for written, a sector at a time.
    fn drop_pending(&mut self) {
        let lost = std::mem::take(&mut self.pending);
        self.dropped.extend(lost.iter().flat_map(Change::sectors));
    }

    fn sync(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            change.apply(&mut self.synced);
            self.dropped.retain(|dropped| !change.covers(dropped));
        }
        self.synced.resize(self.shown.len(), 0);
    }
}

impl Change {
    fn apply(&self, image: &mut Vec<u8>) {
        match self {
            Change::Write { offset, data } => {
                let end = offset + data.len();
                if image.len() < end {
                    image.resize(end, 0);
                }
                image[*offset..end].copy_from_slice(data);
            }
            Change::SetLen(len) => image.resize(*len, 0),
        }
    }

    // Where the disk ends at least after it.
    fn end(&self) -> usize {
        match self {
            Change::Write { offset, data } => offset + data.len(),
            Change::SetLen(len) => *len,
        }
    }

    // The parts of a write that lie in one sector each. A change of length has none.
    fn sectors(&self) -> Vec<Change> {
        let Change::Write { offset, data } = self else { return Vec::new() };
        let first = (SECTOR - offset % SECTOR).min(data.len());
        let (head, rest) = data.split_at(first);
        let tail = rest.chunks(SECTOR).enumerate().map(|(index, piece)| (offset + first + index * SECTOR, piece));
        let pieces = std::iter::once((*offset, head)).chain(tail);
        pieces.map(|(offset, piece)| Change::Write { offset, data: piece.to_vec() }).collect()
    }

    fn covers(&self, other: &Change) -> bool {
        match (self, other) {
            (Change::Write { offset, data }, Change::Write { offset: start, data: piece }) => {
                offset <= start && start + piece.len() <= offset + data.len()
            }
            _ => false,
        }
    }
}

impl Disk for FakeDisk {
    fn len(&self) -> io::Result<u64> {
        self.call(Call::Other, |state, _| Ok(state.shown.len() as u64))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.call(Call::Read, |state, extent| {
            let start = position(offset)?;
            let bytes = state.shown.get(start..start + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
            let len = extent.of(out.len());
            out[..len].copy_from_slice(&bytes[..len]);
            state.counts.reads += u64::from(extent == Extent::Whole);
            Ok(())
        })
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.call(Call::Write, |state, extent| {
            let data = data[..extent.of(data.len())].to_vec();
            if extent == Extent::Whole {
                state.counts.writes += 1;
                state.counts.written_bytes += data.len() as u64;
            }
            state.change(Change::Write { offset: position(offset)?, data });
            Ok(())
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.call(Call::SetLen, |state, _| {
            state.change(Change::SetLen(position(len)?));
            state.counts.set_lens += 1;
            Ok(())
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.call(Call::Sync, |state, _| {
            state.sync();
            state.counts.syncs += 1;
            Ok(())
        })
    }

    fn close(&self) -> io::Result<()> {
        self.call(Call::Other, |state, _| {
            state.counts.closes += 1;
            Ok(())
        })
    }
}

fn position(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(io::Error::other)
}

#[cfg(test)]
mod tests;
