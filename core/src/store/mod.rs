//! The port to a storage engine: atomic writes and ordered reads over bytes.
//!
//! A store knows nothing of records, time or rules. It keeps byte keys and byte values in a few ordered spaces, hands out
//! consistent snapshots, and applies a [`Writes`] whole or not at all. Whoever commits is the only one who does: the commit
//! queue above serialises writers, so a snapshot taken between two commits shows what the next commit changes.

#[cfg(any(test, target_arch = "wasm32"))]
mod crc;
pub(crate) mod disk;
mod health;
mod host_disk;
#[cfg(not(target_arch = "wasm32"))]
mod lock;
mod log;
pub(crate) mod memory;
mod memtable;
pub(crate) mod merge;
pub(crate) mod redb;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::sync::Arc;

/// Sixteen random bytes that tell one ledger file from every other, its own copies included.
pub(crate) type CreationId = [u8; 16];

/// One of the ordered maps in a store.
///
/// Their order is theirs on disk, too: what every commit touches lies side by side (docs/decisions/0003).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Space {
    /// The caller's own tables.
    Rows,
    /// Settled and released records, and tombstones.
    Records,
    /// Keys that sort by time: what a sweep has to do, and when.
    Expiry,
    /// Few rows about the ledger itself: counters, the next fence.
    Meta,
    /// Records in progress, and parked ones.
    Live,
    /// Keys that sort by operation and time: the unsettled records.
    Unsettled,
    /// Requests to be sent, and the indexes over them.
    Outbox,
}

impl Space {
    pub(crate) const ALL: [Space; 7] =
        [Space::Rows, Space::Records, Space::Expiry, Space::Meta, Space::Live, Space::Unsettled, Space::Outbox];
}

/// A key's new value in a commit; `None` deletes it.
pub(crate) type Change = Option<Vec<u8>>;

/// Everything that one commit changes, sorted by space and key.
#[derive(Debug, Default, Clone)]
pub(crate) struct Writes {
    spaces: [BTreeMap<Vec<u8>, Change>; Space::ALL.len()],
}

impl Writes {
    pub(crate) fn put(&mut self, space: Space, key: Vec<u8>, value: Vec<u8>) {
        self.set(space, key, Some(value));
    }

    pub(crate) fn delete(&mut self, space: Space, key: Vec<u8>) {
        self.set(space, key, None);
    }

    /// Changes a key, and returns what these writes said of it before.
    pub(crate) fn set(&mut self, space: Space, key: Vec<u8>, change: Change) -> Option<Change> {
        self.spaces[space as usize].insert(key, change)
    }

    /// From now on these writes do not touch the key.
    pub(crate) fn unset(&mut self, space: Space, key: &[u8]) {
        self.spaces[space as usize].remove(key);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spaces.iter().all(BTreeMap::is_empty)
    }

    /// What these writes say of a key; `None` if they do not touch it.
    pub(crate) fn get(&self, space: Space, key: &[u8]) -> Option<&Change> {
        self.spaces[space as usize].get(key)
    }

    /// The changes of one space in key order.
    pub(crate) fn of(&self, space: Space) -> &BTreeMap<Vec<u8>, Change> {
        &self.spaces[space as usize]
    }

    /// The same, given away, space by space.
    pub(crate) fn into_spaces(self) -> impl Iterator<Item = (Space, BTreeMap<Vec<u8>, Change>)> {
        Space::ALL.into_iter().zip(self.spaces)
    }

    /// Adds `later`, which wins where both touch a key.
    pub(crate) fn absorb(&mut self, later: Writes) {
        for (mine, theirs) in self.spaces.iter_mut().zip(later.spaces) {
            if mine.is_empty() {
                *mine = theirs;
            } else {
                mine.extend(theirs);
            }
        }
    }
}

/// A range of keys in one space.
pub(crate) type KeyRange<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// Whether no key can lie in `range`: its ends are the wrong way round, or meet without including a key.
fn holds_nothing(range: KeyRange<'_>) -> bool {
    use Bound::{Excluded, Included, Unbounded};
    match range {
        (Included(from), Included(to)) => from > to,
        (Included(from) | Excluded(from), Excluded(to)) | (Excluded(from), Included(to)) => from >= to,
        (Unbounded, _) | (_, Unbounded) => false,
    }
}

/// Called with each key and value of a scan; breaks to end it.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>;

/// A consistent view of everything that was committed when it was taken. It stays as it is while others commit.
pub(crate) trait Snapshot: Send + Sync {
    /// Calls `read` with the value of `key`, if there is one, and says whether there was.
    fn get(&self, space: Space, key: &[u8], read: &mut dyn FnMut(&[u8])) -> Result<bool, StoreError>;

    /// Calls `visit` with the keys of `range` in order until it breaks.
    fn scan(&self, space: Space, range: KeyRange<'_>, visit: Visit<'_>) -> Result<(), StoreError>;

    /// The same of what is in memory and not yet in the tree alone: it is well where the tree is damaged.
    fn scan_above(&self, _: Space, _: KeyRange<'_>, _: Visit<'_>) -> Result<(), StoreError> {
        Ok(())
    }
}

/// What `Store::report` found by walking the file. Bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the unit is in the name")]
pub(crate) struct FileReport {
    /// Length of the file (of the image, in memory).
    pub(crate) file_bytes: u64,
    /// Keys and values.
    pub(crate) stored_bytes: u64,
    /// Tree pages' own overhead and slack.
    pub(crate) overhead_bytes: u64,
    /// Free pages, which later commits use again and `compact` gives back.
    pub(crate) free_bytes: u64,
    /// Pages that are neither free nor reachable: what the next commits free, and what a panic left behind.
    pub(crate) leaked_bytes: u64,
}

