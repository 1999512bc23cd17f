//! P2, I1: histories of three processes that share a ledger.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use keyledger::{Ledger, SystemClock};
use keyledger_harness::again::this_program;
use keyledger_harness::history::{Recorder, read};
use keyledger_harness::settings;

use super::{are_explained, histories, history_of, pass_by_itself};

const PROCESSES: u32 = 3;
const THREADS_EACH: u32 = 2;

/// What a process is told: its number, and where all of them meet.
const PROCESS: &str = "KEYLEDGER_TEST_PROCESS";
const FOLDER: &str = "KEYLEDGER_TEST_FOLDER";
const LEDGERS: &str = "KEYLEDGER_TEST_LEDGERS";

fn ledger_file(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number}.kl"))
}

fn history_file(folder: &Path, number: u64, process: u32) -> PathBuf {
    folder.join(format!("{number}-{process}.json"))
}

/// Not a test of its own: the body of the processes that the test below starts.
#[test]
fn a_process_that_shares_a_ledger() {
    let (Some(process), Some(folder)) = (settings::number::<u32>(PROCESS), std::env::var_os(FOLDER)) else { return };
    let folder = PathBuf::from(folder);
    for number in 0..settings::number::<u64>(LEDGERS).expect("a process is told how many ledgers") {
        let ledger = Ledger::builder().shared().open(ledger_file(&folder, number)).expect("a shared ledger");
        let recorder = Recorder::to_file(process, SystemClock, &history_file(&folder, number, process));
        meet(&folder, number, process);
        history_of(THREADS_EACH, &ledger, &recorder.expect("a history"), &pass_by_itself, &[4, number, process.into()]);
        ledger.close().expect("it closes");
    }
}

/// Returns when every process has come so far: a file for each says so.
fn meet(folder: &Path, number: u64, process: u32) {
    let sign = |process| folder.join(format!("{number}-{process}.ready"));
    std::fs::write(sign(process), "").expect("a sign is written");
    while (0..PROCESSES).any(|process| !sign(process).exists()) {
        sleep(Duration::from_micros(200));
    }
}

fn start(folder: &Path, process: u32, ledgers: u64) -> Child {
    let orders: [(&str, OsString); 3] =
        [(PROCESS, process.to_string().into()), (FOLDER, folder.into()), (LEDGERS, ledgers.to_string().into())];
    this_program("processes::a_process_that_shares_a_ledger")
        .envs(orders)
        .stdout(Stdio::null())
        .spawn()
        .expect("a process starts")
}

#[test]
fn i1_histories_of_three_processes_are_linearizable() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledgers = histories() / 10;
    let processes: Vec<_> = (0..PROCESSES).map(|process| start(folder.path(), process, ledgers)).collect();
    for mut process in processes {
        assert!(process.wait().expect("a process ends").success());
    }
    are_explained(ledgers, 4, |place| {
        let files: Vec<_> = (0..PROCESSES).map(|process| history_file(folder.path(), place[1], process)).collect();
        read(&files).expect("the histories are read")
    });
}
