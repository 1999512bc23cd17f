//! What a restore takes, what it replaces, and what it says (I5).

use super::stage::{Stage, said};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A ledger with a snapshot of it beside it.
fn stage() -> Stage {
    let stage = Stage::filled();
    stage.answer(&["snapshot", "monday.kl"]);
    stage
}

#[test]
fn what_is_no_snapshot_is_told_by_the_name_that_was_given() {
    let stage = stage();
    stage.write("letter.txt", b"hello, I am a letter");
    fs::create_dir(stage.beside("folder")).expect("a folder");
    let Some(mut mkfifo) = keyledger_needs::program("mkfifo", "coreutils") else { return };
    assert!(mkfifo.arg(stage.beside("fifo")).status().expect("it runs").success());
    for (from, exit) in [("letter.txt", 8), ("folder", 8), ("payments.kl", 5), ("nowhere.kl", 3), ("fifo", 8)] {
        let said = stage.run(&["restore", from, "--yes"]);
        assert_eq!(said.exit, Some(exit), "{from}: {said:?}");
        assert!(said.err.contains(from) && !said.err.contains("restoring"), "{from}: {said:?}");
    }
    assert!(super::stage::is_well(&stage.file));
}

#[test]
fn a_link_stays_a_link_and_what_it_leads_to_is_replaced() {
    let stage = stage();
    symlink(&stage.file, stage.beside("link.kl")).expect("a link");
    stage.answer(&["forget", "user-17", "POST /v1/charges", "done", "--yes"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyledger"));
    command.args(["link.kl", "restore", "monday.kl", "--yes"]).current_dir(stage.folder.path());
    assert_eq!(said(command.output().expect("it runs")).exit, Some(0));
    assert!(stage.beside("link.kl").symlink_metadata().expect("a link").is_symlink());
    assert_eq!(stage.json(&["show", "user-17", "POST /v1/charges", "done"])["state"], "completed");
}

#[test]
fn restores_one_after_the_other_keep_each_old_file() {
    let stage = stage();
    let kept: std::collections::BTreeSet<String> =
        (0..3).map(|_| stage.json(&["restore", "monday.kl", "--yes"])["kept"].to_string()).collect();
    assert_eq!(kept.len(), 3, "{kept:?}");
}

#[test]
fn a_file_that_a_program_has_open_is_neither_replaced_nor_copied() {
    let stage = stage();
    let ledger = keyledger::Ledger::builder().admin_socket().open(&stage.file).expect("a ledger");
    let said_of_it = stage.run(&["restore", "monday.kl", "--yes"]);
    assert_eq!(said_of_it.exit, Some(6), "{said_of_it:?}");
    assert!(said_of_it.err.contains("stop that first") && !said_of_it.err.contains("admin_socket"), "{said_of_it:?}");
    if cfg!(target_os = "linux") {
        let mut command = Command::new(env!("CARGO_BIN_EXE_keyledger"));
        command.args(["other.kl", "restore", "payments.kl", "--yes"]).current_dir(stage.folder.path());
        let said = said(command.output().expect("it runs"));
        assert_eq!(said.exit, Some(6), "{said:?}");
        assert!(said.err.contains("with `snapshot`"), "{said:?}");
    }
    ledger.close().expect("it closes");
}

#[test]
fn a_snapshot_goes_where_there_is_a_folder_and_no_file() {
    let stage = stage();
    let said = stage.run(&["snapshot", "nowhere/copy.kl"]);
    assert_eq!(said.exit, Some(3), "{said:?}");
    assert!(said.err.contains("nowhere: there is no such folder"), "{said:?}");
    let said = stage.run(&["snapshot", "monday.kl", "--json"]);
    assert!(said.exit == Some(4) && said.err.contains("file_exists"), "{said:?}");
}

#[test]
fn two_people_at_once_wait_for_each_other() {
    let stage = stage();
    let start = || stage.command(&["stats"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let (began, all) = (Instant::now(), (0..8).map(|_| start()).collect::<Vec<_>>());
    for one in all {
        let said = said(one.wait_with_output().expect("it ends"));
        assert!(cfg!(not(target_os = "linux")) || said.exit == Some(0), "{said:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(30));
}
