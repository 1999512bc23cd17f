//! Ctrl-C in the middle: the file opens, and checks clean (I4, I7).

use super::stage::{Stage, is_well};
use keyledger::{Begin, Decision, Error, Fingerprint, Key, Operation, Response, Scope};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;

static DONE: Operation = Operation::in_ledger("done").retention(Duration::ZERO);

const RECORDS: usize = 20_000;
const BATCH: usize = 5_000;

/// A ledger in which everything is due.
pub(crate) fn due() -> Stage {
    let stage = Stage::empty();
    let ledger = stage.open();
    for start in (0..RECORDS).step_by(BATCH) {
        let ask = |number| {
            let key = Key::new(format!("key {number}")).expect("a key");
            Begin::new(&DONE, &Scope::single(), &key, Fingerprint::unchecked())
        };
        let asked: Vec<Begin> = (start..start + BATCH).map(ask).collect();
        let claims = ledger.begin_many(&asked).expect("decisions");
        let completed = ledger.transaction(|tx| {
            claims.iter().try_for_each(|decision| match decision {
                Decision::Acquired(claim) => tx.complete(claim.key_id(), claim.fence(), Response::bytes([7; 200])),
                other => panic!("not granted: {other:?}"),
            })
        });
        completed.unwrap_or_else(|error: Error| panic!("{error}"));
    }
    ledger.close().expect("it closes");
    stage
}

/// Interrupts the command after each of some times; whether it was cut short at least once.
fn interrupted(stage: &Stage, arguments: &[&str]) -> bool {
    interrupted_between(stage, arguments, || ())
}

/// The same, with something to do after each time.
fn interrupted_between(stage: &Stage, arguments: &[&str], between: impl Fn()) -> bool {
    let mut cut_short = false;
    for after_ms in [3, 10, 20, 40, 80, 160] {
        let mut command = stage.command(arguments);
        // Nobody reads what it says: an export stands still in the middle when the pipe is full.
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
        std::thread::sleep(Duration::from_millis(after_ms));
        let process = Pid::from_raw(child.id().try_into().expect("a number")).expect("a process");
        kill_process(process, Signal::INT).expect("it is interrupted");
        let status = child.wait().expect("it ends");
        let was_cut = status.code() == Some(130) || status.signal() == Some(Signal::INT.as_raw());
        assert!(was_cut || status.success(), "{arguments:?} after {after_ms} ms: {status}");
        cut_short |= status.code() == Some(130);
        assert!(is_well(&stage.file), "{arguments:?} after {after_ms} ms");
        between();
    }
    cut_short
}

#[test]
fn a_sweep_can_be_interrupted() {
    let stage = due();
    assert!(interrupted(&stage, &["sweep", "--batch", "20", "--yes"]));
    stage.answer(&["sweep", "--yes"]);
    assert_eq!(stage.json(&["stats"])["records"]["tombstone"], RECORDS);
}

#[test]
fn a_compaction_can_be_interrupted() {
    assert!(interrupted(&due(), &["compact", "--yes"]));
}

#[test]
fn an_export_can_be_interrupted() {
    assert!(interrupted(&due(), &["export"]));
}

#[test]
fn a_restore_can_be_interrupted_and_leaves_the_old_file_or_the_new_one() {
    let stage = due();
    stage.answer(&["snapshot", "copy.kl"]);
    assert!(interrupted(&stage, &["restore", "copy.kl", "--yes"]));
    no_copy_is_left(&stage);
}

#[test]
fn a_snapshot_can_be_interrupted_and_leaves_nothing_or_a_whole_copy() {
    let stage = due();
    let copy = stage.beside("copy.kl");
    let mut cut_short = false;
    for _ in 0..3 {
        cut_short |= interrupted_between(&stage, &["snapshot", "copy.kl"], || {
            if copy.exists() {
                assert!(is_well(&copy));
                std::fs::remove_file(&copy).expect("it goes");
            }
        });
        no_copy_is_left(&stage);
    }
    assert!(cut_short);
}

/// Nothing that is hidden lies beside the ledger.
fn no_copy_is_left(stage: &Stage) {
    let names = std::fs::read_dir(stage.folder.path()).expect("a folder").flatten().map(|file| file.file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with('.')).collect();
    assert!(left.is_empty(), "{left:?}");
}
