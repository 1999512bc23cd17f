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
    use crate::store::lock::{self, FileLock};

    /// A file of the operating system, locked for as long as this lives or until it is closed.
    #[derive(Debug)]
    pub(in crate::store) struct FileDisk {
        // The order matters: the file closes, and with it the lock of the system, before this process may try again.
        file: File,
        _lock: FileLock,
    }

    impl FileDisk {
        pub(in crate::store) fn new(file: File, lock: FileLock) -> Self {
            Self { file, _lock: lock }
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

        #[cfg(unix)]
        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            std::os::unix::fs::FileExt::write_all_at(&self.file, data, offset)
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

        #[cfg(windows)]
        fn write(&self, mut offset: u64, mut data: &[u8]) -> io::Result<()> {
            while !data.is_empty() {
                let count = std::os::windows::fs::FileExt::seek_write(&self.file, data, offset)?;
                data = &data[count..];
                offset += count as u64;
            }
            Ok(())
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.file.set_len(len)
        }

        fn sync(&self) -> io::Result<()> {
            self.file.sync_data()
        }

        fn close(&self) -> io::Result<()> {
            lock::unlock(&self.file)
        }
    }
}
