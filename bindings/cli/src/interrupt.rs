//! Ctrl-C: the program ends at once, at any point. Every commit of the ledger is whole or not there, and files are put in place whole; what
//! is left to do is to take unfinished files away.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::failure::{Failure, INTERRUPTED_EXIT, Result};

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// From now on an interruption takes unfinished files away and ends the program.
pub(crate) fn listen() -> Result<()> {
    let end = || {
        // Held to the end: no file is made any more.
        let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        for path in &*unfinished {
            let _ = std::fs::remove_file(path);
        }
        std::process::exit(INTERRUPTED_EXIT);
    };
    ctrlc::set_handler(end).map_err(|error| Failure::new("unavailable", format!("cannot listen for Ctrl-C: {error}")))
}

/// A file that is taken away when the program is interrupted, or when this is dropped.
#[derive(Debug)]
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    /// A file at `path`, to be made.
    pub(crate) fn at(path: PathBuf) -> Self {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        // Gone already if it was put in its place.
        let _ = std::fs::remove_file(&self.0);
        unfinished.retain(|path| *path != self.0);
    }
}
