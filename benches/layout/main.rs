//! Which table layout keyledger should have: layouts that are really built on redb, measured side by side.
//!
//! See `docs/decisions/0003-table-layout.md` for what came of it.

// Figures are medians to three digits; that a count above 2^53 would lose precision in them does not matter.
#![allow(clippy::cast_precision_loss)]

mod backend;
mod bench;
mod choice;
mod figures;
mod item;
mod ops;
mod raw;
mod reads;
mod reopen;
mod rows;
mod speed;

use bench::Setting;
use choice::{LAYOUTS, Layout, VARIANTS, by_name};
use clap::{Parser, Subcommand};
use figures::Figures;
use std::path::{Path, PathBuf};

/// Measures table layouts of a ledger.
#[derive(Debug, Parser)]
struct Arguments {
    /// Folder in which to make a folder for the data files, which is deleted at the end.
    #[arg(long)]
    folder: PathBuf,
    /// Records stored before anything is measured.
    #[arg(long, default_value_t = 10_000)]
    records: u64,
    /// Bytes of a stored response.
    #[arg(long, default_value_t = 300)]
    body: usize,
    /// redb's cache, in MiB.
    #[arg(long, default_value_t = 64)]
    cache_mib: usize,
    /// Only the layouts whose name begins with one of these.
    #[arg(long)]
    only: Vec<String>,
    /// Measure the variants, which change one choice at a time.
    #[arg(long)]
    variants: bool,
    /// Print JSON, not a table.
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    work: Work,
}

#[derive(Clone, Debug, Subcommand)]
enum Work {
    /// Pairs a second, traffic of a commit, sweep and size.
    Speed {
        #[arg(long, default_value_t = 9)]
        rounds: u32,
        #[arg(long, default_value_t = 1_000)]
        sweep: usize,
    },
    /// Point reads a second.
    Reads {
        #[arg(long, default_value_t = 9)]
        rounds: u32,
    },
    /// What an open read transaction costs the commits beside it.
    Held {
        #[arg(long, default_value_t = 5)]
        rounds: u32,
    },
    /// Opening a file whose writer was killed, with and without quick repair on its last commit.
    Reopen {
        #[arg(long, default_value_t = 5)]
        rounds: u32,
    },
    /// What `reopen` starts as its child.
    #[command(hide = true)]
    WriteUntilKilled {
        layout: String,
        path: PathBuf,
        start: u64,
        #[arg(long)]
        quick_repair: bool,
    },
}

impl Arguments {
    fn layouts(&self) -> Vec<Layout> {
        let all = if self.variants { VARIANTS } else { LAYOUTS };
        let wanted = |layout: &&Layout| {
            self.only.is_empty() || self.only.iter().any(|name| layout.name.starts_with(name.as_str()))
        };
        all.iter().filter(wanted).copied().collect()
    }

    fn setting(&self) -> Setting {
        Setting { records: self.records, body_bytes: self.body, cache_bytes: self.cache_mib << 20 }
    }

    fn run(&self, folder: &Path) -> anyhow::Result<Figures> {
        let (layouts, setting) = (self.layouts(), self.setting());
        match &self.work {
            Work::Speed { rounds, sweep } => {
                speed::measure(&layouts, folder, setting, speed::Plan { rounds: *rounds, sweep: *sweep })
            }
            Work::Reads { rounds } => reads::measure(&layouts, folder, setting, *rounds),
            Work::Held { rounds } => reads::measure_held(&layouts, folder, setting, *rounds),
            Work::Reopen { rounds } => reopen::measure(&layouts, folder, setting, *rounds),
            Work::WriteUntilKilled { layout, path, start, quick_repair } => {
                reopen::write_until_killed(by_name(layout)?, path, setting, *start, *quick_repair)?;
                Ok(Figures::default())
            }
        }
    }
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let folder = arguments.folder.join(format!("layout-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let figures = arguments.run(&folder);
    std::fs::remove_dir_all(&folder)?;
    let figures = figures?;
    if arguments.json {
        println!("{:#}", figures.json());
    } else {
        println!("{}", figures.table());
    }
    Ok(())
}
