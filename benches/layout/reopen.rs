//! How long a file takes to open after its process was killed in the middle of writing.

use crate::bench::{Bench, Setting, data_file};
use crate::choice::Layout;
use crate::figures::Figures;
use anyhow::{Context, ensure};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PAIRS_BEFORE_READY: u64 = 200;
/// Records that a child of an earlier round cannot have reached.
const STRIDE: u64 = 10_000_000;

/// What the child does when it is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Killed {
    /// It goes on writing.
    Writing,
    /// It has made a last commit with quick repair.
    AfterQuickRepair,
}

/// Kills a writer `rounds` times over each layout and times each opening.
pub(crate) fn measure(
    layouts: &[Layout],
    folder: &Path,
    setting: Setting,
    rounds: u32,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    for round in 0..rounds {
        for (number, layout) in layouts.iter().enumerate() {
            let path = data_file(folder, number);
            let start = STRIDE * u64::from(2 * round + 1);
            let spent = killed(*layout, &path, setting, start, Killed::Writing)?;
            figures.add(layout.name, "open after kill in writing, ms", spent);
            let spent = killed(*layout, &path, setting, start + STRIDE, Killed::AfterQuickRepair)?;
            figures.add(layout.name, "open after quick repair commit, ms", spent);
        }
    }
    Ok(())
}

/// The child: writes until it is killed.
pub(crate) fn write_until_killed(
    layout: Layout,
    path: &Path,
    setting: Setting,
    start: u64,
    quick_repair: bool,
) -> anyhow::Result<()> {
    let mut bench = Bench::open(layout, path, setting, start)?;
    bench.pairs(PAIRS_BEFORE_READY, 1)?;
    if quick_repair {
        bench.set_quick_repair();
        bench.pairs(1, 1)?;
        println!("ready");
        std::thread::sleep(Duration::from_mins(1));
        return Ok(());
    }
    println!("ready");
    loop {
        bench.pairs(256, 64)?;
    }
}

fn killed(layout: Layout, path: &Path, setting: Setting, start: u64, how: Killed) -> anyhow::Result<f64> {
    let mut child = spawn(layout, path, setting, start, how)?;
    let ready = wait_until_ready(&mut child);
    std::thread::sleep(Duration::from_millis(50 + start / STRIDE % 7));
    child.kill()?;
    child.wait()?;
    ready?;
    let start = Instant::now();
    let bench = Bench::open(layout, path, setting, 0)?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    drop(bench);
    Ok(milliseconds)
}

fn spawn(layout: Layout, path: &Path, setting: Setting, start: u64, how: Killed) -> anyhow::Result<Child> {
    let folder = path.parent().context("a data file has a folder")?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--folder").arg(folder).arg("--records").arg(setting.records.to_string());
    command.arg("--body").arg(setting.body_bytes.to_string());
    command.arg("--cache-mib").arg((setting.cache_bytes >> 20).to_string());
    command.arg("--child-layout").arg(layout.name).arg("--child-file").arg(path);
    command.arg("--child-start").arg(start.to_string());
    if how == Killed::AfterQuickRepair {
        command.arg("--child-quick-repair");
    }
    Ok(command.stdout(Stdio::piped()).spawn()?)
}

fn wait_until_ready(child: &mut Child) -> anyhow::Result<()> {
    let output = child.stdout.take().context("the child's output is a pipe")?;
    let mut line = String::new();
    BufReader::new(output.take(64)).read_line(&mut line)?;
    ensure!(line == "ready\n", "the child ended before it was ready");
    Ok(())
}
