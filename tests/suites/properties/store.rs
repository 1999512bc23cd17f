//! Where the ledger of a story is kept, and how it is opened, closed and killed.

use std::path::PathBuf;

use keyledger::{Ledger, ManualClock};
use tempfile::TempDir;

use super::stage::{RESPONSE_BYTES_MAX, WALL_START};

/// A ledger in memory or in a file, with the clock that the test moves.
pub(crate) struct Store {
    pub(crate) clock: ManualClock,
    folder: Option<TempDir>,
    generation: u32,
}

impl Store {
    pub(crate) fn new(files: bool) -> Self {
        let folder = files.then(|| tempfile::tempdir().expect("a temporary folder"));
        Self { clock: ManualClock::new(WALL_START), folder, generation: 0 }
    }

    pub(crate) fn in_file(&self) -> bool {
        self.folder.is_some()
    }

    pub(crate) fn open(&self) -> Result<Ledger, keyledger::Error> {
        let builder = Ledger::builder().clock(self.clock.clone()).max_response_bytes(RESPONSE_BYTES_MAX);
        match &self.folder {
            Some(_) => builder.open(self.path()),
            None => builder.in_memory(),
        }
    }

    /// What a kill leaves: the bytes of the file as they are between two calls, without anything that a close would write.
    pub(crate) fn kill(&mut self) {
        let before = self.path();
        self.generation += 1;
        std::fs::copy(before, self.path()).expect("a copy of the file");
    }

    fn path(&self) -> PathBuf {
        let folder = self.folder.as_ref().expect("a ledger in a file");
        folder.path().join(format!("{}.kl", self.generation))
    }
}
