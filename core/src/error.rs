//! Why a call could not be answered: one kind per cause, each with a code that is the same in every language (section 11).

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::codec::DecodeError;
use crate::engine::EngineError;
use crate::entry::EntryView;
use crate::key::KeyError;
use crate::store::{CommitError, OpenError, ROW_DAMAGED, StoreError};

/// A call that could not be answered. Decisions of `begin` are answers, not errors.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A scope, operation name or key that L1 refuses.
    #[error(transparent)]
    InvalidKey(#[from] KeyError),
    /// An argument outside its range; the message names it.
    #[error("{0}")]
    InvalidArgument(String),
    /// The claim is no longer this owner's: taken over, settled otherwise, resolved or forgotten.
    #[error("the claim is lost: somebody else owns or has settled it; throw the result away and ask begin")]
    ClaimLost,
    /// This very object was settled before.
    #[error("this claim was settled before; begin the key again to learn its outcome")]
    ClaimSettled,
    /// There is no such record, or entry; the message says what to check.
    #[error("there is no {0}")]
    NotFound(String),
    /// The record is not parked under that fence.
    #[error("the record is not parked under that fence; inspect it again before deciding")]
    NotParked,
    /// The purpose has an entry with another request.
    #[error("the purpose has another request: entry {}; settle it first, or name another purpose", .0.id())]
    PurposeConflict(Box<EntryView>),
    /// The key has an entry with another request.
    #[error("the key was used for another request: entry {}; take another key", .0.id())]
    KeyConflict(Box<EntryView>),
    /// The outbox has no room for another unsettled entry. Nothing was stored.
    #[error("the outbox is full: {entries} unsettled entries with {bytes} bytes; drain it, or raise its bounds")]
    OutboxFull {
        /// How many there are.
        entries: u64,
        /// How many bytes their requests have together.
        bytes: u64,
    },
    /// The entry is in a state in which this cannot be done.
    #[error("the entry is {is}; this can be done to one that is {allowed}")]
    WrongState {
        /// The state that it is in.
        is: &'static str,
        /// The states that it could be done in.
        allowed: &'static str,
    },
    /// `insert_unique` met a row.
    #[error("table {table} has a row under that key already; read it to see what won")]
    UniqueViolation {
        /// The table's name.
        table: String,
    },
    /// `compare_and_set` met another value.
    #[error("the row in table {table} is not what was expected; read it again and decide anew")]
    CompareFailed {
        /// The table's name.
        table: String,
    },
    /// Something is longer than its limit.
    #[error("{what}: {bytes} bytes, more than {max}; make it shorter or raise the limit")]
    TooLarge {
        /// What is too long.
        what: &'static str,
        /// Its length in bytes.
        bytes: u64,
        /// The limit in bytes.
        max: u64,
    },
    /// A call to the ledger from inside a closure that it runs.
    #[error(
        "a call to the ledger from inside its own transaction, or its own disk; use the transaction that the closure was given"
    )]
    Reentrant,
    /// Another process or handle holds the file.
    #[error(
        "another process or handle has this ledger open; close it there, or open it shared in every process (in this process: go on with the handle that has it)"
    )]
    AlreadyOpen,
    /// The handle was opened before a fork, and this is the child.
    #[error("this process is a forked child, and the ledger belongs to its parent; open the ledger after forking")]
    Forked,
    /// The handle is suspended.
    #[error("the ledger is suspended; call resume first")]
    Suspended,
    /// The handle is closed.
    #[error("the ledger is closed; open it again")]
    Closed,
    /// The file cannot be read or made right now, or what was asked cannot be done right now.
    #[error("not available right now: {0}")]
    Unavailable(String),
    /// The file is of another kind or format version. It was not changed.
    #[error("{0}")]
    WrongFormat(String),
    /// The file is damaged.
    #[error("the ledger file is damaged: {0}; restore a snapshot, or look into it with the command line")]
    Corrupt(String),
    /// An earlier commit failed, so nobody knows what the file holds until it is opened again.
    #[error("an earlier commit failed; call reopen on this handle, then repeat the call")]
    Poisoned,
    /// A commit failed in such a way that it is open whether it was stored.
    #[error("it is open whether this was stored ({0}); call reopen on this handle, then repeat the call")]
    Ambiguous(String),
    /// The operating system refused. Nothing was stored.
    #[error("the operating system refused: {0}; nothing was stored{advice}", advice = advice_on(.0))]
    Storage(Arc<io::Error>),
}

