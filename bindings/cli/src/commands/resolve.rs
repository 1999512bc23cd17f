//! A person settles what is parked.

use std::io::Read;
use std::path::Path;

use keyledger::admin::{Content, Id, Outcome, Record, RecordQuery, Reply, Request};

use super::{Desk, list, show};
use crate::arguments::{Person, ResolveArguments};
use crate::confirm::confirm;
use crate::failure::{Failure, Result};
use crate::{progress, words};

/// So many of those that a filter lets through are shown before the question.
const SHOWN_MAX: usize = 20;

pub(super) fn run(desk: &Desk, arguments: ResolveArguments) -> Result<()> {
    let outcome = outcome(&arguments)?;
    let ResolveArguments { id, filter, fence, person, .. } = arguments;
    match <[String; 3]>::try_from(id) {
        Ok([scope, operation, key]) => one(desk, Id { scope, operation, key }, fence, outcome, person),
        Err(_) => many(desk, &list::of_filter(filter), &outcome, &person),
    }
}

fn outcome(arguments: &ResolveArguments) -> Result<Outcome> {
    let read = |path: &Path| -> Result<(String, Content)> {
        let bytes = bytes_of(path)?;
        let media_type = arguments.media_type.clone().unwrap_or_else(|| media_type(path, &bytes).to_owned());
        Ok((media_type, Content::of(&bytes)))
    };
    if let Some(path) = &arguments.completed {
        let (media_type, body) = read(path)?;
        return Ok(Outcome::Completed { media_type, body });
    }
    if let Some(path) = &arguments.failed {
        let (media_type, body) = read(path)?;
        return Ok(Outcome::Failed { media_type, body });
    }
    Ok(Outcome::NotDone)
}

fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map_err(|error| Failure::of_file(path, &error))?;
        return Ok(bytes);
    }
    std::fs::read(path).map_err(|error| Failure::of_file(path, &error))
}

/// By the file's name, then by what is in it.
fn media_type(path: &Path, bytes: &[u8]) -> &'static str {
    let is_text = std::str::from_utf8(bytes).is_ok();
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => "application/json",
        Some("http") => keyledger_http::message::MEDIA_TYPE,
        Some("txt") if is_text => "text/plain; charset=utf-8",
        _ if bytes.starts_with(b"HTTP/1.") => keyledger_http::message::MEDIA_TYPE,
        _ if serde_json::from_slice::<serde_json::Value>(bytes).is_ok() => "application/json",
        _ if is_text => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn one(desk: &Desk, id: Id, fence: Option<u64>, outcome: Outcome, person: Person) -> Result<()> {
    let Reply::Record(record) = desk.reach.ask(&Request::Show { id: id.clone() })? else {
        return Err(Failure::other_answer());
    };
    // The same outcome again is ok, and only the ledger can tell whether it is the same.
    let fence = fence.unwrap_or(record.fence);
    let what = format!("{} of {} for {} will be {}", id.key, id.operation, id.scope, in_words(&outcome));
    confirm(&what, desk.yes)?;
    let Person { who, note } = person;
    let reply = desk.reach.ask(&Request::Resolve { id, fence, outcome, who, note })?;
    desk.output.answer(&reply, |output| match &reply {
        Reply::Record(record) => show::tell(output, record),
        _ => Err(Failure::other_answer()),
    })
}

fn in_words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed { media_type, body } => {
            format!("completed, with {} of {media_type} as the answer to everyone who asks", length(body))
        }
        Outcome::Failed { media_type, body } => {
            format!("failed, with {} of {media_type} as the answer to everyone who asks", length(body))
        }
        Outcome::NotDone => {
            "released: the next one that asks RUNS IT AGAIN. Only when its old owner can no longer act".to_owned()
        }
    }
}

fn length(body: &Content) -> String {
    words::bytes(body.bytes().map_or(0, |bytes| bytes.len() as u64))
}

/// What was shown is what is resolved: each by the fence that it had then.
fn many(desk: &Desk, query: &RecordQuery, outcome: &Outcome, person: &Person) -> Result<()> {
    let parked = all_parked(desk, query)?;
    if !desk.output.json {
        desk.output.print(&list::table(desk.output, &parked[..parked.len().min(SHOWN_MAX)]))?;
        if parked.len() > SHOWN_MAX {
            desk.output.line(format!("and {} more", parked.len() - SHOWN_MAX))?;
        }
    }
    let count = words::count(parked.len() as u64, "record", "records");
    if !parked.is_empty() {
        confirm(&format!("{count} will be {}", in_words(outcome)), desk.yes)?;
    }
    let (mut resolved, mut passed_over) = (0_u64, 0_u64);
    let bar = progress::bar(parked.len() as u64, "resolving");
    for Record { scope, operation, key, fence, .. } in parked {
        let id = Id { scope, operation, key };
        let (outcome, Person { who, note }) = (outcome.clone(), person.clone());
        match desk.reach.ask(&Request::Resolve { id, fence, outcome, who, note }) {
            Ok(_) => resolved += 1,
            // Somebody else settled it meanwhile, or it is gone.
            Err(failure) if failure.code == "not_parked" || failure.code == "not_found" => passed_over += 1,
            Err(failure) => return Err(failure),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let told = serde_json::json!({ "kind": "resolved", "resolved": resolved, "passed_over": passed_over });
    desk.output.answer(&told, |output| {
        output.line(format!("{resolved} resolved, {passed_over} passed over: settled by somebody else meanwhile"))
    })
}

fn all_parked(desk: &Desk, query: &RecordQuery) -> Result<Vec<Record>> {
    let mut query = RecordQuery { state: Some("parked".to_owned()), limit: 1000, ..query.clone() };
    let mut parked = Vec::new();
    loop {
        let Reply::Records { records, next } = desk.reach.ask(&Request::List(query.clone()))? else {
            return Err(Failure::other_answer());
        };
        parked.extend(records);
        match next {
            Some(next) => query.after = Some(next),
            None => return Ok(parked),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::media_type;
    use std::path::Path;

    #[test]
    fn an_answers_media_type_is_told_by_its_name_then_by_what_it_is() {
        let told = |name: &str, bytes: &[u8]| media_type(Path::new(name), bytes);
        assert_eq!(told("a.json", b"{}"), "application/json");
        assert_eq!(told("a", b"{\"a\":1}"), "application/json");
        assert_eq!(told("a", b"HTTP/1.1 200 \r\n\r\n"), "application/http");
        assert_eq!(told("-", b"done"), "text/plain; charset=utf-8");
        assert_eq!(told("a.txt", &[0xff]), "application/octet-stream");
    }
}
