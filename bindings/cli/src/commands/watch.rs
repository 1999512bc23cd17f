//! Counts and rates, again and again.

use std::path::Path;
use std::time::{Duration, Instant};

use keyledger::admin::{Reply, Request, Stats};
use serde::Serialize;

use super::stats::bounded;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::reach::Reach;
use crate::words;

/// One look.
#[derive(Serialize)]
struct Look<'a> {
    kind: &'static str,
    #[serde(flatten)]
    stats: &'a Stats,
    /// Since the look before; absent in the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    per_second: Option<Rates>,
}

/// How much more there is each second.
#[derive(Serialize, Clone, Copy)]
struct Rates {
    completed: f64,
    failed: f64,
    parked: f64,
    answered: f64,
}

/// A file that nobody has open is let go between looks, so that a program can open it.
pub(super) fn run(output: Output, file: &Path, every: Duration, times: Option<u64>) -> Result<()> {
    let mut before: Option<(Instant, Stats)> = None;
    for look in 0..times.unwrap_or(u64::MAX) {
        if look > 0 {
            std::thread::sleep(every);
        }
        let stats = look_at(file)?;
        let now = Instant::now();
        let rates = before.as_ref().map(|(at, then)| rates(then, &stats, now.duration_since(*at)));
        output.answer(&Look { kind: "watch", stats: &stats, per_second: rates }, |output| {
            tell(output, look, &stats, rates)
        })?;
        before = Some((now, stats));
    }
    Ok(())
}

fn look_at(file: &Path) -> Result<Stats> {
    let reach = Reach::of(file)?;
    let reply = reach.ask(&Request::Stats);
    reach.close()?;
    match reply? {
        Reply::Stats(stats) => Ok(*stats),
        _ => Err(Failure::other_answer()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn rates(then: &Stats, now: &Stats, took: Duration) -> Rates {
    let per_second = |then: u64, now: u64| (now as f64 - then as f64) / took.as_secs_f64().max(0.001);
    let answered = |stats: &Stats| stats.outbox.entries.get("answered").copied().unwrap_or_default();
    Rates {
        completed: per_second(then.records.completed, now.records.completed),
        failed: per_second(then.records.failed, now.records.failed),
        parked: per_second(then.records.parked, now.records.parked),
        answered: per_second(answered(then), answered(now)),
    }
}

fn tell(output: Output, look: u64, stats: &Stats, rates: Option<Rates>) -> Result<()> {
    const HEADINGS: [&str; 8] = ["PARKED", "LAPSED", "RUNNING", "COMPLETED", "FAILED", "UNSETTLED", "ANSWERED", "FILE"];
    const LOOKS_PER_HEADING: u64 = 20;
    let with = |count: String, rate: Option<f64>| rate.map_or(count.clone(), |rate| format!("{count} ({rate:+.1}/s)"));
    let records = &stats.records;
    let answered = stats.outbox.entries.get("answered").copied().unwrap_or_default();
    let cells = [
        with(records.parked.to_string(), rates.map(|rates| rates.parked)),
        bounded(stats.lapsed),
        records.in_progress.to_string(),
        with(records.completed.to_string(), rates.map(|rates| rates.completed)),
        with(records.failed.to_string(), rates.map(|rates| rates.failed)),
        stats.outbox.unsettled.to_string(),
        with(answered.to_string(), rates.map(|rates| rates.answered)),
        words::bytes(stats.file_bytes),
    ];
    let line = |cells: &[String]| cells.iter().map(|cell| format!("{cell:<17}")).collect::<Vec<_>>().join(" ");
    if look.is_multiple_of(LOOKS_PER_HEADING) {
        output.line(line(&HEADINGS.map(str::to_owned)).trim_end())?;
    }
    output.line(line(&cells).trim_end())
}
