//! Which table layout keyledger should have: layouts that are really built on redb, measured side by side.
//!
//! See `docs/decisions/0003-table-layout.md` for what came of it.

// Figures are medians to three digits; that a count above 2^53 would lose precision in them does not matter.
#![allow(clippy::cast_precision_loss)]

mod backend;
mod bench;
mod caches;
mod choice;
mod figures;
mod item;
mod ops;
mod raw;
mod reads;
mod reopen;
mod rows;
mod speed;
#[cfg(test)]
mod tests;

use backend::Growth;
use bench::{Setting, note_size, preloaded};
use choice::{LAYOUTS, Layout, VARIANTS, by_name};
use clap::{Parser, ValueEnum};
use figures::Figures;
use raw::RawDisk;
use std::path::{Path, PathBuf};

/// Measures table layouts of a ledger.
#[derive(Debug, Parser)]
struct Arguments {
    /// What to measure, in this order (`caches` and `reopen`, which close the files first, always last); size is always measured.
    work: Vec<Work>,
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
    /// Grow files by writing zeros, not by a hole.
    #[arg(long)]
    zeros: bool,
    /// Times that each thing is measured; the median is shown.
    #[arg(long, default_value_t = 7)]
    rounds: u32,
    /// Records that a sweep moves.
    #[arg(long, default_value_t = 1_000)]
    sweep: usize,
    /// Only the layouts whose name begins with one of these.
    #[arg(long)]
    only: Vec<String>,
    /// Measure the variants, which change one choice at a time.
    #[arg(long)]
    variants: bool,
    /// Print JSON, not a table.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    child: Child,
}

/// What `reopen` tells the process that it starts and kills.
#[derive(Debug, clap::Args)]
struct Child {
    #[arg(long = "child-layout", hide = true, requires = "file")]
    layout: Option<String>,
    #[arg(long = "child-file", hide = true)]
    file: Option<PathBuf>,
    #[arg(long = "child-start", hide = true, default_value_t = 0)]
    start: u64,
    #[arg(long = "child-quick-repair", hide = true)]
    quick_repair: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Work {
    /// Pairs a second, and bytes and calls of a commit.
    Speed,
    /// Point reads a second.
    Reads,
    /// What an open read transaction costs the commits beside it.
    Held,
    /// Moving expired records on.
    Sweep,
    /// Opening a file whose writer was killed, with and without quick repair on its last commit.
    Reopen,
    /// The first layout with caches of several sizes.
    Caches,
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
        let growth = if self.zeros { Growth::Zeros } else { Growth::Hole };
        Setting { records: self.records, body_bytes: self.body, cache_bytes: self.cache_mib << 20, growth }
    }

    fn run(&self, folder: &Path) -> anyhow::Result<Figures> {
        let (layouts, setting, rounds) = (self.layouts(), self.setting(), self.rounds);
        let raw = RawDisk::create(&folder.join("raw"))?;
        let mut figures = Figures::default();
        let mut benches = preloaded(&layouts, folder, setting, &mut figures)?;
        for work in &self.work {
            match work {
                Work::Speed => speed::measure(&mut benches, &raw, rounds, &mut figures)?,
                Work::Reads => reads::measure(&mut benches, self.records, rounds, &mut figures)?,
                Work::Held => reads::measure_held(&mut benches, rounds, &mut figures)?,
                Work::Sweep => speed::measure_sweep(&mut benches, self.sweep, &mut figures)?,
                Work::Reopen | Work::Caches => {}
            }
        }
        for bench in benches {
            note_size(&bench, "at the end", bench.stored(), &mut figures)?;
        }
        if self.work.contains(&Work::Caches) {
            caches::measure(&layouts, folder, setting, rounds, &mut figures)?;
        }
        if self.work.contains(&Work::Reopen) {
            reopen::measure(&layouts, folder, setting, rounds, &mut figures)?;
        }
        Ok(figures)
    }
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if let Child { layout: Some(layout), file: Some(file), start, quick_repair } = &arguments.child {
        return reopen::write_until_killed(by_name(layout)?, file, arguments.setting(), *start, *quick_repair);
    }
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
