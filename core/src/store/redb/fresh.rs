//! A new ledger on an empty disk.

use std::io;
use std::sync::Arc;

use super::engine::{Engine, StoreOptions};
use super::errors::while_opening;
use super::header::{Header, PAGE, STORAGE, Stage};
use crate::store::OpenError;
use crate::store::disk::Disk;

/// Writes what a new file shall hold.
pub(super) type Content<'a> = &'a mut dyn FnMut(&Engine) -> Result<(), OpenError>;

/// Makes a new ledger on a disk, lets `content` write into it, and closes it. Whatever was on the disk is gone.
pub(super) fn create_on(disk: &Arc<dyn Disk>, options: StoreOptions, content: Content<'_>) -> Result<(), OpenError> {
    let header = |stage| Header { stage, creation_id: options.creation_id };
    put_header(&**disk, header(Stage::Creating)).map_err(OpenError::Unavailable)?;
    disk.set_len(PAGE).map_err(OpenError::Unavailable)?;
    put_log(&**disk).map_err(OpenError::Unavailable)?;
    let engine = Engine::create(Arc::clone(disk), options.cache_bytes, options.creation_id)?;
    content(&engine)?;
    engine.finish().map_err(while_opening)?;
    put_header(&**disk, header(Stage::Ready)).map_err(OpenError::Unavailable)
}

/// Writes an empty log: zeros, not a hole, so that no append has to find room on the disk.
fn put_log(disk: &dyn Disk) -> io::Result<()> {
    let zeros = vec![0; usize::try_from(STORAGE - PAGE).expect("the log is short")];
    disk.write(PAGE, &zeros)
}

/// Writes the header page as it is once more and syncs it: an earlier opening may have failed in the very sync that made the
/// disk a ledger, and a disk without a name shows no difference.
pub(super) fn keep_header(disk: &dyn Disk) -> Result<(), OpenError> {
    let header = super::header::read(disk)?;
    put_header(disk, header).map_err(OpenError::Unavailable)
}

/// Writes and syncs the header page of `disk`.
fn put_header(disk: &dyn Disk, header: Header) -> io::Result<()> {
    disk.write(0, &header.page())?;
    disk.sync()
}
