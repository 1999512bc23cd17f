//! Keeping the file in shape.

use std::path::Path;

use keyledger::admin::{Reply, Request, Swept};

use super::Desk;
use crate::arguments::Consent;
use crate::failure::{Failure, Result};
use crate::{interrupt, progress, words};

/// A batch at a time, each one commit, until nothing is due.
pub(super) fn sweep(desk: &Desk, batch: usize, consent: Consent) -> Result<()> {
    let Reply::Stats(stats) = desk.ask(&Request::Stats)? else { return Err(Failure::other_answer()) };
    let due = super::stats::bounded(stats.due);
    let records = if due == "1" { "record is past its time" } else { "records are past their time" };
    let what = "an answer becomes a tombstone, which still refuses, and a tombstone nothing";
    let entries = "settled entries of the outbox that have stayed long enough are removed";
    desk.confirm(&format!("{due} {records}: {what}; {entries}"), consent)?;
    let bar = progress::spinner("swept");
    let mut all: Option<Swept> = None;
    loop {
        let Reply::Swept(swept) = desk.ask(&Request::Sweep { limit: batch })? else {
            return Err(Failure::other_answer());
        };
        all = Some(all.map_or(swept, |all| added(all, swept)));
        bar.inc(swept.tombstoned + swept.removed + swept.entries_removed);
        if !swept.more {
            break;
        }
    }
    bar.finish_and_clear();
    let Some(swept) = all else { return Ok(()) };
    desk.output.answer(&Reply::Swept(swept), |output| {
        let Swept { tombstoned, removed, entries_removed, took_ms, .. } = swept;
        let (answers, records) =
            (words::count(tombstoned, "answer", "answers"), words::count(removed, "record", "records"));
        let entries = words::count(entries_removed, "entry", "entries");
        output.line(format!(
            "{answers} turned into tombstones, {records} removed, {entries} of the outbox removed, in {took_ms} ms"
        ))
    })
}

fn added(all: Swept, swept: Swept) -> Swept {
    Swept {
        tombstoned: all.tombstoned + swept.tombstoned,
        removed: all.removed + swept.removed,
        entries_removed: all.entries_removed + swept.entries_removed,
        took_ms: all.took_ms + swept.took_ms,
        ..swept
    }
}

pub(super) fn compact(desk: &Desk, even_with_claims: bool, consent: Consent) -> Result<()> {
    let whom = if desk.is_live() { "; all calls of the process that has it open wait meanwhile" } else { "" };
    desk.confirm(&format!("The file will be compacted{whom}"), consent)?;
    let spinner = progress::spinner("compacting");
    let reply = desk.ask(&Request::Compact { even_with_claims }).map_err(as_the_option_is_named)?;
    spinner.finish_and_clear();
    desk.output.answer(&reply, |output| match reply {
        Reply::Compacted { before_bytes, after_bytes } => {
            output.line(format!("{} before, {} after", words::bytes(before_bytes), words::bytes(after_bytes)))
        }
        _ => Err(Failure::other_answer()),
    })
}

fn as_the_option_is_named(failure: Failure) -> Failure {
    let Failure { code, message } = failure;
    Failure { code, message: message.replace("say even_with_claims", "--even-with-claims compacts all the same") }
}

pub(super) fn check(desk: &Desk) -> Result<()> {
    let spinner = progress::spinner("checking");
    let reply = desk.ask(&Request::Check)?;
    spinner.finish_and_clear();
    desk.output.answer(&reply, |output| {
        let Reply::Checked { records, rows, entries, faults, .. } = &reply else {
            return Err(Failure::other_answer());
        };
        let (rows, entries) = (words::count(*rows, "row", "rows"), words::count(*entries, "entry", "entries"));
        let records = words::count(*records, "record", "records");
        let read = if faults.is_empty() { "" } else { " could be read" };
        output.line(format!("{records}, {rows} of the program's own, {entries} of the outbox{read}"))?;
        faults.iter().try_for_each(|fault| output.line(crate::output::printable(fault)))
    })?;
    match reply {
        Reply::Checked { fault_count: 0, .. } if desk.output.json => Ok(()),
        Reply::Checked { fault_count: 0, .. } => desk.output.line("all is well"),
        Reply::Checked { fault_count, .. } => {
            let faults = words::count(fault_count, "fault", "faults");
            Err(Failure::new("not_well", format!("{faults} found; restore a snapshot, or `export` what can be read")))
        }
        _ => Err(Failure::other_answer()),
    }
}

pub(super) fn snapshot(desk: &Desk, to: &Path) -> Result<()> {
    let path = std::path::absolute(to).map_err(|error| Failure::of_file(to, &error))?;
    if path.symlink_metadata().is_ok() {
        return Err(Failure::new("file_exists", format!("{}: it is there already; name a new file", to.display())));
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) {
        return Err(Failure::new("no_file", format!("{}: there is no such folder", folder.display())));
    }
    interrupt::copies_to(&path);
    let spinner = progress::spinner("copying");
    let reply = desk.ask(&Request::Snapshot { path })?;
    spinner.finish_and_clear();
    desk.output.answer(&reply, |output| {
        output.line(format!(
            "{}: a copy of {}; it is another ledger, with fences of its own",
            to.display(),
            desk.file.display()
        ))
    })
}
