//! From a disk to an open engine with its log.

use std::sync::Arc;

use super::engine::StoreOptions;
use super::fresh::{create_on, keep_header};
use super::header;
use super::logged::Logged;
use super::witness::{Doubts, Witness};
use crate::store::disk::Disk;
use crate::store::{CreationId, OpenError};

/// What a store knows of its file when it opens it again.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) creation_id: CreationId,
    pub(super) doubts: &'a Arc<Doubts>,
}

impl Known<'_> {
    /// Refuses another file, and makes sure that what reads of this one show is on the disk.
    pub(super) fn settle(&self, disk: &dyn Disk) -> Result<(), OpenError> {
        if header::read(disk)?.creation_id != self.creation_id {
            return Err(header::another_ledger());
        }
        self.doubts.settle(disk).map_err(OpenError::Unavailable)
    }
}

/// Opens the ledger on a disk without a name. One on which creation was cut short has never been told to anybody: creation
/// starts over.
pub(super) fn open_or_create_on(
    disk: &Arc<dyn Disk>,
    options: StoreOptions,
    doubts: &Arc<Doubts>,
) -> Result<Logged, OpenError> {
    let disk = Witness::of(Arc::clone(disk), doubts);
    if header::is_unfinished(&*disk)? {
        create_on(&disk, options, &mut |_| Ok(()))?;
    } else {
        keep_header(&*disk)?;
    }
    Logged::start(disk, options.cache_bytes)
}

/// Opens the same ledger again.
pub(super) fn open_again_on(disk: &Arc<dyn Disk>, cache_bytes: usize, known: Known<'_>) -> Result<Logged, OpenError> {
    known.settle(&**disk)?;
    Logged::start(Witness::of(Arc::clone(disk), known.doubts), cache_bytes)
}
