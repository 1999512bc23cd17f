//! Counts and rates, again and again.

use std::path::Path;
use std::time::{Duration, Instant};

use keyledger::admin::{Reply, Request, Stats};
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::reach::{Purpose, Reach};
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
    let reach = Reach::of(file, Purpose::Look)?;
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

/// In eighty columns: the first five are records, then the outbox.
fn tell(output: Output, look: u64, stats: &Stats, rates: Option<Rates>) -> Result<()> {
    const HEADINGS: [(&str, usize); 9] = [
        ("PARKED", 6),
        ("LAPSED", 6),
        ("IN PROGRESS", 11),
        ("COMPLETED", 9),
        ("PER S", 6),
        ("FAILED", 7),
        ("TO SEND", 7),
        ("ANSWERED", 8),
        ("FILE", 10),
    ];
    const LOOKS_PER_HEADING: u64 = 20;
    let records = &stats.records;
    let answered = stats.outbox.entries.get("answered").copied().unwrap_or_default();
    let lapsed = if stats.lapsed.or_more { format!("{}+", stats.lapsed.count) } else { stats.lapsed.count.to_string() };
    let cells = [
        records.parked.to_string(),
        lapsed,
        records.in_progress.to_string(),
        records.completed.to_string(),
        rates.map_or_else(String::new, |rates| format!("{:.1}", rates.completed)),
        records.failed.to_string(),
        stats.outbox.unsettled.to_string(),
        answered.to_string(),
        words::bytes(stats.file_bytes),
    ];
    let line = |cells: [&str; 9]| {
        let padded = cells.iter().zip(HEADINGS).map(|(cell, (_, width))| format!("{cell:>width$}"));
        padded.collect::<Vec<_>>().join(" ")
    };
    if look.is_multiple_of(LOOKS_PER_HEADING) {
        output.line(line(HEADINGS.map(|(name, _)| name)))?;
    }
    output.line(line(cells.each_ref().map(String::as_str)))
}
