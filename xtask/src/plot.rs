//! `cargo xtask plot`: draws the pictures of the documentation anew, of the numbers that the tests judge.

use crate::project::cargo;
use anyhow::{Result, ensure};
use std::process::ExitCode;

/// Has the suite write docs/backoff.svg.
pub(crate) fn run() -> Result<ExitCode> {
    let status = cargo()
        .args(["test", "-p", "keyledger-tests", "--test", "herd"])
        .env("KEYLEDGER_PLOT", "1")
        .env_remove("KEYLEDGER_SEED")
        .status()?;
    ensure!(status.success(), "the suite that draws failed: see above");
    println!("wrote docs/backoff.svg");
    Ok(ExitCode::SUCCESS)
}
