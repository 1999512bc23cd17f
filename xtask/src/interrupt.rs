//! Ctrl-C, or a polite kill, ends the command that is running and everything it started.

use anyhow::Result;
use std::process::{Child, Command};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

static HAPPENED: AtomicBool = AtomicBool::new(false);
static RUNNING: Mutex<Option<u32>> = Mutex::new(None);

/// Begins to listen; from then on an interrupt ends the running command instead of this program.
pub(crate) fn listen() -> Result<()> {
    ctrlc::set_handler(|| {
        HAPPENED.store(true, Ordering::SeqCst);
        end_running();
    })?;
    Ok(())
}

/// Ends the running command and everything it started.
pub(crate) fn end_running() {
    if let Some(id) = *lock() {
        end_group(id);
    }
}

/// Whether there has been an interrupt.
pub(crate) fn happened() -> bool {
    HAPPENED.load(Ordering::SeqCst)
}

/// Starts a command in a process group of its own and remembers it as the running one.
pub(crate) fn start(command: &mut Command) -> std::io::Result<Child> {
    own_group(command);
    let mut running = lock();
    let child = command.spawn()?;
    *running = Some(child.id());
    Ok(child)
}

/// Forgets the running command, which has ended: its number may belong to another process from now on.
pub(crate) fn ended() {
    *lock() = None;
}

fn lock() -> std::sync::MutexGuard<'static, Option<u32>> {
    RUNNING.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(unix)]
fn end_group(id: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    if let Some(Err(error)) = pid.map(|pid| kill_process_group(pid, Signal::TERM)) {
        eprintln!("xtask: the running command could not be ended: {error}");
    }
}

#[cfg(not(unix))]
fn own_group(_command: &mut Command) {}

/// A console's Ctrl-C reaches every process in it by itself.
#[cfg(not(unix))]
fn end_group(_id: u32) {}
