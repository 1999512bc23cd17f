//! What tests of this crate and of its hosts need and nobody else: a ledger on a disk that the test controls.

pub use crate::store::disk::Disk;
