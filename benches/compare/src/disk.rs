//! What the disk itself can do, beside which the other figures are read.

use anyhow::Result;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Writes of 4 KiB over the same place, each synced, in a second.
pub(crate) fn syncs_per_second(folder: &Path, slice: Duration) -> Result<f64> {
    let mut file = File::create(folder.join("disk"))?;
    file.write_all(&[0; 4096])?;
    file.sync_all()?;
    let start = Instant::now();
    let mut count = 0_u32;
    while start.elapsed() < slice {
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&[0; 4096])?;
        file.sync_data()?;
        count += 1;
    }
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}
