//! A page in the place of another: its rows match their seals, and may lead round in a circle. Every command comes to an end (I9).

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use keyledger::Response;

use super::stage::{CHARGE, Said, Stage, claim, said};

const PAGE: usize = 4096;
/// docs/format.md: the header page and the log.
const STORAGE: usize = PAGE + (2 << 20);
/// What they need is some milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);
const RECORDS: usize = 200;
const ANSWER: [u8; 300] = [7; 300];

/// A compacted ledger whose records fill a score of pages, and where those are: leaves, and what leads to them.
fn ledger() -> (Stage, Vec<u8>, Vec<usize>, Vec<usize>) {
    let stage = Stage::empty();
    let ledger = stage.open();
    for number in 0..RECORDS {
        let claim = claim(&ledger, &CHARGE, "user-17", &format!("key {number}"));
        claim.complete(Response::bytes(ANSWER.to_vec())).expect("it completes");
    }
    ledger.close().expect("it closes");
    stage.answer(&["compact", "--yes"]);
    let bytes = fs::read(&stage.file).expect("the file");
    let pages = || (STORAGE + PAGE..bytes.len() - PAGE).step_by(PAGE);
    let has_rows = |at: &usize| bytes[*at..*at + PAGE].windows(ANSWER.len()).any(|window| window == ANSWER);
    let (leaves, branches): (Vec<_>, Vec<_>) =
        (pages().filter(has_rows).collect(), pages().filter(|at| bytes[*at] == 2).collect());
    assert!(leaves.len() > 8 && !branches.is_empty(), "{leaves:?} {branches:?}");
    (stage, bytes, leaves, branches)
}

/// How a command ends, which it must.
fn ended(stage: &Stage, arguments: &[&str]) -> Said {
    let mut command = stage.command(arguments);
    let (out, err) = (stage.beside("out"), stage.beside("err"));
    command.stdout(fs::File::create(&out).expect("a file")).stderr(fs::File::create(&err).expect("a file"));
    let (began, mut running) = (Instant::now(), command.stdin(Stdio::null()).spawn().expect("it runs"));
    let status = loop {
        if let Some(status) = running.try_wait().expect("it can be waited for") {
            break status;
        }
        if began.elapsed() > PATIENCE {
            running.kill().expect("it can be ended");
            panic!("{arguments:?} goes on and on");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let [stdout, stderr] = [out, err].map(|file| fs::read(file).expect("what it said"));
    said(std::process::Output { status, stdout, stderr })
}

#[test]
fn no_command_goes_round_for_ever_in_a_file_with_a_page_in_the_place_of_another() {
    let (stage, whole, leaves, branches) = ledger();
    let (first, middle, last) = (leaves[0], leaves[leaves.len() / 2], leaves[leaves.len() - 1]);
    let mut exits = BTreeSet::new();
    for (from, to) in [(first, last), (last, first), (middle, first), (branches[0], middle), (branches[0], first)] {
        let mut bytes = whole.clone();
        bytes.copy_within(from..from + PAGE, to);
        for arguments in [
            &["snapshot", "copy.kl"][..],
            &["export"],
            &["list", "--all"],
            &["stats", "--sizes"],
            &["sweep", "--yes"],
            &["compact", "--yes"],
            &["check"],
        ] {
            fs::write(&stage.file, &bytes).expect("it is damaged");
            let said = ended(&stage, arguments);
            let _ = fs::remove_file(stage.beside("copy.kl"));
            if ["export", "check", "snapshot"].contains(&arguments[0]) {
                assert_ne!(said.exit, Some(0), "{from} at {to}: {arguments:?} finds nothing: {said:?}");
            }
            exits.extend(said.exit);
        }
    }
    assert!(exits.is_subset(&[0, 1, 7, 9, 10].into()), "{exits:?}");
}
