//! The outbox.

use keyledger::admin::{Entry, EntryOutcome, EntryQuery, Held, Reply, Request, Tried};

use super::list::short;
use super::{Desk, show};
use crate::arguments::{EntryListArguments, OutboxCommand, Person};
use crate::confirm::confirm;
use crate::decode;
use crate::failure::{Failure, Result};
use crate::output::{Output, Tone};
use crate::words;

pub(super) fn run(desk: &Desk, command: OutboxCommand) -> Result<()> {
    match command {
        OutboxCommand::List(arguments) => list(desk, arguments),
        OutboxCommand::Show { id } => entry(desk, &Request::Entry { id }),
        OutboxCommand::Requeue { id } => {
            confirm(&format!("Entry {id} will be sent again, with its own key"), desk.yes)?;
            entry(desk, &Request::Requeue { id })
        }
        OutboxCommand::Cancel { id } => cancel(desk, id),
        OutboxCommand::Resend { id, person: Person { who, note } } => {
            let what = "it is sent under a NEW KEY. Only when no earlier send can still arrive";
            confirm(&format!("Another entry will take the place of entry {id}: {what}"), desk.yes)?;
            entry(desk, &Request::ResolveEntry { id, outcome: EntryOutcome::Resend, who, note })
        }
        OutboxCommand::Resume { id: Some(id), .. } => {
            confirm(&format!("Entry {id} will be due again"), desk.yes)?;
            entry(desk, &Request::ResumeEntry { id })
        }
        OutboxCommand::Resume { scope, .. } => resume(desk, scope.unwrap_or_default()),
        OutboxCommand::Dismiss { id, person: Person { who, note } } => {
            confirm(&format!("Entry {id} will be given up: it is dead, and is not sent again"), desk.yes)?;
            entry(desk, &Request::Dismiss { id, who, note })
        }
    }
}

fn list(desk: &Desk, arguments: EntryListArguments) -> Result<()> {
    let EntryListArguments { state, scope, lane, limit, after, all } = arguments;
    let mut query = EntryQuery { state, scope, lane, after, limit, contents: false };
    loop {
        let reply = desk.reach.ask(&Request::Entries(query.clone()))?;
        desk.output.answer(&reply, |output| tell_page(output, &reply, all))?;
        match reply {
            Reply::Entries { next: Some(next), .. } if all => query.after = Some(next),
            Reply::Entries { .. } => return Ok(()),
            _ => return Err(Failure::other_answer()),
        }
    }
}

fn tell_page(output: Output, reply: &Reply, all: bool) -> Result<()> {
    let Reply::Entries { entries, next } = reply else { return Err(Failure::other_answer()) };
    if entries.is_empty() {
        return output.line("no entries");
    }
    let mut table = output.table(&["ID", "STATE", "SCOPE", "LANE", "OPERATION", "PURPOSE", "TRIES", "ENQUEUED"]);
    for entry in entries {
        let (state, tone) = state(entry);
        table.add_row([
            output.cell(entry.id.to_string(), Tone::Plain),
            output.cell(state, tone),
            output.cell(short(&entry.scope), Tone::Plain),
            output.cell(short(&entry.lane), Tone::Plain),
            output.cell(short(&entry.operation), Tone::Plain),
            output.cell(short(entry.purpose.as_deref().unwrap_or_default()), Tone::Plain),
            output.cell(entry.tries.to_string(), Tone::Quiet),
            output.cell(words::ago(entry.created_at_ms), Tone::Plain),
        ]);
    }
    output.print(&table)?;
    match next {
        Some(next) if !all => output.line(format!("\nmore: --after {next}")),
        Some(_) | None => Ok(()),
    }
}

fn state(entry: &Entry) -> (String, Tone) {
    let tone = match entry.state.as_str() {
        "unknown" | "dead" => Tone::Bad,
        "held" => Tone::Waiting,
        "answered" => Tone::Good,
        "cancelled" => Tone::Quiet,
        _ => Tone::Plain,
    };
    let yes = entry.yes.map(|yes| if yes { "yes" } else { "no" }.to_owned());
    let why = entry.reason.clone().or(yes);
    (why.map_or_else(|| entry.state.clone(), |why| format!("{}: {}", entry.state, short(&why))), tone)
}

