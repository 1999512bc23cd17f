//! A person settles what is parked.

mod answer;

use keyledger::admin::{Audit, Id, Outcome, Record, RecordQuery, Reply, Request};

use super::{Desk, list, show};
use crate::arguments::{Consent, Person, ResolveArguments};
use crate::failure::{Failure, Result};
use crate::{progress, words};

pub(super) use answer::outcome;

pub(super) fn run(desk: &Desk, arguments: ResolveArguments, outcome: &Outcome) -> Result<()> {
    let ResolveArguments { scope, operation, key, filter, fence, person, consent, .. } = arguments;
    match (scope, operation, key) {
        (Some(scope), Some(operation), Some(key)) => {
            let decision = Decision { id: Id { scope, operation, key }, outcome, person: &person };
            one(desk, &decision, fence, consent)
        }
        _ => many(desk, &list::of_filter(filter), outcome, &person, consent),
    }
}

/// What somebody says became of a record.
struct Decision<'a> {
    id: Id,
    outcome: &'a Outcome,
    person: &'a Person,
}

impl Decision<'_> {
    /// Whether the record's last decision is this one: it is repeated, as after an answer that did not come.
    fn is_made(&self, record: &Record) -> bool {
        record.audit.last().is_some_and(|last| is_by(last, self.person) && last.outcome == name(self.outcome))
    }

    /// Writes it down, and makes sure that it is this one that was written: the same outcome may be somebody else's.
    fn write(&self, desk: &Desk, fence: u64) -> Result<Box<Record>> {
        let Decision { id, outcome, person: Person { who, note } } = self;
        let (id, outcome, who, note) = (id.clone(), (*outcome).clone(), who.clone(), note.clone());
        match desk.ask(&Request::Resolve { id, fence, outcome, who, note })? {
            Reply::Record(record) if self.is_made(&record) => Ok(record),
            Reply::Record(record) => Err(decided_otherwise(&record)),
            _ => Err(Failure::other_answer()),
        }
    }
}

pub(super) fn is_by(audit: &Audit, person: &Person) -> bool {
    audit.who == person.who && audit.note == person.note
}

/// The name that the audit trail has for it.
fn name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Completed { .. } => "completed",
        Outcome::Failed { .. } => "failed",
        Outcome::NotDone => "not_done",
    }
}

fn one(desk: &Desk, decision: &Decision<'_>, fence: Option<u64>, consent: Consent) -> Result<()> {
    let Reply::Record(record) = desk.ask(&Request::Show { id: decision.id.clone() })? else {
        return Err(Failure::other_answer());
    };
    if let Some(fence) = fence.filter(|fence| *fence != record.fence) {
        let what =
            format!("its fence is {}, not {fence}: it has run again since; look again before deciding", record.fence);
        return Err(Failure::new("not_parked", what));
    }
    if !record.needs_decision && !decision.is_made(&record) {
        return Err(decided_otherwise(&record));
    }
    if record.needs_decision {
        let Id { scope, operation, key } = &decision.id;
        desk.confirm(&format!("{key} of {operation} for {scope} will be {}", in_words(decision.outcome)), consent)?;
    }
    let record = decision.write(desk, record.fence)?;
    let reply = Reply::Record(record);
    desk.output.answer(&reply, |output| match &reply {
        Reply::Record(record) => show::tell(output, record, &desk.called()),
        _ => Err(Failure::other_answer()),
    })?;
    warn_of_omitted(&reply)
}

/// The answer was longer than the process that has the ledger open keeps (S4).
fn warn_of_omitted(reply: &Reply) -> Result<()> {
    match reply {
        Reply::Record(record) if record.response.as_ref().is_some_and(|answer| answer.omitted_sha256.is_some()) => {
            Err(Failure::new("too_large", "it is settled, but the answer was too long to be kept: nobody is told it"))
        }
        _ => Ok(()),
    }
}

/// A record that is not parked any more, or never was.
fn decided_otherwise(record: &Record) -> Failure {
    let since = record.settled_at_ms.map_or_else(String::new, |at| format!(" since {}", words::instant(at)));
    let by = record.audit.last().map_or_else(String::new, |Audit { outcome, who, note, .. }| {
        format!(", as {who} decided ({}: {note})", outcome.replace('_', " "))
    });
    let state = list::state(record).0;
    let what = format!("it is {state}{since}{by}, not parked; nothing was written, neither an outcome nor your note");
    Failure::new("not_parked", what)
}

fn in_words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed { media_type, body } => {
            let length = answer::length(body);
            format!("completed, with {length} of {media_type} as the answer to everyone who asks")
        }
        Outcome::Failed { media_type, body } => {
            let length = answer::length(body);
            format!("failed, with {length} of {media_type} as the answer to everyone who asks")
        }
        Outcome::NotDone => {
            "released: the next one that asks RUNS IT AGAIN. Only when its old owner can no longer act".to_owned()
        }
    }
}

/// What was shown is what is resolved: each by the fence that it had then.
fn many(desk: &Desk, query: &RecordQuery, outcome: &Outcome, person: &Person, consent: Consent) -> Result<()> {
    let parked = all_parked(desk, query)?;
    if !parked.is_empty() {
        desk.preview(&parked, |records| list::table(desk.output, records), consent)?;
        let count = words::count(parked.len() as u64, "record", "records");
        desk.confirm(&format!("{count} will be {}", in_words(outcome)), consent)?;
    }
    let (mut resolved, mut passed_over) = (0_u64, 0_u64);
    let bar = progress::bar(parked.len() as u64, "resolving");
    for Record { scope, operation, key, fence, .. } in parked {
        let decision = Decision { id: Id { scope, operation, key }, outcome, person };
        match decision.write(desk, fence) {
            Ok(_) => resolved += 1,
            // Somebody else settled it meanwhile, or it is gone.
            Err(failure) if failure.code == "not_parked" || failure.code == "not_found" => passed_over += 1,
            Err(failure) => return Err(failure),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let told = serde_json::json!({ "kind": "resolved", "resolved": resolved, "passed_over": passed_over });
    desk.output.answer(&told, |output| match (resolved, passed_over) {
        (0, 0) => output.line("nothing is parked that this filter lets through"),
        (_, 0) => output.line(format!("{resolved} resolved")),
        _ => output.line(format!("{resolved} resolved, {passed_over} passed over: settled by somebody else meanwhile")),
    })
}

fn all_parked(desk: &Desk, query: &RecordQuery) -> Result<Vec<Record>> {
    let mut query = RecordQuery { state: Some("parked".to_owned()), limit: 1000, ..query.clone() };
    let mut parked = Vec::new();
    loop {
        let Reply::Records { records, next, .. } = desk.ask(&Request::List(query.clone()))? else {
            return Err(Failure::other_answer());
        };
        parked.extend(records);
        match next {
            Some(next) => query.after = Some(next),
            None => return Ok(parked),
        }
    }
}
