//! One record with all that it holds.

use keyledger::admin::{Audit, Id, NamedContent, Record, Reply, Request};

use super::{Desk, list};
use crate::arguments::KeyId;
use crate::decode;
use crate::failure::{Failure, Result};
use crate::output::{Fit, Output, Table, Tone};
use crate::words;

pub(super) fn run(desk: &Desk, id: KeyId) -> Result<()> {
    let reply = desk.ask(&Request::Show { id: id.into() })?;
    desk.output.answer(&reply, |output| match &reply {
        Reply::Record(record) => tell(output, record, &desk.called()),
        _ => Err(Failure::other_answer()),
    })
}

impl From<KeyId> for Id {
    fn from(KeyId { scope, operation, key }: KeyId) -> Self {
        Self { scope, operation, key }
    }
}

/// Everything about a record, and what can be done about it.
pub(super) fn tell(output: Output, record: &Record, called: &str) -> Result<()> {
    output.pairs(&rows(record))?;
    if let Some(memo) = &record.memo {
        section(output, "memo", &decode::body("", &memo.bytes().unwrap_or_default()))?;
    }
    for NamedContent { name, value } in &record.steps {
        section(
            output,
            &format!("step {name}"),
            &decode::body("application/json", &value.bytes().unwrap_or_default()),
        )?;
    }
    if let Some(response) = &record.response {
        section(output, &format!("answer ({})", response.media_type), &decode::answer(response))?;
    }
    tell_audit(output, &record.audit)?;
    advise(output, record, called)
}

fn rows(record: &Record) -> Vec<(&'static str, String, Tone)> {
    let (state, tone) = list::state(record);
    let mut rows = vec![
        ("state", state, tone),
        ("scope", record.scope.clone(), Tone::Plain),
        ("operation", record.operation.clone(), Tone::Plain),
        ("key", record.key.clone(), Tone::Plain),
        ("effect", record.effect.replace('_', " "), Tone::Plain),
        ("attempt", record.attempt.to_string(), Tone::Plain),
        ("fence", record.fence.to_string(), Tone::Plain),
        ("fingerprint", record.fingerprint.clone().unwrap_or_else(|| "unchecked".to_owned()), Tone::Plain),
    ];
    let is_released = record.state == "released";
    let instants = [
        ("first granted", Some(record.first_granted_at_ms)),
        ("parked", record.parked.as_ref().map(|parked| parked.since_ms)),
        (if record.lapsed { "lease ended" } else { "lease ends" }, record.lease_end_ms),
        (if is_released { "released" } else { "settled" }, record.settled_at_ms),
        (if is_released { "forgotten at" } else { "answered until" }, record.retained_until_ms),
        ("refused until", record.gone_at_ms.filter(|_| !is_released)),
    ];
    let told = instants.into_iter().filter_map(|(name, at)| at.map(|at| (name, words::instant(at), Tone::Plain)));
    rows.extend(told);
    if is_released {
        rows.push(("next", "the next one that asks runs it".to_owned(), Tone::Plain));
    }
    if record.volatile {
        rows.push(("kept", "in memory alone".to_owned(), Tone::Plain));
    }
    rows
}

/// A heading, and what is below it.
pub(super) fn section(output: Output, heading: &str, text: &str) -> Result<()> {
    output.line(format!("\n{}:", crate::output::one_line(heading)))?;
    text.lines().try_for_each(|line| output.line(format!("  {line}").trim_end()))
}

/// What persons decided.
pub(super) fn tell_audit(output: Output, audit: &[Audit]) -> Result<()> {
    if audit.is_empty() {
        return Ok(());
    }
    output.line("\ndecided:")?;
    let mut table = Table::new(&[("WHEN", Fit::Whole), ("WHAT", Fit::Whole), ("WHO", Fit::Whole), ("WHY", Fit::Whole)]);
    for Audit { at_ms, outcome, who, note } in audit {
        let words = [words::instant(*at_ms), outcome.replace('_', " "), who.clone(), note.clone()];
        table.add(words.map(|word| output.cell(word, Tone::Plain)));
    }
    output.print(&table)
}

/// The three parts as a shell reads them; behind `--` where one begins with a dash.
fn pasteable(record: &Record) -> String {
    let parts = [&record.scope, &record.operation, &record.key];
    let dashes = if parts.iter().any(|part| part.starts_with('-')) { "-- " } else { "" };
    let quoted = parts.map(|part| words::quoted(part));
    format!("{dashes}{}", quoted.join(" "))
}

fn advise(output: Output, record: &Record, called: &str) -> Result<()> {
    if !record.needs_decision {
        return Ok(());
    }
    let line = |what: &str| format!("  {called} resolve {what} --who YOU --note WHY {}\n", pasteable(record));
    output.line(format!(
        "\nNobody knows whether it happened, and nothing runs it again by itself. Find out, then say so with one of:\n\n\
         it happened; ANSWER, a file, is told to everyone who asks with this key\n{}\
         it ended in a final no; ANSWER likewise\n{}\
         it did not happen, and its old owner can no longer act: the next one that asks runs it\n{}",
        line("--completed ANSWER"),
        line("--failed ANSWER"),
        line("--not-done").trim_end(),
    ))
}
