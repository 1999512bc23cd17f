//! What the user's own disk gives.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use keyledger::{Decision, Fingerprint, Key, Ledger, Operation, Response, Scope};
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::interrupt::Unfinished;
use crate::output::{Fit, Output, Table, Tone};
use crate::progress;

/// Callers at a time.
const CALLERS: [usize; 3] = [1, 8, 64];
/// Synced writes, and each number of callers.
const PARTS: u32 = 4;
/// What a small commit writes.
const BLOCK: [u8; 4096] = [7; 4096];

static CHARGE: Operation = Operation::repeatable("bench");

/// What was measured.
#[derive(Serialize)]
struct Measured {
    kind: &'static str,
    folder: PathBuf,
    synced_writes_per_second: f64,
    begin_complete: Vec<Crowd>,
}

#[derive(Serialize)]
struct Crowd {
    callers: usize,
    per_second: f64,
    median_ms: f64,
    p99_ms: f64,
}

/// In a folder of its own on that disk, which is taken away again; the ledger's file is not touched.
pub(super) fn run(output: Output, seconds: u64, folder: Option<&Path>, file: Option<&Path>) -> Result<()> {
    let beside = file.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.or(beside).unwrap_or(Path::new(".")).to_owned();
    if !folder.is_dir() {
        return Err(Failure::new("no_file", format!("{}: there is no such folder", folder.display())));
    }
    let part = Duration::from_secs(seconds) / PARTS;
    let bar = progress::bar(u64::from(PARTS), "measuring");
    let synced_writes_per_second = synced_writes(&folder, part)?;
    bar.inc(1);
    let mut begin_complete = Vec::new();
    for callers in CALLERS {
        begin_complete.push(crowd(&folder, callers, part)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let measured = Measured { kind: "bench", folder, synced_writes_per_second, begin_complete };
    output.answer(&measured, |output| tell(output, &measured))
}

fn named(folder: &Path, what: &str) -> Unfinished {
    Unfinished::at(folder.join(format!(".keyledger-bench-{}-{what}", std::process::id())))
}

/// The same 4 KiB over and over, each time synced.
fn synced_writes(folder: &Path, span: Duration) -> Result<f64> {
    let scratch = named(folder, "writes");
    let failed = |error| Failure::of_file(scratch.path(), &error);
    let mut file = File::create_new(scratch.path()).map_err(failed)?;
    let (began, mut count) = (Instant::now(), 0_u32);
    while began.elapsed() < span {
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.write_all(&BLOCK))
            .and_then(|()| file.sync_data())
            .map_err(failed)?;
        count += 1;
    }
    Ok(f64::from(count) / began.elapsed().as_secs_f64())
}

fn crowd(folder: &Path, callers: usize, span: Duration) -> Result<Crowd> {
    let scratch = named(folder, &format!("{callers}.kl"));
    let ledger = Ledger::open(scratch.path())?;
    let (began, next) = (Instant::now(), AtomicU64::new(0));
    let calls = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..callers).map(|_| scope.spawn(|| call(&ledger, &next, began, span))).collect();
        let joined = callers
            .into_iter()
            .map(|caller| caller.join().map_err(|_| Failure::new("storage", "a caller panicked"))?);
        joined.collect::<Result<Vec<_>>>()
    })?;
    let took = began.elapsed();
    ledger.close()?;
    let mut calls: Vec<Duration> = calls.into_iter().flatten().collect();
    calls.sort_unstable();
    let at = |share: usize| calls.get(calls.len() * share / 100).map_or(0.0, |call| call.as_secs_f64() * 1000.0);
    #[expect(clippy::cast_precision_loss, reason = "for people to read")]
    let per_second = calls.len() as f64 / took.as_secs_f64();
    Ok(Crowd { callers, per_second, median_ms: at(50), p99_ms: at(99) })
}

/// How long each `begin` with its `complete` took.
fn call(ledger: &Ledger, next: &AtomicU64, began: Instant, span: Duration) -> Result<Vec<Duration>> {
    let mut calls = Vec::new();
    while began.elapsed() < span {
        let key =
            Key::new(format!("bench {}", next.fetch_add(1, Ordering::Relaxed))).map_err(keyledger::Error::from)?;
        let start = Instant::now();
        let asked = Fingerprint::of_bytes(&[b"bench"]);
        if let Decision::Acquired(claim) = ledger.begin(&CHARGE, &Scope::single(), &key, asked)? {
            claim.complete(Response::text("done")).map_err(keyledger::Error::from)?;
        }
        calls.push(start.elapsed());
    }
    Ok(calls)
}

fn tell(output: Output, measured: &Measured) -> Result<()> {
    let Measured { folder, synced_writes_per_second: writes, begin_complete, .. } = measured;
    output.line(format!("{}: {writes:.0} synced writes a second\n", folder.display()))?;
    let mut table =
        Table::new(&["CALLERS", "BEGIN + COMPLETE / S", "MEDIAN", "99 OF 100"].map(|heading| (heading, Fit::Whole)));
    for Crowd { callers, per_second, median_ms, p99_ms } in begin_complete {
        let words =
            [callers.to_string(), format!("{per_second:.0}"), format!("{median_ms:.2} ms"), format!("{p99_ms:.2} ms")];
        table.add(words.map(|word| output.cell(word, Tone::Plain)));
    }
    output.print(&table)?;
    output.line("\nEach is two commits (Repeatable); callers at the same time share them.")
}
