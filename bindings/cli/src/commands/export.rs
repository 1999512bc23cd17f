//! Everything, as lines of JSON.

use indicatif::ProgressBar;
use keyledger::admin::{Entry, EntryQuery, Record, RecordQuery, Reply, Request};
use serde::Serialize;
use std::io::{BufWriter, IsTerminal, Write};

use super::Desk;
use crate::failure::{Failure, Result};
use crate::progress;

/// What is in memory at a time.
const PAGE: usize = 64;

pub(super) fn run(desk: &Desk, without_outbox: bool) -> Result<()> {
    let mut lines = BufWriter::new(std::io::stdout().lock());
    // On one screen with the lines it would only be in their way.
    let bar = if std::io::stdout().is_terminal() { ProgressBar::hidden() } else { progress::spinner("exported") };
    records(desk, |record| {
        bar.inc(1);
        write(&mut lines, &Reply::Record(Box::new(record)))
    })?;
    if !without_outbox {
        entries(desk, |entry| {
            bar.inc(1);
            write(&mut lines, &Reply::Entry(Box::new(entry)))
        })?;
    }
    bar.finish_and_clear();
    Ok(lines.flush()?)
}

fn records(desk: &Desk, mut each: impl FnMut(Record) -> Result<()>) -> Result<()> {
    let mut query = RecordQuery { limit: PAGE, contents: true, by_place: true, ..RecordQuery::default() };
    loop {
        let Reply::Records { records, next } = desk.ask(&Request::List(query.clone()))? else {
            return Err(Failure::other_answer());
        };
        records.into_iter().try_for_each(&mut each)?;
        match next {
            Some(next) => query.after = Some(next),
            None => return Ok(()),
        }
    }
}

fn entries(desk: &Desk, mut each: impl FnMut(Entry) -> Result<()>) -> Result<()> {
    let mut query = EntryQuery { limit: PAGE, contents: true, ..EntryQuery::default() };
    loop {
        let Reply::Entries { entries, next } = desk.ask(&Request::Entries(query.clone()))? else {
            return Err(Failure::other_answer());
        };
        entries.into_iter().try_for_each(&mut each)?;
        match next {
            Some(next) => query.after = Some(next),
            None => return Ok(()),
        }
    }
}

fn write(lines: &mut impl Write, value: &impl Serialize) -> Result<()> {
    serde_json::to_writer(&mut *lines, value).map_err(std::io::Error::from)?;
    Ok(lines.write_all(b"\n")?)
}
