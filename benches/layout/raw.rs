//! The yardstick: what the disk under the run can do at this moment.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

const PAGE: usize = 4096;
const PAGES: u64 = 64;
const WRITES: u32 = 200;

/// A file that is written a page at a time, each followed by a sync.
#[derive(Debug)]
pub(crate) struct RawDisk {
    file: File,
}

impl RawDisk {
    /// Creates the file and gives it all of its pages.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        for page in 0..PAGES {
            file.write_all_at(&[1; PAGE], page * PAGE as u64)?;
        }
        file.sync_all()?;
        Ok(Self { file })
    }

    /// Synced 4 KiB writes a second, now.
    pub(crate) fn synced_writes_per_second(&self) -> anyhow::Result<f64> {
        let start = Instant::now();
        for write in 0..u64::from(WRITES) {
            self.file.write_all_at(&[2; PAGE], write % PAGES * PAGE as u64)?;
            self.file.sync_data()?;
        }
        Ok(f64::from(WRITES) / start.elapsed().as_secs_f64())
    }
}
