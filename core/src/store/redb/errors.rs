//! redb's errors and panics in our words.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::redb::{CommitError, CompactionError, DatabaseError, StorageError, TableError, TransactionError};

use super::header::damaged;
use crate::store::{OpenError, ROW_DAMAGED, StoreError};

/// Runs `call`; a panic in it is an error: redb trusts its file and panics at some kinds of damage.
///
/// Whatever `call` has touched is given up after a panic, so that nobody sees it half done.
pub(super) fn caught<T>(call: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|payload| Err(StoreError::Corrupt(what_it_said(&*payload))))
}

fn what_it_said(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    format!("the storage engine panicked: {}", text.unwrap_or("no message"))
}

pub(super) fn of_storage(error: StorageError) -> StoreError {
    match error {
        StorageError::Corrupted(what) => StoreError::Corrupt(what),
        StorageError::Io(error) => of_io(error),
        StorageError::PreviousIo | StorageError::LockPoisoned(_) => StoreError::Poisoned,
        StorageError::DatabaseClosed => StoreError::Closed,
        other => StoreError::Io(io::Error::other(other)),
    }
}

// redb tells a file without its magic, and we one that ends too early, by an error of the system.
fn of_io(error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => StoreError::Corrupt(error.to_string()),
        _ => StoreError::Io(error),
    }
}

pub(super) fn of_transaction(error: TransactionError) -> StoreError {
    match error {
        TransactionError::Storage(error) => of_storage(error),
        other => StoreError::Io(io::Error::other(other)),
    }
}

pub(super) fn of_table(error: TableError) -> StoreError {
    match error {
        TableError::Storage(error) => of_storage(error),
        other => StoreError::Corrupt(other.to_string()),
    }
}

pub(super) fn of_commit(error: CommitError) -> StoreError {
    match error {
        CommitError::Storage(error) => of_storage(error),
        other => StoreError::Io(io::Error::other(other)),
    }
}

pub(super) fn of_compaction(error: CompactionError) -> StoreError {
    match error {
        CompactionError::Storage(error) => of_storage(error),
        CompactionError::TransactionInProgress => StoreError::Busy,
        other => StoreError::Io(io::Error::other(other)),
    }
}

pub(super) fn of_database(error: DatabaseError) -> StoreError {
    match error {
        DatabaseError::Storage(error) => of_storage(error),
        DatabaseError::TransactionInProgress => StoreError::Busy,
        // The locks of another way of opening it, or of another version of redb.
        error @ (DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch) => {
            StoreError::Io(io::Error::new(io::ErrorKind::WouldBlock, error))
        }
        other => StoreError::Corrupt(other.to_string()),
    }
}

/// What an error means while a file is being opened.
pub(super) fn while_opening(error: StoreError) -> OpenError {
    match error {
        StoreError::Corrupt(what) => damaged(what),
        StoreError::Row { .. } => damaged(ROW_DAMAGED),
        StoreError::Io(error) => OpenError::Unavailable(error),
        error @ (StoreError::Poisoned
        | StoreError::Closed
        | StoreError::Busy
        | StoreError::Shared
        | StoreError::LookedAt) => OpenError::Store(error),
    }
}
