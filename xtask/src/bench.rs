//! `cargo xtask bench`: measurements.

use crate::project::{Project, cargo};
use anyhow::{Context, Result};
use clap::Subcommand;
use std::path::PathBuf;
use std::process::ExitCode;

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// keyledger beside `SQLite` in one interleaved run
    Smoke(Smoke),
}

#[derive(clap::Args)]
struct Smoke {
    /// Write the figures to this file as JSON
    #[arg(long)]
    json: Option<PathBuf>,
    /// End with an error if a ratio is below its threshold
    #[arg(long)]
    check: bool,
    /// A run of a few seconds, not optimised, that only shows that it runs
    #[arg(long, conflicts_with = "check")]
    short: bool,
}

/// Measures.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let Bench::Smoke(smoke) = &args.bench;
    let project = Project::load()?;
    let mut command = cargo();
    command.args(["run", "--quiet", "--package", "keyledger-compare"]);
    if !smoke.short {
        command.arg("--release");
    }
    // The folder of the build is on a disk; the system's folder for temporary files may be in memory, where a sync costs nothing.
    command.arg("--").arg("--folder").arg(project.target_folder.join("bench"));
    command.args(smoke.check.then_some("--check")).args(smoke.short.then_some("--short"));
    if let Some(path) = &smoke.json {
        command.arg("--json").arg(path);
    }
    let status = command.status().context("cannot start cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
