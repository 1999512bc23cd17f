//! A ledger that several processes share (P2, P4, P5), and what is left of it when they are killed.
//!
//! Each test starts this very program again as its processes.

mod diary;
mod drivers;
mod forks;
mod inherited;
mod judge;
mod kills;
mod opening;
mod worker;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use keyledger_harness::again::this_program;

/// What a process started by a test is to do; it finds its orders in the environment.
const ROLE: &str = "KEYLEDGER_TEST_ROLE";
const FILE: &str = "KEYLEDGER_TEST_FILE";

/// Not a test of its own: the body of every process that a test starts.
#[test]
fn a_process_that_a_test_started() {
    let Some(role) = std::env::var_os(ROLE) else { return };
    let file = PathBuf::from(std::env::var_os(FILE).expect("a process is told its file"));
    match role.to_str() {
        Some("worker") => worker::work(&file),
        Some("opener") => opening::open_and_say(&file),
        Some("duplicate") => opening::wait_for_answer(&file),
        _ => panic!("{role:?} is no role"),
    }
}

/// Starts a process of this program in a role.
fn start(role: &str, file: &Path, orders: &[(&str, OsString)], stdout: Stdio) -> Child {
    this_program("a_process_that_a_test_started")
        .env(ROLE, role)
        .env(FILE, file)
        .envs(orders.iter().map(|(name, value)| (name, value)))
        .stdout(stdout)
        .spawn()
        .expect("the process starts")
}
