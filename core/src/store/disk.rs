//! What a store needs of the thing its bytes are on.

use std::fmt::Debug;
use std::io;

/// A growing array of bytes that can be synced: a file, or whatever a host has in its place.
///
/// Calls may come from several threads; reads go on while a write of another place is under way.
#[allow(clippy::len_without_is_empty, reason = "nobody asks")]
pub trait Disk: Send + Sync + Debug {
    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Fills `out` from `offset` on. Reading past the end is `UnexpectedEof`.
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;

    /// Writes all of `data` at `offset`, making the disk longer where it reaches past the end.
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()>;

    /// Cuts the disk to `len` bytes, or makes it as long with zeros.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// On `Ok`, everything written before survives a loss of power.
    fn sync(&self) -> io::Result<()>;

    /// Writes `data` at `offset`. On `Ok` it survives a loss of power; of what else was written nothing is said.
    ///
    /// While one thread syncs, another may be in here. Where syncs tell of failures just once, each of the two must be told.
    fn write_synced(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.write(offset, data)?;
        self.sync()
    }

    /// Lets go of whatever is held. A store that is reopened afterwards calls `len` first.
    fn close(&self) -> io::Result<()>;
}

#[cfg(not(target_arch = "wasm32"))]
pub(super) use file::FileDisk;

#[cfg(not(target_arch = "wasm32"))]
mod file {
    use std::fs::File;
    use std::io;

    use super::Disk;
    use crate::process::Owner;
    use crate::store::lock::{self, FileLock};

    /// A file of the operating system, locked for as long as this lives or until it is closed.
    #[derive(Debug)]
    pub(in crate::store) struct FileDisk {
        // The order matters: the file closes, and with it the lock of the system, before this process may try again.
        file: File,
        // Linux tells of a failed write to the disk once through each opening of a file. With one of their own, synced writes
        // and syncs cannot take the bad news from each other.
        synced: Option<File>,
        // Whose file it is. The core asks long before: this is for when it has not, or a closure of the caller's has forked (P3).
        owner: Owner,
        _lock: FileLock,
    }

    impl FileDisk {
        /// `synced` is the same file, opened once more: for whoever does several things at a time.
        pub(in crate::store) fn new(file: File, synced: Option<File>, lock: FileLock) -> Self {
            Self { file, synced, owner: Owner::this(), _lock: lock }
        }

        fn check_here(&self) -> io::Result<()> {
            if self.owner.is_elsewhere() { Err(io::Error::other("a forked child has no file")) } else { Ok(()) }
        }
    }

    impl Disk for FileDisk {
        fn len(&self) -> io::Result<u64> {
            self.file.metadata().map(|metadata| metadata.len())
        }

        #[cfg(unix)]
        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            std::os::unix::fs::FileExt::read_exact_at(&self.file, out, offset)
        }

        #[cfg(windows)]
        fn read(&self, mut offset: u64, mut out: &mut [u8]) -> io::Result<()> {
            while !out.is_empty() {
                let count = std::os::windows::fs::FileExt::seek_read(&self.file, out, offset)?;
                if count == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                out = &mut out[count..];
                offset += count as u64;
            }
            Ok(())
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.check_here()?;
            write_at(&self.file, offset, data)
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.check_here()?;
            self.file.set_len(len)
        }

        fn sync(&self) -> io::Result<()> {
            self.file.sync_data()
        }

        fn write_synced(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.check_here()?;
            write_synced(self.synced.as_ref().unwrap_or(&self.file), offset, data)
        }

        fn close(&self) -> io::Result<()> {
            // The lock is of the open file, which a child has in common with its parent.
            if self.owner.is_elsewhere() { Ok(()) } else { lock::unlock(&self.file) }
        }
    }

    /// Syncs these bytes alone: a sync of the whole file would wait for whatever else is on its way to the disk.
    #[cfg(target_os = "linux")]
    fn write_synced(file: &File, mut offset: u64, mut data: &[u8]) -> io::Result<()> {
        use rustix::io::{Errno, ReadWriteFlags, pwritev2};
        while !data.is_empty() {
            match pwritev2(file, &[io::IoSlice::new(data)], offset, ReadWriteFlags::DSYNC) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    data = &data[count..];
                    offset += count as u64;
                }
                Err(Errno::INTR) => {}
                Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => return write_then_sync(file, offset, data),
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn write_synced(file: &File, offset: u64, data: &[u8]) -> io::Result<()> {
        write_then_sync(file, offset, data)
    }

    fn write_then_sync(file: &File, offset: u64, data: &[u8]) -> io::Result<()> {
        write_at(file, offset, data)?;
        file.sync_data()
    }

    #[cfg(unix)]
    fn write_at(file: &File, offset: u64, data: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(file, data, offset)
    }

    #[cfg(windows)]
    fn write_at(file: &File, mut offset: u64, mut data: &[u8]) -> io::Result<()> {
        while !data.is_empty() {
            let count = std::os::windows::fs::FileExt::seek_write(file, data, offset)?;
            data = &data[count..];
            offset += count as u64;
        }
        Ok(())
    }
}
