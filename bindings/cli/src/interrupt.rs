//! Ctrl-C: the program ends at once, at any point. Every commit of the ledger is whole or not there, and files are put in place whole; what
//! is left to do is to take unfinished files away.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::failure::{Failure, INTERRUPTED_EXIT, Result};

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Where the ledger makes copies.
static COPIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// From now on an interruption takes unfinished files away and ends the program.
pub(crate) fn listen() -> Result<()> {
    let end = || {
        // Held to the end: no file is made any more.
        let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        for path in &*unfinished {
            let _ = std::fs::remove_file(path);
        }
        COPIES.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|copy| remove_unfinished_copy(copy));
        std::process::exit(INTERRUPTED_EXIT);
    };
    ctrlc::set_handler(end).map_err(|error| Failure::new("unavailable", format!("cannot listen for Ctrl-C: {error}")))
}

/// From now on the ledger may make a copy at `path`: an interruption takes away what there is of it under another name.
pub(crate) fn copies_to(path: &Path) {
    COPIES.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
}

/// The ledger makes a copy under a hidden name beside it, with this process's number in it and `.new` at its end.
fn remove_unfinished_copy(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let begins = format!(".{}.{}-", name.to_string_lossy(), std::process::id());
    let Ok(files) = std::fs::read_dir(folder) else { return };
    for file in files.flatten() {
        let name = file.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&begins) && name.ends_with(".new") {
            let _ = std::fs::remove_file(file.path());
        }
    }
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
