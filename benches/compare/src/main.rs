//! Compares keyledger with `SQLite` in one interleaved run: each round gives every side one slice of time, so that whatever
//! else the machine does meets all of them alike. What is compared is the ratio of the medians.

mod callers;
mod contest;
mod disk;
mod ours;
mod report;
mod sqlite;
mod workload;

use anyhow::Result;
use clap::Parser;
use contest::Contest;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// How long to measure, and where to.
#[derive(Parser)]
#[command(about = "keyledger beside SQLite (WAL, synchronous=FULL), in one interleaved run")]
struct Arguments {
    /// Write the figures to this file as JSON
    #[arg(long)]
    json: Option<PathBuf>,
    /// End with an error if a ratio is below its threshold
    #[arg(long)]
    check: bool,
    /// A run of a few seconds that shows that it runs; its figures mean nothing
    #[arg(long, conflicts_with = "check")]
    short: bool,
    /// Measure only the comparisons whose names begin so
    #[arg(long, default_value = "", conflicts_with = "check")]
    only: String,
    /// Put the databases into a new folder below this one: the disk that is measured
    #[arg(long, default_value = ".")]
    folder: PathBuf,
}

/// How many rounds, and how long each side has in each.
#[derive(Clone, Copy)]
struct Effort {
    rounds: usize,
    slice: Duration,
    replayed: u64,
}

const FULL: Effort = Effort { rounds: 7, slice: Duration::from_secs(1), replayed: 10_000 };
const SHORT: Effort = Effort { rounds: 1, slice: Duration::from_millis(60), replayed: 100 };

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let effort = if arguments.short { SHORT } else { FULL };
    std::fs::create_dir_all(&arguments.folder)?;
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    let mut contests = contests(folder.path(), effort)?;
    contests.retain(|contest| contest.name.starts_with(&arguments.only));
    let mut syncs = Vec::new();
    for round in 0..effort.rounds {
        println!("round {} of {}", round + 1, effort.rounds);
        syncs.push(disk::syncs_per_second(folder.path(), effort.slice / 2)?);
        for contest in &mut contests {
            contest.play(round, effort.slice)?;
        }
    }
    let report = report::Report { contests: &contests, syncs: &syncs, effort };
    report.print();
    if let Some(path) = &arguments.json {
        std::fs::write(path, format!("{:#}\n", report.to_json()))?;
    }
    let held = report.every_threshold_is_held();
    Ok(if held || !arguments.check { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn contests(folder: &Path, effort: Effort) -> Result<Vec<Contest>> {
    let side = |name: &str| folder.join(name);
    Ok(vec![
        Contest::new(
            "c1_inledger_vs_sqlite_one",
            Some(0.9),
            ours::in_ledger(&side("a"), 1)?,
            sqlite::one(&side("b"), 1)?,
        ),
        Contest::new(
            "c1_repeatable_vs_sqlite_two",
            Some(1.0),
            ours::repeatable(&side("c"), 1)?,
            sqlite::two(&side("d"), 1)?,
        ),
        Contest::new(
            "c64_inledger_vs_sqlite_one",
            None,
            ours::in_ledger(&side("e"), 64)?,
            sqlite::one(&side("f"), 64)?,
        ),
        Contest::new(
            "c64_repeatable_vs_sqlite_two",
            Some(20.0),
            ours::repeatable(&side("g"), 64)?,
            sqlite::two(&side("h"), 64)?,
        ),
        Contest::new(
            "replay_vs_sqlite",
            Some(1.5),
            ours::replay(&side("i"), effort.replayed)?,
            sqlite::select(&side("j"), effort.replayed)?,
        ),
    ])
}
