//! Keeping the file in shape.

use std::path::Path;

use keyledger::admin::{Reply, Request, Swept};

use super::Desk;
use crate::confirm::confirm;
use crate::failure::{Failure, Result};
use crate::{interrupt, progress, words};

/// A batch at a time, each one commit, until nothing is due.
pub(super) fn sweep(desk: &Desk, batch: usize) -> Result<()> {
    if batch == 0 {
        return Err(Failure::invalid("a batch holds at least one record"));
    }
    let what = "Records past their time will become tombstones, and those past all their times nothing";
    confirm(what, desk.yes)?;
    let bar = progress::spinner("swept");
    let mut all: Option<Swept> = None;
    loop {
        let Reply::Swept(swept) = desk.reach.ask(&Request::Sweep { limit: batch })? else {
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
        output.line(format!("{tombstoned} became tombstones, {removed} were removed, {entries_removed} entries of the outbox too, in {took_ms} ms"))
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

pub(super) fn compact(desk: &Desk, even_with_claims: bool) -> Result<()> {
    let whom = if desk.reach.is_live() { "; all calls of the process that has it open wait meanwhile" } else { "" };
    confirm(&format!("The file will be compacted{whom}"), desk.yes)?;
    let spinner = progress::spinner("compacting");
    let reply = desk.reach.ask(&Request::Compact { even_with_claims })?;
    spinner.finish_and_clear();
    desk.output.answer(&reply, |output| match reply {
        Reply::Compacted { before_bytes, after_bytes } => {
            output.line(format!("{} before, {} after", words::bytes(before_bytes), words::bytes(after_bytes)))
        }
        _ => Err(Failure::other_answer()),
    })
}

pub(super) fn check(desk: &Desk) -> Result<()> {
    let spinner = progress::spinner("checking");
    let reply = desk.reach.ask(&Request::Check)?;
    spinner.finish_and_clear();
    desk.output.answer(&reply, |output| {
        let Reply::Checked { records, rows, entries, faults, .. } = &reply else {
            return Err(Failure::other_answer());
        };
        output.line(format!("{records} records, {rows} rows of the program's own, {entries} entries of the outbox"))?;
        faults.iter().try_for_each(|fault| output.line(crate::output::printable(fault)))
    })?;
    match reply {
        Reply::Checked { fault_count: 0, .. } if desk.output.json => Ok(()),
        Reply::Checked { fault_count: 0, .. } => desk.output.line("all is well"),
        Reply::Checked { fault_count, .. } => {
            let faults = words::count(fault_count, "fault", "faults");
            Err(Failure::new("not_well", format!("{faults} found; restore a snapshot, or export what can be read")))
        }
        _ => Err(Failure::other_answer()),
    }
}

pub(super) fn snapshot(desk: &Desk, to: &Path) -> Result<()> {
    let path = std::path::absolute(to).map_err(|error| Failure::of_file(to, &error))?;
    if path.symlink_metadata().is_ok() {
        return Err(Failure::new("unavailable", format!("{}: it is there already; name a new file", to.display())));
    }
    interrupt::copies_to(&path);
    let spinner = progress::spinner("copying");
    let reply = desk.reach.ask(&Request::Snapshot { path })?;
    spinner.finish_and_clear();
    desk.output.answer(&reply, |output| {
        output.line(format!(
            "{}: a copy of {}; it is another ledger, with fences of its own",
            to.display(),
            desk.file.display()
        ))
    })
}