/// The stable code of an [`Error`]: `as_str` is the same in every language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// `invalid_key`
    InvalidKey,
    /// `invalid_argument`
    InvalidArgument,
    /// `claim_lost`
    ClaimLost,
    /// `claim_settled`
    ClaimSettled,
    /// `not_found`
    NotFound,
    /// `not_parked`
    NotParked,
    /// `purpose_conflict`
    PurposeConflict,
    /// `key_conflict`
    KeyConflict,
    /// `outbox_full`
    OutboxFull,
    /// `wrong_state`
    WrongState,
    /// `unique_violation`
    UniqueViolation,
    /// `compare_failed`
    CompareFailed,
    /// `too_large`
    TooLarge,
    /// `reentrant`
    Reentrant,
    /// `already_open`
    AlreadyOpen,
    /// `forked`
    Forked,
    /// `suspended`
    Suspended,
    /// `closed`
    Closed,
    /// `unavailable`
    Unavailable,
    /// `wrong_format`
    WrongFormat,
    /// `corrupt`
    Corrupt,
    /// `poisoned`
    Poisoned,
    /// `ambiguous`
    Ambiguous,
    /// `storage`
    Storage,
}

impl ErrorCode {
    /// Every code, for a binding that holds its own list against this one.
    pub const ALL: &[ErrorCode] = &[
        ErrorCode::InvalidKey,
        ErrorCode::InvalidArgument,
        ErrorCode::ClaimLost,
        ErrorCode::ClaimSettled,
        ErrorCode::NotFound,
        ErrorCode::NotParked,
        ErrorCode::PurposeConflict,
        ErrorCode::KeyConflict,
        ErrorCode::OutboxFull,
        ErrorCode::WrongState,
        ErrorCode::UniqueViolation,
        ErrorCode::CompareFailed,
        ErrorCode::TooLarge,
        ErrorCode::Reentrant,
        ErrorCode::AlreadyOpen,
        ErrorCode::Forked,
        ErrorCode::Suspended,
        ErrorCode::Closed,
        ErrorCode::Unavailable,
        ErrorCode::WrongFormat,
        ErrorCode::Corrupt,
        ErrorCode::Poisoned,
        ErrorCode::Ambiguous,
        ErrorCode::Storage,
    ];

    /// The code as every language shows it.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorCode::InvalidKey => "invalid_key",
            ErrorCode::InvalidArgument => "invalid_argument",
            ErrorCode::ClaimLost => "claim_lost",
            ErrorCode::ClaimSettled => "claim_settled",
            ErrorCode::NotFound => "not_found",
            ErrorCode::NotParked => "not_parked",
            ErrorCode::PurposeConflict => "purpose_conflict",
            ErrorCode::KeyConflict => "key_conflict",
            ErrorCode::OutboxFull => "outbox_full",
            ErrorCode::WrongState => "wrong_state",
            ErrorCode::UniqueViolation => "unique_violation",
            ErrorCode::CompareFailed => "compare_failed",
            ErrorCode::TooLarge => "too_large",
            ErrorCode::Reentrant => "reentrant",
            ErrorCode::AlreadyOpen => "already_open",
            ErrorCode::Forked => "forked",
            ErrorCode::Suspended => "suspended",
            ErrorCode::Closed => "closed",
            ErrorCode::Unavailable => "unavailable",
            ErrorCode::WrongFormat => "wrong_format",
            ErrorCode::Corrupt => "corrupt",
            ErrorCode::Poisoned => "poisoned",
            ErrorCode::Ambiguous => "ambiguous",
            ErrorCode::Storage => "storage",
        }
    }
}

impl Error {
    /// The kind of this error, the same in every language.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Error::InvalidKey(_) => ErrorCode::InvalidKey,
            Error::InvalidArgument(_) => ErrorCode::InvalidArgument,
            Error::ClaimLost => ErrorCode::ClaimLost,
            Error::ClaimSettled => ErrorCode::ClaimSettled,
            Error::NotFound(_) => ErrorCode::NotFound,
            Error::NotParked => ErrorCode::NotParked,
            Error::PurposeConflict(_) => ErrorCode::PurposeConflict,
            Error::KeyConflict(_) => ErrorCode::KeyConflict,
            Error::OutboxFull { .. } => ErrorCode::OutboxFull,
            Error::WrongState { .. } => ErrorCode::WrongState,
            Error::UniqueViolation { .. } => ErrorCode::UniqueViolation,
            Error::CompareFailed { .. } => ErrorCode::CompareFailed,
            Error::TooLarge { .. } => ErrorCode::TooLarge,
            Error::Reentrant => ErrorCode::Reentrant,
            Error::AlreadyOpen => ErrorCode::AlreadyOpen,
            Error::Forked => ErrorCode::Forked,
            Error::Suspended => ErrorCode::Suspended,
            Error::Closed => ErrorCode::Closed,
            Error::Unavailable(_) => ErrorCode::Unavailable,
            Error::WrongFormat(_) => ErrorCode::WrongFormat,
            Error::Corrupt(_) => ErrorCode::Corrupt,
            Error::Poisoned => ErrorCode::Poisoned,
            Error::Ambiguous(_) => ErrorCode::Ambiguous,
            Error::Storage(_) => ErrorCode::Storage,
        }
    }

    pub(crate) fn no_entry(id: u64) -> Self {
        Error::NotFound(format!("entry {id}: it was swept or forgotten, or is another file's"))
    }

    /// An error of opening, with the path in its message.
    pub(crate) fn at(self, path: &Path) -> Self {
        let path = path.display();
        match self {
            Error::Unavailable(why) => Error::Unavailable(format!("{path}: {why}")),
            Error::WrongFormat(why) => Error::WrongFormat(format!("{path}: {why}")),
            Error::Corrupt(why) => Error::Corrupt(format!("{path}: {why}")),
            other => other,
        }
    }
}