/// The right to commit, given back when it is dropped.
#[must_use = "it is given back when it is dropped"]
pub(crate) struct Turn(Option<Box<dyn FnOnce() + Send>>);

impl Turn {
    /// Nobody else could commit anyway.
    pub(crate) fn free() -> Turn {
        Turn(None)
    }

    /// `give_back` is called at its end.
    pub(crate) fn of(give_back: impl FnOnce() + Send + 'static) -> Turn {
        Turn(Some(Box::new(give_back)))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(give_back) = self.0.take() {
            give_back();
        }
    }
}

/// A storage engine. Calls may come from any thread; commits come one at a time.
pub(crate) trait Store: Send + Sync {
    /// Waits until no other process commits, and none will until the turn is dropped. The view is what the next commit changes;
    /// nobody may be told what follows from it before that commit has ended, even if it changes nothing.
    fn take_turn(&self) -> Result<(Turn, Arc<dyn Snapshot>), StoreError> {
        Ok((Turn::free(), self.snapshot()?))
    }

    /// A view of what is committed now.
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, StoreError>;

    /// Applies all of `writes` and syncs. On `Ok` they survive a kill and a loss of power.
    fn commit(&self, writes: Writes) -> Result<(), CommitError>;

    /// Length of the file in bytes, without walking it.
    fn file_bytes(&self) -> Result<u64, StoreError>;

    /// Walks the whole file.
    fn report(&self) -> Result<FileReport, StoreError>;

    /// Walks the whole file and compares every checksum: whether they all match. Fails with `Busy` while a snapshot is alive.
    fn check(&self) -> Result<bool, StoreError>;

    /// Gives free pages back to the file system. Fails with `Busy` while a snapshot is alive.
    fn compact(&self) -> Result<(), StoreError>;

    /// Lets go of file and lock; every other call then answers `Closed`, until `reopen`. Closing twice is no error.
    fn close(&self) -> Result<(), StoreError>;

    /// Opens the same file again after `close`, or after an error that poisoned the engine.
    fn reopen(&self) -> Result<(), OpenError>;

    /// Whether every commit is refused, since the file shall stay as it is.
    fn is_only_looked_at(&self) -> bool {
        false
    }

    /// Whether this thread is inside of a call of a disk that the host has brought.
    fn is_calling_its_host(&self) -> bool {
        false
    }

    /// Writes everything `snapshot` shows into a new file at `path`, put in place whole (contract P5). The file is another
    /// ledger (contract I5) and is named by a creation id of its own. A path that exists is left alone: `AlreadyExists`.
    fn copy_to(&self, snapshot: &dyn Snapshot, path: &Path, creation_id: CreationId) -> Result<(), OpenError>;
}

/// Why a store could not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("the operating system refused: {0}")]
    Io(#[source] io::Error),
    #[error("the file is damaged: {0}")]
    Corrupt(String),
    /// A row does not match its seal. Key and bytes are as they were found: either may be what is damaged.
    #[error("the file is damaged: {ROW_DAMAGED}")]
    Row { key: Vec<u8>, bytes: Vec<u8> },
    #[error("an earlier commit failed; reopen the ledger")]
    Poisoned,
    #[error("the store is closed")]
    Closed,
    #[error("a snapshot is in use")]
    Busy,
    #[error("other processes may have the file open")]
    Shared,
    #[error("the file was opened to be looked at")]
    LookedAt,
}

/// What is said of a row that does not match its seal.
pub(crate) const ROW_DAMAGED: &str = "a row does not match its checksum";

impl StoreError {
    /// What is damaged; `None` where nothing is.
    pub(crate) fn damage(&self) -> Option<&str> {
        match self {
            StoreError::Corrupt(why) => Some(why),
            StoreError::Row { .. } => Some(ROW_DAMAGED),
            StoreError::Io(_)
            | StoreError::Poisoned
            | StoreError::Closed
            | StoreError::Busy
            | StoreError::Shared
            | StoreError::LookedAt => None,
        }
    }
}

/// Why a commit did not end well.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommitError {
    /// Nothing was stored, for certain. The store goes on working; after a failed read or write, or a panic, it answers
    /// `Poisoned` until `reopen`.
    #[error("nothing was stored: {0}")]
    NotStored(#[source] StoreError),
    /// It may or may not have been stored. The store answers `Poisoned` until `reopen`.
    #[error("it is open whether this was stored: {0}")]
    Open(#[source] StoreError),
    /// Nothing was stored: this is a forked child, and the commit is its parent's (P3).
    #[error("nothing was stored: this is a forked child")]
    Forked,
}

impl CommitError {
    /// What went wrong, for whom it makes no difference whether anything was stored.
    pub(crate) fn into_cause(self) -> StoreError {
        match self {
            CommitError::NotStored(error) | CommitError::Open(error) => error,
            CommitError::Forked => StoreError::Closed,
        }
    }
}

/// Why a file could not be opened or created.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("another process or handle has this ledger open")]
    AlreadyOpen,
    #[error("the file cannot be read right now: {0}")]
    Unavailable(#[source] io::Error),
    #[error("{0}")]
    WrongFormat(String),
    #[error("the file is damaged: {0}")]
    Corrupt(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}
