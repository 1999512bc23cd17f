//! One owner at a time, or several who share: the lock of the operating system, and a list of what this process has open.

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::OpenError;
use crate::process::{self, GENERATIONS, PerProcess};

/// Device and inode.
type FileId = (u64, u64);

/// A file that a process has open. A forked child has nothing open itself.
type Opened = (u32, FileId);

// Where the system's lock belongs to the process, not to the open file (some network and emulated file systems), it does
// not keep two handles of one process apart, and closing either of them frees it.
static OPEN: PerProcess<Mutex<BTreeSet<Opened>>> =
    PerProcess::new([const { Mutex::new(BTreeSet::new()) }; GENERATIONS]);

const LOOKS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(2);

/// Held while a file is open. Freed by [`unlock`], or when the file it was taken on is closed.
///
/// Dropping it does not unlock the file: a handle that a forked child drops shares its lock with the parent.
#[derive(Debug)]
pub(super) struct FileLock(Option<Opened>);

/// Whom a lock keeps out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Against {
    /// Everybody else.
    All,
    /// Those who want the file for themselves.
    Owners,
}

impl FileLock {
    /// Locks `file` without waiting.
    pub(super) fn take(file: &File, against: Against) -> Result<FileLock, OpenError> {
        let id = opened(&file.metadata().map_err(OpenError::Unavailable)?);
        let lock = FileLock::list(id)?;
        if try_lock(file, against).map_err(OpenError::Unavailable)? { Ok(lock) } else { Err(OpenError::AlreadyOpen) }
    }

    fn list(id: Option<Opened>) -> Result<FileLock, OpenError> {
        match id {
            Some(id) if stays(|| !open_files().insert(id)) => Err(OpenError::AlreadyOpen),
            id => Ok(FileLock(id)),
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if let Some(id) = &self.0 {
            open_files().remove(id);
        }
    }
}

/// Whether this process has the file with this metadata open.
pub(super) fn is_open_here(metadata: &Metadata) -> bool {
    opened(metadata).is_some_and(|id| stays(|| open_files().contains(&id)))
}

/// Whether it is so, and still is after a moment. A file that was deleted while it was open gives its number to the next one
/// that is made as soon as it is closed, an instant before it is taken from the list.
fn stays(is_so: impl Fn() -> bool) -> bool {
    (0..LOOKS).all(|look| {
        if look > 0 {
            std::thread::sleep(PAUSE);
        }
        is_so()
    })
}

/// Whether both name one file; `true` where the system does not tell.
pub(super) fn same_file(one: &Metadata, other: &Metadata) -> bool {
    file_id(one) == file_id(other)
}

fn opened(metadata: &Metadata) -> Option<Opened> {
    file_id(metadata).map(|id| (process::id(), id))
}

fn open_files() -> MutexGuard<'static, BTreeSet<Opened>> {
    OPEN.here().lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
fn file_id(metadata: &Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

// Windows locks belong to the open file, and an open file cannot be replaced under its path.
#[cfg(not(unix))]
fn file_id(_: &Metadata) -> Option<FileId> {
    None
}

#[cfg(unix)]
fn try_lock(file: &File, against: Against) -> io::Result<bool> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;
    let operation = match against {
        Against::All => FlockOperation::NonBlockingLockExclusive,
        Against::Owners => FlockOperation::NonBlockingLockShared,
    };
    match flock(file, operation) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        // A network's file system that has it only for those who may write. Whoever only reads keeps out those who write alone.
        Err(Errno::BADF) if against == Against::All => try_lock(file, Against::Owners),
        Err(errno) => Err(errno.into()),
    }
}

/// Unlocks a file, also where a forked child still holds the same open file.
#[cfg(unix)]
pub(super) fn unlock(file: &File) -> io::Result<()> {
    Ok(rustix::fs::flock(file, rustix::fs::FlockOperation::Unlock)?)
}

#[cfg(not(unix))]
fn try_lock(file: &File, against: Against) -> io::Result<bool> {
    let locked = match against {
        Against::All => file.try_lock(),
        Against::Owners => file.try_lock_shared(),
    };
    match locked {
        Ok(()) => Ok(true),
        Err(std::fs::TryLockError::WouldBlock) => Ok(false),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Unlocks a file.
#[cfg(not(unix))]
pub(super) fn unlock(file: &File) -> io::Result<()> {
    file.unlock()
}
