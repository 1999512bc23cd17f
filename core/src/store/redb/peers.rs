//! Other processes that have the same file open, and whose turn it is to write.

use std::fs::File;
use std::io;
use std::ops::Bound;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use ::redb::backends::FileBackend;
use ::redb::{BackendError, StorageBackend};

use crate::store::{OpenError, StoreError, Turn};

// Far above any byte of a file, far below those that redb locks.
const TURN: u64 = 1 << 61;
const PRESENT: u64 = TURN + 1;

/// Locks on bytes of one opening of the file. The system frees them when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct Peers {
    locks: Arc<dyn StorageBackend>,
    /// The system's lock belongs to the process: this one keeps its threads apart.
    taken: Mutex<bool>,
    given_back: Condvar,
}

impl Peers {
    /// `file` is an opening for locks alone.
    pub(super) fn over(file: File) -> Result<Arc<Peers>, OpenError> {
        let locks = FileBackend::new(file).map_err(|error| OpenError::Unavailable(io::Error::other(error)))?;
        Ok(Peers::by(Arc::new(locks)))
    }

    /// By locks of another kind.
    pub(super) fn by(locks: Arc<dyn StorageBackend>) -> Arc<Peers> {
        Arc::new(Peers { locks, taken: Mutex::default(), given_back: Condvar::new() })
    }

    /// The locks that redb takes between processes.
    pub(super) fn locks(&self) -> Arc<dyn StorageBackend> {
        Arc::clone(&self.locks)
    }

    /// Says that this process has the file open, and tells whether another one has.
    pub(super) fn join(&self) -> Result<bool, StoreError> {
        let (from, to) = byte(PRESENT);
        let others = self.locks.query_lock_range(from, to).map_err(refused)?;
        let joined = self.locks.try_lock_shared_range(from, to).map_err(refused)?;
        if joined { Ok(others) } else { Err(StoreError::Io(io::ErrorKind::WouldBlock.into())) }
    }

    /// Takes that back, and tells whether nobody else has it open.
    pub(super) fn leave(&self) -> Result<bool, StoreError> {
        let (from, to) = byte(PRESENT);
        self.locks.unlock_range(from, to).map_err(refused)?;
        Ok(!self.locks.query_lock_range(from, to).map_err(refused)?)
    }

    /// Gives back every lock, also where a forked child still has the same opening of the file.
    pub(super) fn let_go(&self) {
        // It fails only where the file is closed, and the locks are gone with it.
        let _ = self.locks.close();
    }

    /// Waits until no other thread or process has the turn.
    pub(super) fn take_turn(self: &Arc<Self>) -> Result<Turn, StoreError> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        *self.given_back.wait_while(taken, |taken| *taken).unwrap_or_else(PoisonError::into_inner) = true;
        let (from, to) = byte(TURN);
        if let Err(error) = self.locks.lock_range(from, to) {
            self.free();
            return Err(refused(error));
        }
        let peers = Arc::clone(self);
        Ok(Turn::of(move || {
            // It fails only where the file is closed, and the lock is gone with it.
            let _ = peers.locks.unlock_range(from, to);
            peers.free();
        }))
    }

    fn free(&self) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.given_back.notify_one();
    }
}

fn byte(at: u64) -> (Bound<u64>, Bound<u64>) {
    (Bound::Included(at), Bound::Included(at))
}

fn refused(error: BackendError) -> StoreError {
    StoreError::Io(match error {
        BackendError::Io(error) => error,
        BackendError::Unsupported => io::Error::new(
            io::ErrorKind::Unsupported,
            "this system has no locks that let several processes share a file; open the ledger exclusively",
        ),
        other => io::Error::other(format!("{other:?}")),
    })
}
