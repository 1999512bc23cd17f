//! A driver's own thread.

use std::sync::Arc;
use std::thread::JoinHandle;

use super::error::DriverError;
use super::stop::Stop;
use crate::error::{Error, Result};
use crate::process::Owner;

/// A driver that runs on threads of its own. Dropped, it stops as by [`stop`](DriverHandle::stop).
pub struct DriverHandle {
    stop: Stop,
    thread: Option<JoinHandle<Result<(), DriverError>>>,
    /// Whose threads they are: a forked child has none of them, and would wait for ever (P3).
    owner: Owner,
}

impl DriverHandle {
    pub(super) fn start(
        name: String,
        stop: Stop,
        work: impl FnOnce() -> Result<(), DriverError> + Send + 'static,
    ) -> Result<Self> {
        let thread = std::thread::Builder::new().name(name).spawn(work);
        let thread = thread.map_err(|error| Error::Storage(Arc::new(error)))?;
        Ok(Self { stop, thread: Some(thread), owner: Owner::this() })
    }

    /// Leases nothing more, and waits until what is in flight is sent and settled, or its leases are over.
    ///
    /// # Errors
    /// Why it ended before it was stopped, or could not store what came back; the error has those outcomes. `Forked` in a forked
    /// child: it works in the parent.
    pub fn stop(mut self) -> Result<(), DriverError> {
        if self.owner.is_elsewhere() {
            return Err(DriverError { source: Error::Forked, reports: Vec::new() });
        }
        self.stop.stop();
        self.join()
    }

    /// Whether it still works, in this process. It ends by itself when the ledger is closed.
    pub fn is_running(&self) -> bool {
        !self.owner.is_elsewhere() && self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    fn join(&mut self) -> Result<(), DriverError> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        if thread.thread().id() == std::thread::current().id() {
            return Ok(());
        }
        let panicked = || Error::Unavailable("a callback of the driver panicked".into());
        thread.join().unwrap_or_else(|_| Err(DriverError { source: panicked(), reports: Vec::new() }))
    }
}

impl Drop for DriverHandle {
    fn drop(&mut self) {
        if self.owner.is_elsewhere() {
            std::mem::forget(self.thread.take());
            return;
        }
        self.stop.stop();
        let _ = self.join();
    }
}

impl std::fmt::Debug for DriverHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DriverHandle").field("is_running", &self.is_running()).finish_non_exhaustive()
    }
}
