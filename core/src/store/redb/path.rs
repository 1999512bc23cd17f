//! From a path to an open engine: locked, looked at, created if there is none (contract P2, P5).

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::create::{self, Placed};
use super::engine::StoreOptions;
use super::header;
use super::logged::Logged;
use super::open::{Known, open_again_on};
use super::witness::{Doubts, Witness};
use crate::store::OpenError;
use crate::store::disk::{Disk, FileDisk};
use crate::store::lock::{self, FileLock};

// How often a path may change under the opener before it gives up.
const ATTEMPTS_MAX: usize = 16;

/// Opens the ledger at `path`, or creates it; whoever loses the race to create it opens the winner's.
pub(super) fn open_or_create(path: &Path, options: StoreOptions, doubts: &Arc<Doubts>) -> Result<Logged, OpenError> {
    for _ in 0..ATTEMPTS_MAX {
        match open_locked(path) {
            Ok(disk) => return named(path, Logged::start(Witness::of(disk, doubts), options.cache_bytes)?),
            Err(OpenError::Unavailable(error)) if error.kind() == io::ErrorKind::NotFound => {
                match create::create(path, options, &mut |_| Ok(()))? {
                    Placed::Here | Placed::AnotherWasFirst => {}
                }
            }
            Err(error) => return Err(error),
        }
    }
    Err(OpenError::Unavailable(io::ErrorKind::NotFound.into()))
}

/// Opens the same ledger again, and creates none.
pub(super) fn open_again(path: &Path, cache_bytes: usize, known: Known<'_>) -> Result<Logged, OpenError> {
    named(path, open_again_on(&open_locked(path)?, cache_bytes, known)?)
}

fn named(path: &Path, engine: Logged) -> Result<Logged, OpenError> {
    create::sync_folder(path).map(|()| engine.moving_in_background())
}

fn open_locked(path: &Path) -> Result<Arc<dyn Disk>, OpenError> {
    for _ in 0..ATTEMPTS_MAX {
        refuse_unopened(path)?;
        let open = || OpenOptions::new().read(true).write(true).open(path).map_err(OpenError::Unavailable);
        let file = open()?;
        let lock = FileLock::take(&file)?;
        if still_at(path, &file)? {
            let synced = open()?;
            if are_one(&file, &synced)? {
                return Ok(Arc::new(FileDisk::new(file, Some(synced), lock)));
            }
        }
    }
    Err(OpenError::Unavailable(io::Error::other("the file is being replaced again and again")))
}

// Opening a pipe or a device may have effects, and closing a second handle of a file may free the lock of the first.
fn refuse_unopened(path: &Path) -> Result<(), OpenError> {
    let metadata = fs::metadata(path).map_err(OpenError::Unavailable)?;
    if !metadata.is_file() {
        return Err(header::not_a_file());
    }
    if lock::is_open_here(&metadata) { Err(OpenError::AlreadyOpen) } else { Ok(()) }
}

fn are_one(one: &File, other: &File) -> Result<bool, OpenError> {
    let metadata = |file: &File| file.metadata().map_err(OpenError::Unavailable);
    Ok(lock::same_file(&metadata(one)?, &metadata(other)?))
}

// The file may have been replaced between opening and locking it: then the lock is on one that nobody can find.
fn still_at(path: &Path, file: &File) -> Result<bool, OpenError> {
    let opened = file.metadata().map_err(OpenError::Unavailable)?;
    match fs::metadata(path) {
        Ok(found) => Ok(lock::same_file(&found, &opened)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(OpenError::Unavailable(error)),
    }
}
