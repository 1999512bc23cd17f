//! Pages of records.

use std::time::Duration;

use keyledger::admin::{Record, RecordQuery, Reply, Request};

use super::Desk;
use crate::arguments::{ListArguments, RecordFilter};
use crate::damage::Passed;
use crate::failure::{Failure, Result};
use crate::output::{Fit, Output, Table, Tone};
use crate::words;

pub(super) fn run(desk: &Desk, arguments: ListArguments) -> Result<()> {
    let ListArguments { filter, state, limit, after, all } = arguments;
    let state = state.map(|state| state.name().to_owned());
    let mut query = RecordQuery { state, limit, after, ..of_filter(filter) };
    let mut passed = Passed::nothing(desk.output);
    loop {
        let reply = match desk.ask(&Request::List(query.clone())) {
            Err(failure) if failure.is_damage() && !query.past_damage => {
                passed.tell_of(&failure);
                query.past_damage = true;
                continue;
            }
            answer => answer?,
        };
        desk.output.answer(&reply, |output| tell(output, &reply, all))?;
        let Reply::Records { next, unreadable, .. } = reply else { return Err(Failure::other_answer()) };
        passed.tell(&unreadable);
        match next {
            Some(next) if all => query.after = Some(next),
            Some(_) | None => return passed.end(""),
        }
    }
}

/// What the filter on the command line asks for, in pages of a hundred.
pub(super) fn of_filter(filter: RecordFilter) -> RecordQuery {
    let RecordFilter { operation, scope, key, older_than, newer_than } = filter;
    let age = |age: Duration| u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
    RecordQuery {
        operation,
        scope,
        key,
        older_than_ms: older_than.map(age),
        newer_than_ms: newer_than.map(age),
        limit: 100,
        ..RecordQuery::default()
    }
}

fn tell(output: Output, reply: &Reply, all: bool) -> Result<()> {
    let Reply::Records { records, next, .. } = reply else { return Err(Failure::other_answer()) };
    if records.is_empty() {
        return output.line("no records");
    }
    output.print(&table(output, records))?;
    match next {
        Some(next) if !all => output.line(format!("\nmore: --after {next}")),
        Some(_) | None => Ok(()),
    }
}

/// One record to a line.
pub(super) fn table(output: Output, records: &[Record]) -> Table {
    let mut table = Table::new(&[
        ("STATE", Fit::Cut),
        ("SCOPE", Fit::Cut),
        ("OPERATION", Fit::Cut),
        ("KEY", Fit::Cut),
        ("EFFECT", Fit::Spare),
        ("ATTEMPT", Fit::Spare),
        ("SINCE", Fit::Whole),
    ]);
    for record in records {
        let (state, tone) = state(record);
        table.add([
            output.cell(state, tone),
            output.cell(&record.scope, Tone::Plain),
            output.cell(&record.operation, Tone::Plain),
            output.cell(&record.key, Tone::Plain),
            output.cell(record.effect.replace('_', " "), Tone::Quiet),
            output.cell(record.attempt.to_string(), Tone::Quiet),
            output.cell(words::ago(since(record)), Tone::Plain),
        ]);
    }
    table
}

/// A record's state in words.
pub(super) fn state(record: &Record) -> (String, Tone) {
    match &record.parked {
        Some(parked) => (format!("parked: {}", parked.reason), Tone::Bad),
        None if record.lapsed => ("lapsed".to_owned(), Tone::Waiting),
        None => {
            let tone = match record.state.as_str() {
                "completed" => Tone::Good,
                "tombstone" | "released" => Tone::Quiet,
                _ => Tone::Plain,
            };
            (record.state.replace('_', " "), tone)
        }
    }
}

/// Since when it is so, as far as the record tells.
fn since(record: &Record) -> u64 {
    let parked = record.parked.as_ref().map(|parked| parked.since_ms);
    let lapsed = record.lease_end_ms.filter(|_| record.lapsed);
    parked.or(lapsed).or(record.settled_at_ms).unwrap_or(record.first_granted_at_ms)
}
