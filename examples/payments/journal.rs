//! An append-only log of JSON lines: what bank, mail and server leave behind for whoever compares later.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A log that only grows, one JSON object to a line.
///
/// A line is handed to the operating system in one write, so a killed process leaves whole lines.
#[derive(Debug)]
pub struct Journal {
    file: Mutex<File>,
    synced: bool,
}

impl Journal {
    /// Opens the log at `path`, and makes it if need be. Each line is on disk before `append` returns.
    pub fn synced(path: &Path) -> io::Result<Self> {
        Self::open(path, true)
    }

    /// The same without the sync: lines outlive the process, but not the machine.
    pub fn unsynced(path: &Path) -> io::Result<Self> {
        Self::open(path, false)
    }

    fn open(path: &Path, synced: bool) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { file: Mutex::new(file), synced })
    }

    /// Adds one line.
    pub fn append(&self, record: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line)?;
        if self.synced { file.sync_data() } else { Ok(()) }
    }
}

/// All records of the log at `path`, oldest first; none if there is no such file.
pub fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Vec<T>> {
    match std::fs::read_to_string(path) {
        Ok(text) => text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
