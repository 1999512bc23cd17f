//! Where the log lies on a disk.

use std::io;
use std::sync::Arc;

use super::backend::Gate;
use super::engine::Engine;
use super::header::{PAGE, damaged};
use crate::store::OpenError;
use crate::store::log::{Found, Log, LogError, Region};

/// The log of an open database, as it is on the disk.
pub(super) fn read_log(engine: &Engine) -> Result<Found, OpenError> {
    let region = Arc::new(LogRegion(engine.gate()));
    Log::open(region, engine.creation_id(), engine.generation()?).map_err(refused)
}

/// The log's stretch of a disk: after the header page.
struct LogRegion(Arc<Gate>);

impl Region for LogRegion {
    fn read(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.pass(|disk| disk.read(PAGE + at, out))
    }

    fn write(&self, at: u64, data: &[u8]) -> io::Result<()> {
        self.0.pass(|disk| disk.write(PAGE + at, data))
    }

    fn write_synced(&self, at: u64, data: &[u8]) -> io::Result<()> {
        self.0.pass(|disk| disk.write_synced(PAGE + at, data))
    }

    fn sync(&self) -> io::Result<()> {
        self.0.pass(|disk| disk.sync())
    }
}

fn refused(error: LogError) -> OpenError {
    match error {
        LogError::Io(error) => OpenError::Unavailable(error),
        LogError::Damaged => damaged("a record of its log is damaged, with whole ones after it"),
    }
}
