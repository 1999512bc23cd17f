//! A storage backend that counts what redb asks of the file below it.

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};
use std::fs::OpenOptions;
use std::ops::{Bound, Sub};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

type Io<T> = Result<T, std::io::Error>;

/// Calls and bytes so far, shared between the backend and whoever reads them.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    writes: AtomicU64,
    written_bytes: AtomicU64,
    syncs: AtomicU64,
    reads: AtomicU64,
    resizes: AtomicU64,
}

/// What [`Counts`] held at one instant, or the difference between two.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) writes: u64,
    pub(crate) written_bytes: u64,
    pub(crate) syncs: u64,
    pub(crate) reads: u64,
    pub(crate) resizes: u64,
}

impl Counts {
    pub(crate) fn tally(&self) -> Tally {
        Tally {
            writes: self.writes.load(Ordering::Relaxed),
            written_bytes: self.written_bytes.load(Ordering::Relaxed),
            syncs: self.syncs.load(Ordering::Relaxed),
            reads: self.reads.load(Ordering::Relaxed),
            resizes: self.resizes.load(Ordering::Relaxed),
        }
    }
}

impl Sub for Tally {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            writes: self.writes - before.writes,
            written_bytes: self.written_bytes - before.written_bytes,
            syncs: self.syncs - before.syncs,
            reads: self.reads - before.reads,
            resizes: self.resizes - before.resizes,
        }
    }
}

/// redb's own file backend, with every call counted.
#[derive(Debug)]
pub(crate) struct CountingBackend {
    file: FileBackend,
    counts: Arc<Counts>,
    growth: Growth,
}

/// What a file is grown by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// A hole: the file system finds the blocks when they are first written, inside a commit.
    Hole,
    /// Zeros that are written at once, so that commits only ever write over blocks that are there.
    Zeros,
}

impl CountingBackend {
    /// Opens or creates the file at `path`.
    pub(crate) fn open(path: &Path, counts: Arc<Counts>, growth: Growth) -> anyhow::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        Ok(Self { file: FileBackend::new(file)?, counts, growth })
    }
}

fn count(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

const FILL_STEP: usize = 1 << 20;

fn fill(file: &FileBackend, from: u64, to: u64) -> Io<()> {
    let zeros = vec![0; FILL_STEP];
    let mut at = from;
    while at < to {
        let step = usize::try_from(to - at).map_or(FILL_STEP, |left| left.min(FILL_STEP));
        file.write(at, &zeros[..step])?;
        at += step as u64;
    }
    Ok(())
}

impl StorageBackend for CountingBackend {
    fn len(&self) -> Io<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Io<()> {
        count(&self.counts.reads, 1);
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> Io<()> {
        count(&self.counts.resizes, 1);
        let before = self.file.len()?;
        self.file.set_len(len)?;
        if self.growth == Growth::Zeros { fill(&self.file, before, len) } else { Ok(()) }
    }

    fn sync_data(&self) -> Io<()> {
        count(&self.counts.syncs, 1);
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Io<()> {
        count(&self.counts.writes, 1);
        count(&self.counts.written_bytes, data.len() as u64);
        self.file.write(offset, data)
    }

    fn close(&self) -> Io<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}
