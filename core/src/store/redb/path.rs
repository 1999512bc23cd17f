//! From a path to an open engine: locked, looked at, created if there is none (contract P2, P5).

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::create::{self, Placed};
use super::engine::StoreOptions;
use super::errors::while_opening;
use super::front::Front;
use super::header;
use super::logged::Logged;
use super::look::Look;
use super::open::{Known, open_again_on};
use super::peers::Peers;
use super::shared::Shared;
use super::witness::{Doubts, Witness};
use crate::store::disk::{Disk, FileDisk};
use crate::store::lock::{self, Against, FileLock};
use crate::store::{CreationId, OpenError};

// How often a path may change under the opener before it gives up.
const ATTEMPTS_MAX: usize = 16;

/// Opens the ledger at `path`, or creates it; whoever loses the race to create it opens the winner's.
pub(super) fn open_or_create(
    path: &Path,
    options: StoreOptions,
    doubts: &Arc<Doubts>,
) -> Result<Box<dyn Front>, OpenError> {
    created_if_missing(path, options, || open(path, options.cache_bytes, doubts))
}

/// The same, for several processes at a time.
pub(super) fn share_or_create(
    path: &Path,
    options: StoreOptions,
    doubts: &Arc<Doubts>,
) -> Result<Box<dyn Front>, OpenError> {
    created_if_missing(path, options, || share(path, options.cache_bytes, doubts, |_| Ok(())))
}

/// Opens the same ledger again, and creates none.
pub(super) fn open_again(path: &Path, cache_bytes: usize, known: Known<'_>) -> Result<Box<dyn Front>, OpenError> {
    let disk = open_locked(path)?;
    named(path, open_again_on(&disk, cache_bytes, known)?.moving_in_background())
}

/// Opens the same shared ledger again, and creates none.
pub(super) fn share_again(path: &Path, cache_bytes: usize, known: Known<'_>) -> Result<Box<dyn Front>, OpenError> {
    share(path, cache_bytes, known.doubts, |disk| known.settle(disk))
}

/// Looks at the ledger at `path`; at no other than the one with that id, where that is known.
pub(super) fn look_at(path: &Path, cache_bytes: usize, known: Option<CreationId>) -> Result<Box<dyn Front>, OpenError> {
    let (file, lock, []) = open_once_more(path, Against::All, readable)?;
    let file: Arc<dyn Disk> = Arc::new(FileDisk::new(file, None, lock));
    if known.is_some_and(|known| header::read(&*file).is_ok_and(|header| header.creation_id != known)) {
        return Err(header::another_ledger());
    }
    Ok(Box::new(Look::start(file, cache_bytes)?))
}

fn open(path: &Path, cache_bytes: usize, doubts: &Arc<Doubts>) -> Result<Box<dyn Front>, OpenError> {
    let disk = open_locked(path)?;
    named(path, Logged::start(Witness::of(disk, doubts), cache_bytes)?.moving_in_background())
}

/// `prepare` has the disk first, in this process's turn.
fn share(
    path: &Path,
    cache_bytes: usize,
    doubts: &Arc<Doubts>,
    prepare: impl FnOnce(&dyn Disk) -> Result<(), OpenError>,
) -> Result<Box<dyn Front>, OpenError> {
    let (file, lock, [synced, locks]) = open_once_more(path, Against::Owners, writable)?;
    let disk: Arc<dyn Disk> = Arc::new(FileDisk::new(file, Some(synced), lock));
    let peers = Peers::over(locks)?;
    let _turn = peers.take_turn().map_err(while_opening)?;
    prepare(&*disk)?;
    named(path, Shared::start(Witness::of(disk, doubts), cache_bytes, Arc::clone(&peers))?)
}

fn created_if_missing(
    path: &Path,
    options: StoreOptions,
    open: impl Fn() -> Result<Box<dyn Front>, OpenError>,
) -> Result<Box<dyn Front>, OpenError> {
    for _ in 0..ATTEMPTS_MAX {
        match open() {
            Err(OpenError::Unavailable(error)) if error.kind() == io::ErrorKind::NotFound => {
                match create::create(path, options, &mut |_| Ok(()))? {
                    Placed::Here | Placed::AnotherWasFirst => {}
                }
            }
            answer => return answer,
        }
    }
    Err(OpenError::Unavailable(io::ErrorKind::NotFound.into()))
}

fn named(path: &Path, front: impl Front + 'static) -> Result<Box<dyn Front>, OpenError> {
    create::sync_folder(path)?;
    Ok(Box::new(front))
}

fn readable(path: &Path) -> Result<File, OpenError> {
    File::open(path).map_err(OpenError::Unavailable)
}

fn writable(path: &Path) -> Result<File, OpenError> {
    OpenOptions::new().read(true).write(true).open(path).map_err(OpenError::Unavailable)
}

fn open_locked(path: &Path) -> Result<Arc<dyn Disk>, OpenError> {
    let (file, lock, [synced]) = open_once_more(path, Against::All, writable)?;
    Ok(Arc::new(FileDisk::new(file, Some(synced), lock)))
}

/// The file, locked, and `N` more openings of the very same file.
fn open_once_more<const N: usize>(
    path: &Path,
    against: Against,
    open: impl Fn(&Path) -> Result<File, OpenError>,
) -> Result<(File, FileLock, [File; N]), OpenError> {
    for _ in 0..ATTEMPTS_MAX {
        refuse_unopened(path)?;
        let file = open(path)?;
        let lock = FileLock::take(&file, against)?;
        if still_at(path, &file)? {
            let more = (0..N).map(|_| same_again(path, &file)).collect::<Result<Option<Vec<_>>, _>>()?;
            if let Some(Ok(more)) = more.map(<[File; N]>::try_from) {
                return Ok((file, lock, more));
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

// Another opening of this file, unless it has been replaced.
fn same_again(path: &Path, file: &File) -> Result<Option<File>, OpenError> {
    let metadata = |file: &File| file.metadata().map_err(OpenError::Unavailable);
    let again = writable(path)?;
    Ok(lock::same_file(&metadata(file)?, &metadata(&again)?).then_some(again))
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
