//! Who has a file open, as far as the system tells.

use std::path::Path;
use std::time::Duration;

use crate::failure::Failure;

/// A process.
#[derive(Debug, PartialEq, Eq)]
struct Holder {
    process: u32,
    program: String,
    /// By a signal: it does nothing until somebody lets it go on.
    stopped: bool,
}

/// The error for a file that another process has for itself, and that has no admin socket.
pub(crate) fn held(path: &Path) -> Failure {
    let how = if is_this_program(&found(path)) {
        "wait until it has done what it was asked"
    } else {
        "to reach it while that runs, let it open the ledger with Ledger::builder().admin_socket(), or shared(); else stop it first"
    };
    Failure::new("already_open", format!("{}: held by {}; {how}", path.display(), who(path)))
}

/// The error for a file that cannot be replaced, since somebody has it open.
pub(crate) fn in_the_way_of_restore(path: &Path) -> Failure {
    let how = "a restore needs the file for itself: stop that first";
    Failure::new("already_open", format!("{}: held by {}; {how}", path.display(), who(path)))
}

/// How long it is worth waiting for whoever holds the file: this very program soon lets go of it, and somebody who is not there
/// any more has just done so. Where the system does not tell, that is a guess, and a short one.
pub(crate) fn patience(path: &Path) -> Duration {
    let others = found(path);
    if is_this_program(&others) || (others.is_empty() && cfg!(target_os = "linux")) {
        Duration::from_secs(10)
    } else if others.is_empty() {
        Duration::from_millis(500)
    } else {
        Duration::ZERO
    }
}

fn is_this_program(others: &[Holder]) -> bool {
    let own = std::env::current_exe().ok();
    let own = own.as_deref().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    !others.is_empty() && others.iter().all(|holder| holder.program == own)
}

/// Other processes that have the file open, as far as the system tells.
pub(crate) fn others(path: &Path) -> String {
    let named = |Holder { process, program, stopped }: &Holder| {
        let stopped = if *stopped { format!(", stopped: kill -CONT {process}") } else { String::new() };
        format!("{program} (process {process}{stopped})")
    };
    found(path).iter().map(named).collect::<Vec<_>>().join(", ")
}

fn who(path: &Path) -> String {
    let others = others(path);
    if others.is_empty() { "another process, which the system does not tell".to_owned() } else { others }
}

fn found(path: &Path) -> Vec<Holder> {
    holders(path).into_iter().filter(|holder| holder.process != std::process::id()).collect()
}

#[cfg(target_os = "linux")]
fn holders(path: &Path) -> Vec<Holder> {
    use std::os::unix::fs::MetadataExt;
    let Ok(file) = std::fs::metadata(path) else { return Vec::new() };
    let mut found = proc::with_open(file.dev(), file.ino());
    if found.is_empty() {
        // Other people's open files are not shown; who locks what is shown to all.
        found = proc::with_lock(file.ino());
    }
    // One that has ended meanwhile holds nothing.
    let holder =
        |process| Some(Holder { process, program: proc::program(process)?, stopped: proc::is_stopped(process) });
    found.into_iter().filter_map(holder).collect()
}

#[cfg(not(target_os = "linux"))]
fn holders(_: &Path) -> Vec<Holder> {
    Vec::new()
}

#[cfg(target_os = "linux")]
mod proc {
    use std::collections::BTreeSet;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    /// Processes that have the file open.
    pub(super) fn with_open(device: u64, inode: u64) -> BTreeSet<u32> {
        let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
        let processes = folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok());
        processes.filter(|process| has_open(*process, device, inode)).collect()
    }

    fn has_open(process: u32, device: u64, inode: u64) -> bool {
        let open = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        let mut files = open.filter_map(|file| fs::metadata(file.path()).ok());
        files.any(|file| file.dev() == device && file.ino() == inode)
    }

    /// Processes that hold a lock on a file with that number.
    pub(super) fn with_lock(inode: u64) -> BTreeSet<u32> {
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        locks.lines().filter_map(|line| locked_by(line, inode)).collect()
    }

    /// `1: FLOCK  ADVISORY  WRITE 7 08:01:42 0 EOF`
    pub(super) fn locked_by(line: &str, inode: u64) -> Option<u32> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, process, file, ..] = words.as_slice() else { return None };
        (file.rsplit(':').next()? == inode.to_string()).then(|| process.parse().ok())?
    }

    /// Whether a signal has stopped it.
    pub(super) fn is_stopped(process: u32) -> bool {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        status.lines().any(|line| line.strip_prefix("State:").is_some_and(|state| state.trim().starts_with(['T', 't'])))
    }

    /// What a process runs; `None`: it has ended.
    pub(super) fn program(process: u32) -> Option<String> {
        let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
        Some(if name.trim().is_empty() { "a program".to_owned() } else { name.trim().to_owned() })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_lock_tells_who_holds_it() {
        let line = "12: FLOCK  ADVISORY  WRITE 4711 fd:01:131 0 EOF";
        assert_eq!(proc::locked_by(line, 131), Some(4711));
        assert_eq!(proc::locked_by(line, 31), None);
        assert_eq!(proc::locked_by("12: POSIX  ADVISORY  WRITE 4711 fd:01:131 0 EOF", 131), None);
    }

    #[test]
    fn an_open_file_tells_who_has_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let found = holders(file.path());
        assert_eq!(found.iter().map(|holder| holder.process).collect::<Vec<_>>(), [std::process::id()]);
    }
}
