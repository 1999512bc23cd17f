//! How a ledger and its outbox stand.

use keyledger::admin::{Bounded, Reply, Request, Stats};
use serde::Serialize;

use super::Desk;
use crate::failure::{Failure, Result};
use crate::output::{Fit, Output, Table, Tone};
use crate::words;

/// One object.
#[derive(Serialize)]
struct StatsAndSizes<'a> {
    #[serde(flatten)]
    stats: &'a Reply,
    #[serde(skip_serializing_if = "Option::is_none")]
    sizes: Option<serde_json::Value>,
}

pub(super) fn run(desk: &Desk, sizes: bool) -> Result<()> {
    let reply = desk.ask(&Request::Stats)?;
    let found = sizes.then(|| desk.ask(&Request::Sizes)).transpose()?;
    if desk.output.json {
        let mut sizes = found.map(serde_json::to_value).transpose().map_err(std::io::Error::from)?;
        if let Some(sizes) = sizes.as_mut().and_then(serde_json::Value::as_object_mut) {
            // It is no answer of its own here.
            sizes.remove("kind");
        }
        return desk.output.json(&StatsAndSizes { stats: &reply, sizes });
    }
    let Reply::Stats(stats) = reply else { return Err(Failure::other_answer()) };
    let reached = if desk.is_live() { "through the process that has it open" } else { "from the file" };
    desk.output.pairs(&rows(&stats, reached))?;
    tell_lanes(desk.output, &stats)?;
    found.map_or(Ok(()), |sizes| tell_sizes(desk.output, &sizes))
}

fn rows(stats: &Stats, reached: &str) -> Vec<(&'static str, String, Tone)> {
    let waiting = |count: u64, tone: Tone| if count > 0 { tone } else { Tone::Plain };
    let records = &stats.records;
    let mut rows = vec![
        ("read", reached.to_owned(), Tone::Quiet),
        ("parked", records.parked.to_string(), waiting(records.parked, Tone::Bad)),
        ("lapsed", bounded(stats.lapsed), waiting(stats.lapsed.count, Tone::Waiting)),
        ("in progress", records.in_progress.to_string(), Tone::Plain),
        ("released", records.released.to_string(), Tone::Plain),
        ("completed", records.completed.to_string(), Tone::Plain),
        ("failed", records.failed.to_string(), Tone::Plain),
        ("tombstones", records.tombstone.to_string(), Tone::Plain),
        ("to be swept", bounded(stats.due), Tone::Plain),
        ("file", words::bytes(stats.file_bytes), Tone::Plain),
    ];
    let instants =
        [("oldest unsettled", stats.oldest_unsettled_at_ms), ("last sweep", stats.last_sweep.map(|at| at.at_ms))];
    let told = instants.into_iter().filter_map(|(name, at)| at.map(|at| (name, words::instant(at), Tone::Plain)));
    rows.extend(told);
    rows.push(("outbox", outbox(stats), Tone::Plain));
    rows
}

fn outbox(stats: &Stats) -> String {
    let order = ["unknown", "held", "dead", "sending", "pending", "answered", "cancelled"];
    let some = order.iter().filter_map(|state| {
        let count = stats.outbox.entries.get(*state).copied().unwrap_or_default();
        (count > 0).then(|| format!("{count} {state}"))
    });
    let some: Vec<String> = some.collect();
    if some.is_empty() { "empty".to_owned() } else { some.join(", ") }
}

pub(super) fn bounded(Bounded { count, or_more }: Bounded) -> String {
    if or_more { format!("{count} or more") } else { count.to_string() }
}

fn tell_lanes(output: Output, stats: &Stats) -> Result<()> {
    if stats.outbox.lanes.is_empty() {
        return Ok(());
    }
    let mut table =
        Table::new(&[("SCOPE", Fit::Cut), ("LANE", Fit::Cut), ("HELD", Fit::Cut), ("PAUSED UNTIL", Fit::Whole)]);
    for lane in &stats.outbox.lanes {
        let held = lane.held.clone().unwrap_or_default();
        let paused = lane.paused_until_ms.map(words::instant).unwrap_or_default();
        table.add([
            output.cell(&lane.scope, Tone::Plain),
            output.cell(&lane.lane, Tone::Plain),
            output.cell(held, Tone::Waiting),
            output.cell(paused, Tone::Plain),
        ]);
    }
    output.line("")?;
    output.print(&table)
}

fn tell_sizes(output: Output, reply: &Reply) -> Result<()> {
    let Reply::Sizes { stored_bytes, overhead_bytes, free_bytes, leaked_bytes, .. } = reply else {
        return Err(Failure::other_answer());
    };
    let row = |name, size: u64| (name, words::bytes(size), Tone::Plain);
    output.line("\nthe file's bytes:")?;
    output.pairs(&[
        row("stored: keys and values", *stored_bytes),
        row("overhead: of the trees that they are in", *overhead_bytes),
        row("free: to be written again, or given back by `compact`", *free_bytes),
        row("leaked: neither free nor in use", *leaked_bytes),
    ])
}
