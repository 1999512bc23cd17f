//! P3: a forked child never touches its parent's handle, while other threads of the parent are committing.

use super::worker::{key_of, open, operation, scope};
use fork::{Fork, WEXITSTATUS, WIFEXITED, fork, waitpid};
use keyledger::{Claim, Decision, Error, Fingerprint, Ledger, Response};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const FORKS: u64 = 25;
/// The child's exit status when it found what it should.
pub(crate) const WELL: i32 = 7;
pub(crate) const NOT_WELL: i32 = 8;

fn begin(ledger: &Ledger, key: u64) -> Result<Decision, Error> {
    ledger.begin(&operation(key), &scope(), &key_of(key), Fingerprint::of_bytes(&[b"the same"]))
}

pub(crate) fn claim(ledger: &Ledger, key: u64) -> Claim {
    match begin(ledger, key).expect("a decision") {
        Decision::Acquired(claim) => claim,
        other => panic!("key {key}: {other:?}"),
    }
}

/// Forks again and again while other threads commit; `child` says whether all is well in the child.
fn fork_while_committing(ledger: &Ledger, child: impl Fn(u64, &Ledger) -> bool) -> u64 {
    let (stop, next) = (AtomicBool::new(false), AtomicU64::new(1_000_000));
    std::thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let key = next.fetch_add(1, Ordering::Relaxed);
                    claim(ledger, key).complete(Response::text("by a thread")).expect("the parent is unharmed");
                }
            });
        }
        for number in 0..FORKS {
            std::thread::sleep(Duration::from_millis(7));
            match fork().expect("a fork") {
                Fork::Child => {
                    let is_well = child(number, ledger);
                    std::process::exit(if is_well { WELL } else { NOT_WELL });
                }
                Fork::Parent(pid) => assert_eq!(status_of(pid), Some(WELL), "fork {number}"),
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    next.load(Ordering::Relaxed)
}

/// Whether a program can be started, by `posix_spawn`, from where it is called.
fn spawns() -> bool {
    std::process::Command::new("true").status().is_ok_and(|status| status.success())
}

/// The child's exit status; `None` if it waits for what no thread of its own will give.
pub(crate) fn status_of(pid: i32) -> Option<i32> {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(waitpid(pid)));
    let status = receiver.recv_timeout(Duration::from_secs(20)).ok()?.expect("the child can be waited for");
    WIFEXITED(status).then(|| WEXITSTATUS(status))
}

#[test]
fn p3_a_child_of_an_exclusive_handle_is_told_forked_and_the_parent_is_unharmed() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = Ledger::open(folder.path().join("ledger")).expect("a ledger");
    let held = claim(&ledger, 1);
    let also_held = Mutex::new(Some(claim(&ledger, 2)));
    let last = fork_while_committing(&ledger, |number, ledger| {
        let told = begin(ledger, 3 + number);
        // A claim of the parent's that is dropped here is the parent's still.
        drop(also_held.lock().expect("no thread has it").take());
        matches!(told, Err(Error::Forked))
            && spawns()
            && matches!(ledger.stats(), Err(Error::Forked))
            && matches!(ledger.close(), Err(Error::Forked))
            && matches!(held.heartbeat(), Err(Error::Forked))
    });
    for claim in [Some(held), also_held.into_inner().expect("no thread has it")].into_iter().flatten() {
        claim.complete(Response::text("after all forks")).expect("the parent's claims go on");
    }
    assert_all_there(&ledger, last);
}

#[test]
fn p3_a_child_of_a_shared_handle_has_a_handle_of_its_own_and_the_parent_is_unharmed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ledger");
    let ledger = open(&file);
    let last = fork_while_committing(&ledger, |number, ledger| {
        claim(ledger, 2 + number).complete(Response::text("by a child")).is_ok() && spawns() && ledger.close().is_ok()
    });
    for number in 0..FORKS {
        assert!(matches!(begin(&ledger, 2 + number), Ok(Decision::Replay(_))), "what child {number} stored is gone");
    }
    assert_all_there(&ledger, last);
}

/// While others commit, `complete_with` forks in its closure: in the child, which is told that nothing of it was stored, and in the
/// parent, whose answer it is.
fn fork_in_closures(ledger: &Ledger) {
    let stop = AtomicBool::new(false);
    let next = AtomicU64::new(1_000_000);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let key = next.fetch_add(1, Ordering::Relaxed);
                    claim(ledger, key).complete(Response::text("by a thread")).expect("the parent is unharmed");
                }
            });
        }
        for key in 0..FORKS {
            let mut child = None;
            let told = claim(ledger, key).complete_with(|tx| {
                let forked = fork().expect("a fork");
                let name = if matches!(forked, Fork::Child) { "the child" } else { "the parent" };
                for row in 0..50_u32 {
                    tx.put("rows", &row.to_be_bytes(), name.repeat(40))?;
                }
                child = Some(forked);
                Ok::<_, Error>(Response::text(name))
            });
            match child.expect("the closure has run") {
                Fork::Child => {
                    // Afterwards it is a child like any other.
                    let is_well =
                        matches!(told, Err(Error::Forked)) && matches!(ledger.stats(), Ok(_) | Err(Error::Forked));
                    std::process::exit(if is_well { WELL } else { NOT_WELL });
                }
                Fork::Parent(pid) => {
                    assert_eq!(told.expect("the parent stores it"), Response::text("the parent"));
                    assert_eq!(status_of(pid), Some(WELL), "fork {key}");
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_all_there(ledger, next.load(Ordering::Relaxed));
}

#[test]
fn p3_a_child_that_is_forked_in_a_closure_stores_nothing_and_harms_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, ledger) in [
        ("exclusive", Ledger::open(folder.path().join("exclusive")).expect("a ledger")),
        ("shared", open(&folder.path().join("shared"))),
    ] {
        fork_in_closures(&ledger);
        ledger.close().expect("it closes");
        let again = Ledger::open(folder.path().join(name)).expect("the file is whole");
        let row = again.get("rows", &7_u32.to_be_bytes()).expect("it is read");
        assert_eq!(row, Some("the parent".repeat(40).into_bytes()));
        for key in 0..FORKS {
            assert!(matches!(begin(&again, key), Ok(Decision::Replay(_))), "{name}: key {key}");
        }
    }
}

fn assert_all_there(ledger: &Ledger, last: u64) {
    for key in 1_000_000..last {
        assert!(matches!(begin(ledger, key), Ok(Decision::Replay(_))), "key {key}");
    }
    let found = ledger.check().expect("the file is read");
    assert!(found.is_well(), "{found:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn p3_a_program_that_is_started_meanwhile_has_nothing_of_the_ledger_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = Ledger::open(folder.path().join("ledger")).expect("a ledger");
    let output = std::process::Command::new("ls").args(["-l", "/proc/self/fd"]).output().expect("ls runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && !text.contains("/ledger"), "{text}");
    ledger.close().expect("it closes");
}
