//! Everything, as lines of JSON.

use indicatif::ProgressBar;
use keyledger::admin::{Entry, EntryQuery, Record, RecordQuery, Records, Reply, Request};
use serde::Serialize;
use std::io::{BufWriter, IsTerminal, Write};

use super::Desk;
use crate::damage::Passed;
use crate::failure::{Failure, Result};
use crate::progress;

/// What is in memory at a time.
const PAGE: usize = 64;

/// Everything that can be read. Of what cannot, the standard error tells, and so does the exit code.
pub(super) fn run(desk: &Desk, without_outbox: bool) -> Result<()> {
    let mut lines = BufWriter::new(std::io::stdout().lock());
    let mut passed = Passed::nothing(desk.output);
    let mut written = 0;
    // On one screen with the lines it would only be in their way.
    let bar = if std::io::stdout().is_terminal() { ProgressBar::hidden() } else { progress::spinner("exported") };
    records(desk, &mut passed, |record| {
        bar.inc(1);
        written += 1;
        write(&mut lines, &Reply::Record(Box::new(record)))
    })?;
    if !without_outbox {
        entries(desk, &mut passed, |entry| {
            bar.inc(1);
            write(&mut lines, &Reply::Entry(Box::new(entry)))
        })?;
    }
    bar.finish_and_clear();
    lines.flush()?;
    let beside = if passed.is_nothing() { String::new() } else { own_count(desk, written) };
    passed.end(&beside)
}

fn records(desk: &Desk, passed: &mut Passed, mut each: impl FnMut(Record) -> Result<()>) -> Result<()> {
    let mut query =
        RecordQuery { limit: PAGE, contents: true, by_place: true, past_damage: true, ..RecordQuery::default() };
    loop {
        let Reply::Records { records, next, unreadable } = desk.ask(&Request::List(query.clone()))? else {
            return Err(Failure::other_answer());
        };
        passed.tell(&unreadable);
        records.into_iter().try_for_each(&mut each)?;
        match next {
            Some(next) => query.after = Some(next),
            None => return Ok(()),
        }
    }
}

fn entries(desk: &Desk, passed: &mut Passed, mut each: impl FnMut(Entry) -> Result<()>) -> Result<()> {
    let mut query = EntryQuery { limit: PAGE, contents: true, past_damage: true, ..EntryQuery::default() };
    loop {
        let Reply::Entries { entries, next, unreadable } = desk.ask(&Request::Entries(query.clone()))? else {
            return Err(Failure::other_answer());
        };
        passed.tell(&unreadable);
        entries.into_iter().try_for_each(&mut each)?;
        match next {
            Some(next) => query.after = Some(next),
            None => return Ok(()),
        }
    }
}

/// How many records the ledger itself counts, where that can be read: a place may hold many.
fn own_count(desk: &Desk, written: u64) -> String {
    let Ok(Reply::Stats(stats)) = desk.ask(&Request::Stats) else { return String::new() };
    let Records { in_progress, released, completed, failed, parked, tombstone } = stats.records;
    let all = in_progress + released + completed + failed + parked + tombstone;
    format!(" ({written} of {all} records, by the ledger's own count)")
}

fn write(lines: &mut impl Write, value: &impl Serialize) -> Result<()> {
    serde_json::to_writer(&mut *lines, value).map_err(std::io::Error::from)?;
    Ok(lines.write_all(b"\n")?)
}
