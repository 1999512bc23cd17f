//! Where the ledger of a story is kept, and how it is opened, closed and killed.

use std::path::PathBuf;
use std::sync::Arc;

use keyledger::{Error, Ledger, ManualClock};
use keyledger_harness::disk::{Crash, FakeDisk};
use tempfile::TempDir;

use super::stage::{RESPONSE_BYTES_MAX, WALL_START};

/// The kinds of stores that stories are told on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Gone with the process: nothing outlives it.
    Memory,
    /// The store of files, on a disk that loses its power instead of a process that is killed.
    Disk,
    /// A file.
    File,
}

/// The store of one story, with the clock that the test moves.
pub(crate) struct Store {
    pub(crate) clock: ManualClock,
    place: Place,
}

enum Place {
    Memory,
    Disk(FakeDisk),
    File { folder: TempDir, generation: u32 },
}

impl Store {
    pub(crate) fn new(kind: Kind) -> Self {
        let place = match kind {
            Kind::Memory => Place::Memory,
            Kind::Disk => Place::Disk(FakeDisk::new()),
            Kind::File => Place::File { folder: tempfile::tempdir().expect("a temporary folder"), generation: 0 },
        };
        Self { clock: ManualClock::new(WALL_START), place }
    }

    /// Whether what is stored outlives the handle.
    pub(crate) fn lasts(&self) -> bool {
        !matches!(self.place, Place::Memory)
    }

    pub(crate) fn open(&self) -> Result<Ledger, Error> {
        let builder = Ledger::builder().clock(self.clock.clone()).max_response_bytes(RESPONSE_BYTES_MAX);
        match &self.place {
            Place::Memory => builder.in_memory(),
            Place::Disk(disk) => builder.open_disk(Arc::new(disk.clone())),
            Place::File { folder, generation } => builder.open(path(folder, *generation)),
        }
    }

    /// I4: the next opening finds what was acknowledged, and none of what a close would have written.
    pub(crate) fn kill(&mut self, crash: Crash) {
        match &mut self.place {
            Place::Memory => {}
            Place::Disk(disk) => *disk = FakeDisk::of(disk.crash(crash)),
            Place::File { folder, generation } => {
                let (before, after) = (path(folder, *generation), path(folder, *generation + 1));
                std::fs::copy(before, after).expect("a copy of the file");
                *generation += 1;
            }
        }
    }
}

fn path(folder: &TempDir, generation: u32) -> PathBuf {
    folder.path().join(format!("{generation}.kl"))
}
