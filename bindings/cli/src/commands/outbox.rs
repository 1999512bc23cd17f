//! The outbox.

mod look;
mod many;

use keyledger::admin::{Entry, EntryOutcome, Reply, Request};

use super::Desk;
use super::resolve::is_by;
use crate::arguments::{Consent, OutboxCommand, Person, Which};
use crate::failure::{Failure, Result};
use crate::words;

pub(super) fn run(desk: &Desk, command: OutboxCommand) -> Result<()> {
    match command {
        OutboxCommand::List(arguments) => look::list(desk, arguments),
        OutboxCommand::Show { id } => look::show(desk, &Request::Entry { id }),
        OutboxCommand::Requeue { which, consent } => change(desk, &Change::Requeue, which, consent),
        OutboxCommand::Cancel { which, consent } => change(desk, &Change::Cancel, which, consent),
        OutboxCommand::Dismiss { which, person, consent } => change(desk, &Change::Dismiss(person), which, consent),
        OutboxCommand::Resend { id, person, consent } => resend(desk, id, &person, consent),
        OutboxCommand::Resume { id: Some(id), consent, .. } => {
            desk.confirm(&format!("Entry {id} will be due again"), consent)?;
            look::show(desk, &Request::ResumeEntry { id })
        }
        OutboxCommand::Resume { scope, consent, .. } => resume(desk, scope.unwrap_or_default(), consent),
    }
}

/// What can be done to one entry, or to many.
enum Change {
    Requeue,
    Cancel,
    Dismiss(Person),
}

impl Change {
    /// The states in which an entry can be changed so. Of a cancel only the ledger knows, by what was sent.
    fn states(&self) -> &'static [&'static str] {
        match self {
            Change::Requeue => &["dead"],
            Change::Cancel => &["pending", "held", "dead"],
            Change::Dismiss(_) => &["dead", "unknown"],
        }
    }

    fn in_words(&self) -> &'static str {
        match self {
            Change::Requeue => "will be sent again, each with its own key",
            Change::Cancel => "will be taken back, if no send can have taken effect",
            Change::Dismiss(_) => "will be given up: dead, and not sent again",
        }
    }

    fn request(&self, id: u64) -> Request {
        match self {
            Change::Requeue => Request::Requeue { id },
            Change::Cancel => Request::Cancel { id },
            Change::Dismiss(Person { who, note }) => Request::Dismiss { id, who: who.clone(), note: note.clone() },
        }
    }
}

fn change(desk: &Desk, change: &Change, which: Which, consent: Consent) -> Result<()> {
    let Some(id) = which.id else { return many::run(desk, change, which.filter, consent) };
    match change {
        Change::Requeue => {
            desk.confirm(&format!("Entry {id} will be sent again, with its own key"), consent)?;
            look::show(desk, &change.request(id))
        }
        Change::Cancel => cancel(desk, id, consent),
        Change::Dismiss(person) => {
            let entry = entry(desk, id)?;
            if entry.reason.as_deref() == Some("dismissed") {
                return again(desk, &entry, person, &change.request(id));
            }
            desk.confirm(&format!("Entry {id} will be given up: it is dead, and is not sent again"), consent)?;
            look::show(desk, &change.request(id))
        }
    }
}

fn entry(desk: &Desk, id: u64) -> Result<Box<Entry>> {
    match desk.ask(&Request::Entry { id })? {
        Reply::Entry(entry) => Ok(entry),
        _ => Err(Failure::other_answer()),
    }
}

/// It was decided so before. The ledger would not write down a second person, so that is told.
fn again(desk: &Desk, entry: &Entry, person: &Person, request: &Request) -> Result<()> {
    match entry.audit.last() {
        Some(last) if !is_by(last, person) => {
            let place = entry.successor.map_or_else(String::new, |id| format!(": entry {id} has its place"));
            let what = format!(
                "entry {} is {} already, as {} decided ({}){place}; nothing was written, nor was your note",
                entry.id,
                look::state(entry).0,
                last.who,
                last.note
            );
            Err(Failure::new("wrong_state", what))
        }
        _ => look::show(desk, request),
    }
}

fn resend(desk: &Desk, id: u64, person: &Person, consent: Consent) -> Result<()> {
    let Person { who, note } = person.clone();
    let request = Request::ResolveEntry { id, outcome: EntryOutcome::Resend, who, note };
    let old = entry(desk, id)?;
    if old.successor.is_some() {
        return again(desk, &old, person, &request);
    }
    if old.state == "unknown" {
        let what = "it is sent under a NEW KEY. Only when no earlier send can still arrive";
        desk.confirm(&format!("Another entry will take the place of entry {id}: {what}"), consent)?;
    }
    let reply = desk.ask(&request)?;
    desk.output.answer(&reply, |output| match &reply {
        Reply::Entry(entry) => {
            output.line(format!("entry {} is in the place of entry {id}:\n", entry.id))?;
            look::tell(output, entry, &desk.called())
        }
        _ => Err(Failure::other_answer()),
    })
}

fn cancel(desk: &Desk, id: u64, consent: Consent) -> Result<()> {
    desk.confirm(&format!("Entry {id} will be taken back, if no send can have taken effect"), consent)?;
    let reply = desk.ask(&Request::Cancel { id })?;
    let Reply::Cancelled { cancelled, entry } = &reply else { return Err(Failure::other_answer()) };
    desk.output.answer(&reply, |output| look::tell(output, entry, &desk.called()))?;
    if *cancelled {
        Ok(())
    } else {
        Err(Failure::new("too_late", "too late: a send may have taken effect; nothing was changed"))
    }
}

fn resume(desk: &Desk, scope: String, consent: Consent) -> Result<()> {
    desk.confirm(&format!("What is held with the lanes of {scope} will be due again"), consent)?;
    let reply = desk.ask(&Request::Resume { scope })?;
    desk.output.answer(&reply, |output| match reply {
        Reply::Resumed { lanes, entries } => {
            let (lanes, entries) = (words::count(lanes, "lane", "lanes"), words::count(entries, "entry", "entries"));
            output.line(format!("{lanes} resumed, {entries} due again"))
        }
        _ => Err(Failure::other_answer()),
    })
}
