//! Speed, traffic, sweep and size of layouts, measured in turns so that noise meets all of them alike.

use crate::bench::{Bench, Setting, Spent};
use crate::choice::Layout;
use crate::figures::Figures;
use crate::ops::Expired;
use crate::raw::RawDisk;
use std::path::Path;

/// How much of each kind of work a round does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) rounds: u32,
    pub(crate) sweep: usize,
}

const BATCHES: [(u64, u64); 3] = [(1, 100), (64, 640), (256, 1_024)];
const SWEEPS: u32 = 3;

/// Measures these layouts and gives the figures.
pub(crate) fn measure(layouts: &[Layout], folder: &Path, setting: Setting, plan: Plan) -> anyhow::Result<Figures> {
    let mut figures = Figures::default();
    let raw = RawDisk::create(&folder.join("raw"))?;
    let mut benches = Vec::new();
    for (number, layout) in layouts.iter().enumerate() {
        benches.push(preloaded(*layout, &folder.join(format!("{number}.redb")), setting, &mut figures)?);
    }
    for round in 0..plan.rounds {
        for bench in &mut benches {
            turn(bench, &raw, &mut figures)?;
        }
        eprintln!("round {} of {}", round + 1, plan.rounds);
    }
    for _ in 0..SWEEPS {
        for bench in &mut benches {
            sweep(bench, plan.sweep, Expired::Tombstone, "sweep to tombstone, us each", &mut figures)?;
            sweep(bench, plan.sweep, Expired::Nothing, "sweep to nothing, us each", &mut figures)?;
        }
    }
    Ok(figures)
}

fn preloaded(layout: Layout, path: &Path, setting: Setting, figures: &mut Figures) -> anyhow::Result<Bench> {
    let mut bench = Bench::open(layout, path, setting, 0)?;
    let spent = bench.preload(setting.records)?;
    let records = setting.records as f64;
    figures.add(layout.name, "preload /s", records / spent.seconds);
    figures.add(layout.name, "file B/record", bench.file_bytes()? as f64 / records);
    figures.add(layout.name, "used B/record", bench.used_bytes()? as f64 / records);
    eprintln!("preloaded {} in {:.1} s", layout.name, spent.seconds);
    Ok(bench)
}

fn turn(bench: &mut Bench, raw: &RawDisk, figures: &mut Figures) -> anyhow::Result<()> {
    let name = bench.layout.name;
    let disk = raw.synced_writes_per_second()?;
    figures.add(name, "raw syncs /s", disk);
    for (batch, pairs) in BATCHES {
        let spent = bench.pairs(pairs, batch)?;
        let speed = pairs as f64 / spent.seconds;
        figures.add(name, &format!("x{batch} pairs/s"), speed);
        figures.add(name, &format!("x{batch} pairs/raw"), speed / disk);
        traffic(figures, name, &format!("x{batch}"), spent);
    }
    let spent = bench.in_ledger(BATCHES[0].1, 1)?;
    let speed = BATCHES[0].1 as f64 / spent.seconds;
    figures.add(name, "one commit /s", speed);
    figures.add(name, "one commit /raw", speed / disk);
    traffic(figures, name, "one commit", spent);
    Ok(())
}

fn traffic(figures: &mut Figures, layout: &str, work: &str, spent: Spent) {
    let commits = spent.tally.syncs as f64;
    figures.add(layout, &format!("{work} KB/commit"), spent.tally.written_bytes as f64 / commits / 1_000.0);
    figures.add(layout, &format!("{work} writes/commit"), spent.tally.writes as f64 / commits);
}

fn sweep(
    bench: &mut Bench,
    limit: usize,
    becomes: Expired,
    measure: &str,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    let (spent, moved) = bench.sweep(limit, becomes)?;
    figures.add(bench.layout.name, measure, spent.seconds * 1e6 / moved as f64);
    Ok(())
}
