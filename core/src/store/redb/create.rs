//! New files, put in place whole (contract P5).

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::{Bound, ControlFlow};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::engine::{Engine, StoreOptions};
use super::fresh::{Content, create_on};
use crate::store::disk::{Disk, FileDisk};
use crate::store::lock::{Against, FileLock};
use crate::store::{CommitError, CreationId, OpenError, Snapshot, Space, StoreError, Writes};

/// Whose file is at the path now.
pub(super) enum Placed {
    Here,
    AnotherWasFirst,
}

// Memory and commit size of a copy.
const COPY_CACHE_BYTES: usize = 8 << 20;
const COPY_CHUNK_BYTES: usize = 2 << 20;

// Left-over temporary files that are passed over before giving up.
const TEMPORARY_NAMES_MAX: usize = 1000;

/// Makes a ledger under a temporary name beside `path`, lets `content` write into it, syncs it, and gives it its name unless
/// the name is taken by then.
pub(super) fn create(path: &Path, options: StoreOptions, content: Content<'_>) -> Result<Placed, OpenError> {
    let (temporary, file) = create_temporary(path).map_err(OpenError::Unavailable)?;
    let placed = write(file, options, content).and_then(|()| place(&temporary, path).map_err(OpenError::Unavailable));
    // Gone already if it was renamed; left over otherwise, where nothing ever opens it.
    let _ = fs::remove_file(&temporary);
    sync_folder(path)?;
    placed
}

/// Copies everything that `snapshot` shows into a new ledger at `path`.
pub(in crate::store) fn copy_to(
    snapshot: &dyn Snapshot,
    path: &Path,
    creation_id: CreationId,
) -> Result<(), OpenError> {
    let taken = || OpenError::Store(StoreError::Io(io::ErrorKind::AlreadyExists.into()));
    if path.symlink_metadata().is_ok() {
        return Err(taken());
    }
    let options = StoreOptions { cache_bytes: COPY_CACHE_BYTES, creation_id };
    match create(path, options, &mut |engine| copy_into(engine, snapshot))? {
        Placed::Here => Ok(()),
        Placed::AnotherWasFirst => Err(taken()),
    }
}

fn copy_into(engine: &Engine, snapshot: &dyn Snapshot) -> Result<(), OpenError> {
    for space in Space::ALL {
        let mut after = None;
        loop {
            let (writes, last) = chunk(snapshot, space, after.as_deref())?;
            if last.is_none() {
                break;
            }
            engine.commit(&writes, 0).map_err(CommitError::into_cause)?;
            after = last;
        }
    }
    Ok(())
}

// The next rows after a key, and the last key among them.
fn chunk(snapshot: &dyn Snapshot, space: Space, after: Option<&[u8]>) -> Result<(Writes, Option<Vec<u8>>), StoreError> {
    let (mut writes, mut last, mut bytes) = (Writes::default(), None, 0);
    let from = after.map_or(Bound::Unbounded, Bound::Excluded);
    snapshot.scan(space, (from, Bound::Unbounded), &mut |key, value| {
        writes.put(space, key.to_vec(), value.to_vec());
        last = Some(key.to_vec());
        bytes += key.len() + value.len();
        if bytes < COPY_CHUNK_BYTES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok((writes, last))
}

fn write(file: File, options: StoreOptions, content: Content<'_>) -> Result<(), OpenError> {
    let lock = FileLock::take(&file, Against::All)?;
    let disk: Arc<dyn Disk> = Arc::new(FileDisk::new(file, None, lock));
    let created = create_on(&disk, options, content);
    // A child that was forked meanwhile has the file open as well, and would keep it locked (P3).
    created.and(disk.close().map_err(OpenError::Unavailable))
}

fn create_temporary(path: &Path) -> io::Result<(PathBuf, File)> {
    for _ in 0..TEMPORARY_NAMES_MAX {
        let temporary = temporary_name(path)?;
        match new_file().open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            answer => return answer.map(|file| (temporary, file)),
        }
    }
    Err(io::Error::other("the folder is full of unfinished ledgers"))
}

fn temporary_name(path: &Path) -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}-{}.new", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    Ok(path.with_file_name(temporary))
}

fn new_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

// A second name that fails if it is taken; where the file system has none (FAT, an Android app), a rename that does.
fn place(temporary: &Path, path: &Path) -> io::Result<Placed> {
    let placed = match fs::hard_link(temporary, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => rename_to_free_name(temporary, path, error),
        linked => linked,
    };
    match placed {
        Ok(()) => Ok(Placed::Here),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Placed::AnotherWasFirst),
        Err(error) => Err(error),
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_to_free_name(temporary: &Path, path: &Path, _: io::Error) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, temporary, CWD, path, RenameFlags::NOREPLACE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_to_free_name(_: &Path, _: &Path, why_not_linked: io::Error) -> io::Result<()> {
    Err(why_not_linked)
}

/// Makes the names in the folder of `path` survive a loss of power.
///
/// Whoever opens a file does this too: the one who created it may not have come so far.
pub(super) fn sync_folder(path: &Path) -> Result<(), OpenError> {
    match sync_folder_of(path) {
        // A folder that may be passed through but not read cannot be synced by us.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        answer => answer.map_err(OpenError::Unavailable),
    }
}

#[cfg(unix)]
fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    File::open(folder)?.sync_all()
}

// Windows keeps names in a log of its own and has no call for this.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)]
fn sync_folder_of(_: &Path) -> io::Result<()> {
    Ok(())
}
