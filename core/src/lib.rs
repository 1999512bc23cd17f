//! keyledger: an operation asked for twice happens once.
//!
//! A key ledger in one file. `begin` a key under a scope and an operation: exactly one caller gets the claim, the others get the
//! stored answer, "in progress", or "that key was for something else". The rules that this library keeps are numbered in
//! `docs/contract.md`; the documentation here cites them.

#![forbid(unsafe_code)]
// A host without files, threads and other processes has no use for some of this.
#![cfg_attr(target_arch = "wasm32", allow(dead_code, unused_imports))]

pub mod admin;
mod begin;
mod claim;
mod clock;
mod codec;
mod commit;
mod decision;
mod delivery;
#[cfg(unix)]
mod door;
mod driver;
mod engine;
mod entropy;
mod entry;
mod error;
mod fences;
mod fingerprint;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod home;
mod inside;
mod janitor;
mod key;
mod ledger;
mod limits;
mod machine;
mod operation;
pub mod options;
mod outbox;
mod outbox_memory;
mod process;
mod queued;
mod response;
mod stats;
mod store;
mod sweep;
#[doc(hidden)]
pub mod test_support;
// The fake disk of the suites is built into the unit tests too, where it has to find this crate by its name.
#[cfg(test)]
extern crate self as keyledger;
mod transaction;
mod transport;
mod unreadable;
mod unwinding;
mod volatile;
mod wake;

pub use begin::Begin;
pub use claim::{Claim, LostSignal, Pulse, SettleError};
pub use decision::{Decision, InProgress, Outcome, Parked, Replay};
pub use delivery::{Delivery, DeliveryError, DeliveryLease, Report};
pub use driver::{AsyncDriver, DrainProgress, Drained, DriverError, Stop};
#[cfg(not(target_arch = "wasm32"))]
pub use driver::{Driver, DriverHandle};
pub use entry::{Enqueued, EntryId, EntryView};
pub use error::{Error, ErrorCode, Result};
#[cfg(all(target_arch = "wasm32", feature = "host-numbers"))]
pub use fingerprint::{HostNumbers, numbers_by_host};
pub use janitor::{Growth, Janitor, JanitorBuilder, Recovered, Tick};
pub use ledger::{
    Builder, Cursor, ErrorMeans, Filter, Forgotten, KeyAdvice, Ledger, Page, RecordView, Refused, RunError, StateName,
};
pub use outbox::{
    Cancel, Changes, Enqueue, EntryFilter, EntryPage, Lane, LaneState, OnStuckHead, Outbox, OutboxBuilder, OutboxStats,
    Resumed, Turn,
};
pub use stats::{AtLeast, Compacted, FileCheck, FileSizes, Stats};
pub use store::disk::Disk;
pub use sweep::Swept;
pub use transaction::{Batch, Row, Transaction};
pub use transport::{AsyncTransport, Sending, Transport};
pub use unreadable::Unreadable;

#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
pub use clock::SystemClock;
pub use clock::{Clock, ManualClock};
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
pub use entropy::OsEntropy;
pub use entropy::{Entropy, SeededEntropy};
pub use fingerprint::{
    Comparison, FINGERPRINT_VERSION, Fingerprint, FingerprintError, FingerprintErrorReason, HttpRequest,
    JSON_DEPTH_MAX, Members, Place, Pointer, PointerError,
};
pub use key::{Key, KeyError, KeyErrorReason, KeyId, KeyIdBytesError, OperationName, PART_BYTES_MAX, Part, Scope};
pub use machine::classify::DeliveryOutcome;
pub use machine::entry::TryError;
pub use machine::person::EntryResolution;
pub use machine::record::{AuditEntry, ParkReason, Step};
pub use machine::settle::{Resolution, Settlement};
pub use machine::standing::{DeadReason, EntryStateName, UnknownReason};
pub use operation::{Effect, Operation};
pub use response::{Body, Response};
