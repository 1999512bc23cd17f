//! What redb's cache is worth: one layout's file, copied, opened with caches of several sizes.

use crate::bench::{Bench, Setting, data_file, warm};
use crate::choice::Layout;
use crate::figures::Figures;
use crate::raw::RawDisk;
use crate::{reads, speed};
use anyhow::Context;
use std::path::Path;

const CACHES_MIB: [usize; 4] = [16, 64, 256, 1_024];

/// Pairs and reads of the first layout, whose file is closed, with each cache in turns.
pub(crate) fn measure(
    layouts: &[Layout],
    folder: &Path,
    setting: Setting,
    rounds: u32,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    let layout = layouts.first().context("no layout was chosen")?;
    let mut benches = Vec::new();
    for mib in CACHES_MIB {
        let path = folder.join(format!("cache-{mib}.redb"));
        std::fs::copy(data_file(folder, 0), &path)?;
        let setting = Setting { cache_bytes: mib << 20, ..setting };
        let mut bench = Bench::open(*layout, &path, setting, setting.records)?;
        bench.label = format!("{}, cache {mib} MiB", layout.name);
        benches.push(bench);
    }
    for bench in &benches {
        warm(&bench.path)?;
    }
    let raw = RawDisk::create(&folder.join("raw"))?;
    speed::measure(&mut benches, &raw, rounds, figures)?;
    reads::measure(&mut benches, setting.records, rounds, figures)
}
