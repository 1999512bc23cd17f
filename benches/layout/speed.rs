//! Speed, traffic and sweep of layouts, measured in turns so that noise meets all of them alike.

use crate::bench::{Bench, Spent};
use crate::figures::Figures;
use crate::ops::Expired;
use crate::raw::RawDisk;

const BATCHES: [(u64, u64); 3] = [(1, 100), (64, 640), (256, 1_024)];
const SWEEP_ROUNDS: u32 = 3;

/// Pairs and single commits, in turns.
pub(crate) fn measure(benches: &mut [Bench], raw: &RawDisk, rounds: u32, figures: &mut Figures) -> anyhow::Result<()> {
    for round in 0..rounds {
        for bench in &mut *benches {
            turn(bench, raw, figures)?;
        }
        eprintln!("speed: round {} of {rounds}", round + 1);
    }
    Ok(())
}

/// Sweeps of `limit` records, to tombstones and to nothing, in turns.
pub(crate) fn measure_sweep(benches: &mut [Bench], limit: usize, figures: &mut Figures) -> anyhow::Result<()> {
    for _ in 0..SWEEP_ROUNDS {
        for bench in &mut *benches {
            sweep(bench, limit, Expired::Tombstone, "sweep to tombstone", figures)?;
            sweep(bench, limit, Expired::Nothing, "sweep to nothing", figures)?;
        }
    }
    Ok(())
}

fn turn(bench: &mut Bench, raw: &RawDisk, figures: &mut Figures) -> anyhow::Result<()> {
    let name = bench.label.clone();
    let disk = raw.synced_writes_per_second()?;
    figures.add(&name, "raw syncs /s", disk);
    for (batch, pairs) in BATCHES {
        let spent = bench.pairs(pairs, batch)?;
        let speed = pairs as f64 / spent.seconds;
        figures.add(&name, &format!("x{batch} pairs/s"), speed);
        figures.add(&name, &format!("x{batch} pairs/raw"), speed / disk);
        traffic(figures, &name, &format!("x{batch}"), spent);
    }
    let spent = bench.in_ledger(BATCHES[0].1, 1)?;
    let speed = BATCHES[0].1 as f64 / spent.seconds;
    figures.add(&name, "one commit /s", speed);
    figures.add(&name, "one commit /raw", speed / disk);
    traffic(figures, &name, "one commit", spent);
    Ok(())
}

fn traffic(figures: &mut Figures, layout: &str, work: &str, spent: Spent) {
    let commits = spent.tally.syncs as f64;
    figures.add(layout, &format!("{work} KB/commit"), spent.tally.written_bytes as f64 / commits / 1_000.0);
    figures.add(layout, &format!("{work} writes/commit"), spent.tally.writes as f64 / commits);
}

fn sweep(bench: &mut Bench, limit: usize, becomes: Expired, work: &str, figures: &mut Figures) -> anyhow::Result<()> {
    let (spent, moved) = bench.sweep(limit, becomes)?;
    let name = bench.label.clone();
    figures.add(&name, &format!("{work}, us each"), spent.seconds * 1e6 / moved as f64);
    figures.add(&name, &format!("{work}, ms"), spent.seconds * 1e3);
    figures.add(&name, &format!("{work}, KB each"), spent.tally.written_bytes as f64 / 1e3 / moved as f64);
    Ok(())
}
