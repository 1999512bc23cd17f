//! The first page of a ledger file: what it is, which format, which ledger.
//!
//! | bytes | |
//! |---|---|
//! | 0..16 | [`MAGIC`] |
//! | 16..20 | format version, big-endian |
//! | 20..24 | stage: 1 while the file is being created, 2 from then on |
//! | 24..40 | creation id |
//! | 40..72 | SHA-256 of bytes 0..40 |
//! | 72..4096 | zeros |
//!
//! The first 72 bytes mean the same in every format version, so that damage can be told from a later version. They lie in
//! one sector: a torn write leaves the old header or the new one.

use std::fmt::Display;
use std::io;

use sha2::{Digest, Sha256};

use crate::store::disk::Disk;
use crate::store::log::LOG_BYTES;
use crate::store::{CreationId, OpenError};

/// The length of the first page. The log follows it.
pub(super) const PAGE: u64 = PAGE_LEN as u64;
/// Where redb's storage begins: after the log.
pub(super) const STORAGE: u64 = PAGE + LOG_BYTES;
const PAGE_LEN: usize = 4096;

/// The version that this code writes, and the only one that it reads.
const FORMAT_VERSION: u32 = 1;

const MAGIC: [u8; 16] = *b"keyledger\0\0\0\0\0\0\0";
const VERSION_AT: usize = 16;
const STAGE_AT: usize = 20;
const ID_AT: usize = 24;
const CHECKSUM_AT: usize = 40;
const END: usize = 72;

// What redb writes at the start of its own storage, and the least that it makes: its header and one page.
const REDB_MAGIC: &[u8] = b"redb\x1A\x0A\xA9\x0D\x0A";
const REDB_LEN_MIN: u64 = 2 * 4096;
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

/// How far the creation of a file has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Creating,
    Ready,
}

/// What stands in a header that is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) stage: Stage,
    pub(super) creation_id: CreationId,
}

impl Header {
    /// The whole first page.
    pub(super) fn page(self) -> Vec<u8> {
        let mut page = vec![0; PAGE_LEN];
        page[..VERSION_AT].copy_from_slice(&MAGIC);
        page[VERSION_AT..STAGE_AT].copy_from_slice(&FORMAT_VERSION.to_be_bytes());
        page[STAGE_AT..ID_AT].copy_from_slice(&(self.stage as u32 + 1).to_be_bytes());
        page[ID_AT..CHECKSUM_AT].copy_from_slice(&self.creation_id);
        let checksum = Sha256::digest(&page[..CHECKSUM_AT]);
        page[CHECKSUM_AT..END].copy_from_slice(&checksum);
        page
    }

    fn of_page(page: &[u8]) -> Result<Header, OpenError> {
        if page[..VERSION_AT] != MAGIC {
            return Err(another_kind(page));
        }
        if page[CHECKSUM_AT..END] != *Sha256::digest(&page[..CHECKSUM_AT]) {
            return Err(damaged("the checksum of its header does not match"));
        }
        let version = number_at(page, VERSION_AT);
        if version != FORMAT_VERSION {
            return Err(wrong(format_args!(
                "the file has format version {version} and this program reads version {FORMAT_VERSION}"
            )));
        }
        if page[END..].iter().any(|&byte| byte != 0) {
            return Err(damaged("its header is followed by bytes that no version 1 writes"));
        }
        let stage = match number_at(page, STAGE_AT) {
            1 => Stage::Creating,
            2 => Stage::Ready,
            stage => return Err(damaged(format_args!("its header tells the unknown stage {stage}"))),
        };
        let mut creation_id = CreationId::default();
        creation_id.copy_from_slice(&page[ID_AT..CHECKSUM_AT]);
        Ok(Header { stage, creation_id })
    }
}

/// Reads the header of a file that is ready, and looks at where redb's storage begins. Writes nothing.
pub(super) fn inspect(disk: &dyn Disk) -> Result<Header, OpenError> {
    let header = read(disk)?;
    if header.stage == Stage::Creating {
        return Err(damaged("its creation was cut short"));
    }
    let len = disk.len().map_err(OpenError::Unavailable)?;
    if len < STORAGE + REDB_LEN_MIN {
        return Err(damaged(format_args!("it is cut off after {len} bytes")));
    }
    if read_start(disk, STORAGE, REDB_MAGIC.len())? != REDB_MAGIC {
        return Err(damaged("there is no storage after its log"));
    }
    Ok(header)
}

/// Reads the header, whatever its stage. Writes nothing.
pub(super) fn read(disk: &dyn Disk) -> Result<Header, OpenError> {
    let len = disk.len().map_err(OpenError::Unavailable)?;
    let start = read_start(disk, 0, usize::try_from(len).map_or(PAGE_LEN, |len| len.min(PAGE_LEN)))?;
    if start.is_empty() {
        return Err(wrong("the file is empty"));
    }
    if start.len() == PAGE_LEN {
        return Header::of_page(&start);
    }
    let known = start.len().min(MAGIC.len());
    if start[..known] == MAGIC[..known] {
        Err(damaged(format_args!("it is cut off after {len} bytes")))
    } else {
        Err(another_kind(&start))
    }
}

/// Whether nothing but an unfinished creation can be on a disk: no byte, no more than a page of zeros, or a header that says
/// so, with or without all of the zeros after it. That is what a loss of power leaves of it.
pub(super) fn is_unfinished(disk: &dyn Disk) -> Result<bool, OpenError> {
    let len = disk.len().map_err(OpenError::Unavailable)?;
    let mut page = read_start(disk, 0, usize::try_from(len).map_or(PAGE_LEN, |len| len.min(PAGE_LEN)))?;
    page.resize(PAGE_LEN, 0);
    let is_blank = len <= PAGE && page.iter().all(|&byte| byte == 0);
    Ok(is_blank || Header::of_page(&page).is_ok_and(|header| header.stage == Stage::Creating))
}

/// The answer to `reopen` when the file at the path was exchanged meanwhile.
pub(super) fn another_ledger() -> OpenError {
    wrong("the file is another ledger than the one that was open here")
}

/// The answer for a folder, a pipe or a device at the path.
pub(super) fn not_a_file() -> OpenError {
    wrong("what is there is not a file")
}

fn read_start(disk: &dyn Disk, offset: u64, len: usize) -> Result<Vec<u8>, OpenError> {
    let mut start = vec![0; len];
    match disk.read(offset, &mut start) {
        Ok(()) => Ok(start),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err(damaged("it became shorter while being read"))
        }
        Err(error) => Err(OpenError::Unavailable(error)),
    }
}

fn number_at(page: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([page[at], page[at + 1], page[at + 2], page[at + 3]])
}

fn another_kind(start: &[u8]) -> OpenError {
    if start.starts_with(SQLITE_MAGIC) {
        wrong("the file is an SQLite database, not a ledger")
    } else if start.starts_with(REDB_MAGIC) {
        wrong("the file is a redb database, not a ledger")
    } else {
        wrong("the file is not a ledger")
    }
}

fn wrong(what: impl Display) -> OpenError {
    OpenError::WrongFormat(format!("{what}; nothing was changed, choose another path"))
}

/// The answer for a file that is a ledger and cannot be used.
pub(super) fn damaged(what: impl Display) -> OpenError {
    OpenError::Corrupt(format!("{what}; nothing was changed, restore it from a snapshot"))
}