fn entry(desk: &Desk, request: &Request) -> Result<()> {
    let reply = desk.reach.ask(request)?;
    desk.output.answer(&reply, |output| match &reply {
        Reply::Entry(entry) => tell(output, entry),
        _ => Err(Failure::other_answer()),
    })
}

fn cancel(desk: &Desk, id: u64) -> Result<()> {
    confirm(&format!("Entry {id} will be taken back, if no send can have taken effect"), desk.yes)?;
    let reply = desk.reach.ask(&Request::Cancel { id })?;
    let Reply::Cancelled { cancelled, entry } = &reply else { return Err(Failure::other_answer()) };
    desk.output.answer(&reply, |output| tell(output, entry))?;
    if *cancelled {
        Ok(())
    } else {
        Err(Failure::new("too_late", "too late: a send may have taken effect; nothing was changed"))
    }
}

fn resume(desk: &Desk, scope: String) -> Result<()> {
    confirm(&format!("What is held with the lanes of {scope} will be due again"), desk.yes)?;
    let reply = desk.reach.ask(&Request::Resume { scope })?;
    desk.output.answer(&reply, |output| match reply {
        Reply::Resumed { lanes, entries } => {
            let (lanes, entries) = (words::count(lanes, "lane", "lanes"), words::count(entries, "entry", "entries"));
            output.line(format!("{lanes} resumed, {entries} due again"))
        }
        _ => Err(Failure::other_answer()),
    })
}

fn tell(output: Output, entry: &Entry) -> Result<()> {
    output.pairs(&rows(entry))?;
    if let Some(request) = &entry.request {
        show::section(output, &format!("request ({})", request.media_type), &decode::answer(request))?;
    }
    if let Some(response) = &entry.response {
        show::section(output, &format!("answer ({})", response.media_type), &decode::answer(response))?;
    }
    if !entry.errors.is_empty() {
        let tried =
            |tried: &Tried| format!("{}  {}", words::instant(tried.at_ms), crate::output::printable(&tried.error));
        show::section(output, "tries that failed", &entry.errors.iter().map(tried).collect::<Vec<_>>().join("\n"))?;
    }
    show::tell_audit(output, &entry.audit)
}

fn rows(entry: &Entry) -> Vec<(&'static str, String, Tone)> {
    let (state, tone) = state(entry);
    let plain = |name, value: &str| (name, value.to_owned(), Tone::Plain);
    let mut rows = vec![
        plain("entry", &entry.id.to_string()),
        ("state", state, tone),
        plain("scope", &entry.scope),
        plain("lane", &entry.lane),
        plain("operation", &entry.operation),
        plain("key", &entry.key),
    ];
    rows.extend(entry.purpose.as_deref().map(|purpose| plain("purpose", purpose)));
    rows.extend(entry.held.map(|held| {
        plain(
            "held",
            match held {
                Held::Alone => "alone: resume it by its number",
                Held::WithLane => "with its lane: resume --scope",
            },
        )
    }));
    rows.push(plain("in doubt", if entry.may_have_taken_effect { "a try may have taken effect" } else { "no" }));
    rows.push(plain("tries", &format!("{} ({} given back)", entry.tries, entry.given_back)));
    let instants = [
        ("enqueued", Some(entry.created_at_ms)),
        ("due", entry.due_at_ms),
        ("lease ends", entry.lease_end_ms),
        ("in doubt since", entry.first_unknown_at_ms),
        ("send by", entry.send_by_ms),
        ("settled", entry.settled_at_ms),
    ];
    rows.extend(instants.into_iter().filter_map(|(name, at)| at.map(|at| plain(name, &words::instant(at)))));
    rows.extend(entry.successor.map(|successor| plain("its place has", &format!("entry {successor}"))));
    rows
}
