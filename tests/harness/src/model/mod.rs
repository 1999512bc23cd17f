//! A reference model of the ledger, written from `docs/contract.md` alone.
//!
//! It is meant to be obviously right, not fast: one map of records on disk, one of records in memory, and each rule where
//! the contract has it. It shares no type and no code with the core, so that an error has to be made twice to go unseen.
//!
//! The model numbers its fences 1, 2, 3 as they are granted; the real ledger may skip numbers, so whoever compares the two
//! keeps a list of the real ones.

mod begin;
mod deadlines;
mod forget;
mod life;
mod record;
mod recover;
mod rows;
mod settle;
mod sweep;
#[cfg(test)]
mod tests;
mod time;
mod values;
mod view;
mod world;

pub use begin::{Begin, Decision, Granted};
pub use forget::Forgotten;
pub use record::{Ended, Lease, Reason, Record, State};
pub use recover::Resolution;
pub use rows::{RowCall, Table};
pub use settle::Settlement;
pub use sweep::{Counts, Swept};
pub use time::Stamp;
pub use values::{Bytes, Code, Effect, Fence, Fingerprint, Id, Millis, Operation, Response};
pub use view::View;
pub use world::Model;
