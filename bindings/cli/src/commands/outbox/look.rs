//! Entries, as a person sees them.

use std::time::Duration;

use keyledger::admin::{Entry, EntryQuery, Held, Reply, Request, Tried};

use super::super::{Desk, show};
use crate::arguments::{EntryFilter, EntryListArguments};
use crate::damage::Passed;
use crate::decode;
use crate::failure::{Failure, Result};
use crate::output::{Fit, Output, Table, Tone, one_line};
use crate::words;

pub(super) fn list(desk: &Desk, arguments: EntryListArguments) -> Result<()> {
    let EntryListArguments { state, filter, limit, after, all } = arguments;
    let mut query = EntryQuery { state, after, limit, ..of_filter(filter) };
    let mut passed = Passed::nothing(desk.output);
    loop {
        let reply = match desk.ask(&Request::Entries(query.clone())) {
            Err(failure) if failure.is_damage() && !query.past_damage => {
                passed.tell_of(&failure);
                query.past_damage = true;
                continue;
            }
            answer => answer?,
        };
        desk.output.answer(&reply, |output| tell_page(output, &reply, all))?;
        let Reply::Entries { next, unreadable, .. } = reply else { return Err(Failure::other_answer()) };
        passed.tell(&unreadable);
        match next {
            Some(next) if all => query.after = Some(next),
            Some(_) | None => return passed.end(""),
        }
    }
}

/// What the filter on the command line asks for, in long pages.
pub(super) fn of_filter(filter: EntryFilter) -> EntryQuery {
    let EntryFilter { scope, lane, operation, older_than } = filter;
    let age = |age: Duration| u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
    let older_than_ms = older_than.map(age);
    EntryQuery { scope, lane, operation, older_than_ms, limit: 1000, ..EntryQuery::default() }
}

fn tell_page(output: Output, reply: &Reply, all: bool) -> Result<()> {
    let Reply::Entries { entries, next, .. } = reply else { return Err(Failure::other_answer()) };
    if entries.is_empty() {
        return output.line("no entries");
    }
    output.print(&table(output, entries))?;
    match next {
        Some(next) if !all => output.line(format!("\nmore: --after {next}")),
        Some(_) | None => Ok(()),
    }
}

/// One entry to a line.
pub(super) fn table(output: Output, entries: &[Entry]) -> Table {
    let mut table = Table::new(&[
        ("ID", Fit::Whole),
        ("STATE", Fit::Cut),
        ("SCOPE", Fit::Cut),
        ("LANE", Fit::Cut),
        ("OPERATION", Fit::Cut),
        ("PURPOSE", Fit::Cut),
        ("TRIES", Fit::Spare),
        ("ENQUEUED", Fit::Whole),
    ]);
    for entry in entries {
        let (state, tone) = state(entry);
        table.add([
            output.cell(entry.id.to_string(), Tone::Plain),
            output.cell(state, tone),
            output.cell(&entry.scope, Tone::Plain),
            output.cell(&entry.lane, Tone::Plain),
            output.cell(&entry.operation, Tone::Plain),
            output.cell(entry.purpose.as_deref().unwrap_or_default(), Tone::Plain),
            output.cell(entry.tries.to_string(), Tone::Quiet),
            output.cell(words::ago(entry.created_at_ms), Tone::Plain),
        ]);
    }
    table
}

pub(super) fn state(entry: &Entry) -> (String, Tone) {
    let tone = match entry.state.as_str() {
        "unknown" | "dead" => Tone::Bad,
        "held" => Tone::Waiting,
        "answered" => Tone::Good,
        "cancelled" => Tone::Quiet,
        _ => Tone::Plain,
    };
    let yes = entry.yes.map(|yes| if yes { "yes" } else { "no" }.to_owned());
    let why = entry.reason.clone().or(yes);
    (why.map_or_else(|| entry.state.clone(), |why| format!("{}: {why}", entry.state)), tone)
}

/// Asks for an entry, and shows it.
pub(super) fn show(desk: &Desk, request: &Request) -> Result<()> {
    let reply = desk.ask(request)?;
    desk.output.answer(&reply, |output| match &reply {
        Reply::Entry(entry) => tell(output, entry, &desk.called()),
        _ => Err(Failure::other_answer()),
    })
}

/// Everything about an entry, and what can be done about it.
pub(super) fn tell(output: Output, entry: &Entry, called: &str) -> Result<()> {
    output.pairs(&rows(entry))?;
    if let Some(request) = &entry.request {
        show::section(output, &format!("request ({})", request.media_type), &decode::answer(request))?;
    }
    if let Some(response) = &entry.response {
        show::section(output, &format!("answer ({})", response.media_type), &decode::answer(response))?;
    }
    if !entry.errors.is_empty() {
        let tried = |tried: &Tried| format!("{}  {}", words::instant(tried.at_ms), one_line(&tried.error));
        show::section(output, "tries that failed", &entry.errors.iter().map(tried).collect::<Vec<_>>().join("\n"))?;
    }
    show::tell_audit(output, &entry.audit)?;
    advise(output, entry, called)
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
    let in_doubt = entry.may_have_taken_effect;
    rows.push(plain("in doubt", if in_doubt { "a try may have taken effect" } else { "no" }));
    rows.push(plain("tries", &format!("{} ({} given back)", entry.tries, entry.given_back)));
    let instants = [
        ("enqueued", Some(entry.created_at_ms)),
        ("due", entry.due_at_ms),
        ("lease ends", entry.lease_end_ms),
        (if in_doubt { "in doubt since" } else { "was in doubt from" }, entry.first_unknown_at_ms),
        ("send by", entry.send_by_ms),
        ("settled", entry.settled_at_ms),
    ];
    rows.extend(instants.into_iter().filter_map(|(name, at)| at.map(|at| plain(name, &words::instant(at)))));
    rows.extend(entry.successor.map(|successor| plain("its place has", &format!("entry {successor}"))));
    rows
}

/// What can be done, each as a line for a shell.
fn advise(output: Output, entry: &Entry, called: &str) -> Result<()> {
    let id = entry.id;
    let line = |what: &str, command: &str| format!("{what}\n  {called} outbox {command}");
    let dismiss = line("it shall not be sent again", &format!("dismiss {id} --who YOU --note WHY"));
    let lines = match (entry.state.as_str(), entry.held, entry.reason.as_deref()) {
        ("unknown", ..) => vec![
            line(
                "it did not take effect, and no earlier send can still arrive: sent under a NEW KEY",
                &format!("resend {id} --who YOU --note WHY"),
            ),
            dismiss,
        ],
        ("dead", _, Some("dismissed" | "resolved" | "superseded")) => Vec::new(),
        ("dead", ..) => {
            vec![line("its cause is mended: sent again, with its own key", &format!("requeue {id}")), dismiss]
        }
        ("held", Some(Held::WithLane), _) => {
            let scope = words::quoted(&entry.scope);
            vec![line("the credentials of its scope are mended", &format!("resume --scope={scope}"))]
        }
        ("held", ..) => vec![line("its cause is mended", &format!("resume {id}"))],
        _ => Vec::new(),
    };
    if lines.is_empty() {
        return Ok(());
    }
    output.line(format!("\nIt goes on when somebody says so. Find out, then one of:\n\n{}", lines.join("\n")))
}