/// The library's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(error) => of_store(&error),
            EngineError::Open(error) => of_open(&error),
            EngineError::Decode(error) => error.into(),
            EngineError::Commit(error) => of_commit(&error),
            EngineError::Forked => Error::Forked,
            EngineError::Closed => Error::Closed,
            EngineError::Suspended => Error::Suspended,
            EngineError::Poisoned => Error::Poisoned,
            EngineError::Reentrant => Error::Reentrant,
            EngineError::FencesSpent => Error::Unavailable("every fence below 2^53 has been given out".into()),
            EngineError::ClaimLost => Error::ClaimLost,
            EngineError::NotParked => Error::NotParked,
            EngineError::StepDiffers => {
                Error::InvalidArgument("a step of this name has another value; names are unique within a record".into())
            }
            EngineError::StepRefused => {
                Error::InvalidArgument("steps are refused for InLedger operations; use complete_with".into())
            }
            EngineError::StepsTooLarge { bytes, bytes_max } => {
                Error::TooLarge { what: "the steps of the record together", bytes: bytes as u64, max: bytes_max as u64 }
            }
            EngineError::PurposeConflict(peeked) => Error::PurposeConflict(Box::new(EntryView::of(*peeked))),
            EngineError::KeyConflict(peeked) => Error::KeyConflict(Box::new(EntryView::of(*peeked))),
            EngineError::OutboxFull { entries, bytes } => Error::OutboxFull { entries, bytes },
            EngineError::NoEntry(id) => Error::no_entry(id),
            EngineError::WrongState { is, allowed } => Error::WrongState { is, allowed },
            EngineError::HasClaims => {
                Error::Unavailable("there are claims in progress; settle them first, or say even_with_claims".into())
            }
        }
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        Error::Corrupt(error.to_string())
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        of_open(&error)
    }
}

fn of_store(error: &StoreError) -> Error {
    match error {
        StoreError::Io(error) => Error::Storage(Arc::new(same_again(error))),
        StoreError::Corrupt(why) => Error::Corrupt(why.clone()),
        StoreError::Row { .. } => Error::Corrupt(ROW_DAMAGED.into()),
        StoreError::Poisoned => Error::Poisoned,
        StoreError::Closed => Error::Closed,
        StoreError::Busy => Error::Unavailable("the ledger is being read; try again".into()),
        StoreError::Shared => {
            Error::Unavailable("a shared ledger cannot be compacted; open it exclusively for that".into())
        }
        StoreError::LookedAt => {
            Error::Unavailable("the ledger was opened read-only; open it without read_only() to change it".into())
        }
    }
}

fn of_open(error: &OpenError) -> Error {
    match error {
        OpenError::AlreadyOpen => Error::AlreadyOpen,
        OpenError::Unavailable(error) if is_full(error) => Error::Storage(Arc::new(same_again(error))),
        OpenError::Unavailable(error) => Error::Unavailable(error.to_string()),
        OpenError::WrongFormat(why) => Error::WrongFormat(why.clone()),
        OpenError::Corrupt(why) => Error::Corrupt(why.clone()),
        OpenError::Store(error) => of_store(error),
    }
}

fn of_commit(error: &CommitError) -> Error {
    match error {
        CommitError::NotStored(error) => of_store(error),
        CommitError::Open(error) => Error::Ambiguous(error.to_string()),
        CommitError::Forked => Error::Forked,
    }
}

/// Whether there is no room on the disk, or no more is allowed.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

fn advice_on(error: &io::Error) -> &'static str {
    if is_full(error) { ". Make room on the disk, then try again" } else { "" }
}

/// The operating system's error once more: it is told to everyone who shared the commit.
fn same_again(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
