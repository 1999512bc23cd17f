//! Ctrl-C, or a polite kill: the demo ends as after an error, and so leaves no process and no folder behind.

use anyhow::{Result, ensure};
use std::sync::atomic::{AtomicBool, Ordering};

static HAPPENED: AtomicBool = AtomicBool::new(false);

/// Begins to listen.
pub(crate) fn listen() -> Result<()> {
    ctrlc::set_handler(|| HAPPENED.store(true, Ordering::Relaxed))?;
    Ok(())
}

/// An error once there was an interrupt.
pub(crate) fn check() -> Result<()> {
    ensure!(!HAPPENED.load(Ordering::Relaxed), "interrupted");
    Ok(())
}
