//! Ctrl-C, or a polite kill, ends the commands that are running and everything they started.

use anyhow::Result;
use std::process::{Child, Command};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

static HAPPENED: AtomicBool = AtomicBool::new(false);
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Begins to listen; from then on an interrupt ends the running commands instead of this program.
pub(crate) fn listen() -> Result<()> {
    ctrlc::set_handler(|| {
        HAPPENED.store(true, Ordering::SeqCst);
        end_running();
    })?;
    Ok(())
}

/// Ends the running commands and everything they started.
pub(crate) fn end_running() {
    for id in lock().iter() {
        end_group(*id);
    }
}

/// Whether there has been an interrupt.
pub(crate) fn happened() -> bool {
    HAPPENED.load(Ordering::SeqCst)
}

/// Starts a command in a process group of its own and remembers it as running.
pub(crate) fn start(command: &mut Command) -> std::io::Result<Child> {
    own_group(command);
    let mut running = lock();
    let child = command.spawn()?;
    running.push(child.id());
    Ok(child)
}

/// Forgets a command that has ended: its number may belong to another process from now on.
pub(crate) fn ended(child: &Child) {
    lock().retain(|id| *id != child.id());
}

fn lock() -> std::sync::MutexGuard<'static, Vec<u32>> {
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
