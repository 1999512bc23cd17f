//! The demo: a bank, a payment server that is killed, and clients that retry.

use anyhow::{Result, bail};
use std::process::ExitCode;

/// What the demo can be told.
#[derive(clap::Args)]
pub(crate) struct Args {}

/// Runs the demo.
pub(crate) fn run(_args: Args) -> Result<ExitCode> {
    bail!("the demo is not built yet")
}
