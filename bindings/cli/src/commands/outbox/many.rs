//! What is done to all entries that a filter lets through.

use keyledger::admin::{Entry, EntryQuery, Reply, Request};

use super::super::Desk;
use super::{Change, look};
use crate::arguments::{Consent, EntryFilter};
use crate::failure::{Failure, Result};
use crate::{progress, words};

/// What was shown is what is changed, unless somebody else has changed it meanwhile.
pub(super) fn run(desk: &Desk, change: &Change, filter: EntryFilter, consent: Consent) -> Result<()> {
    let found = found(desk, change, &look::of_filter(filter))?;
    if !found.is_empty() {
        desk.preview(&found, |entries| look::table(desk.output, entries), consent)?;
        let entries = words::count(found.len() as u64, "entry", "entries");
        desk.confirm(&format!("{entries} {}", change.in_words()), consent)?;
    }
    let (mut changed, mut passed_over) = (0_u64, 0_u64);
    let bar = progress::bar(found.len() as u64, "changing");
    for entry in found {
        match desk.ask(&change.request(entry.id)) {
            Ok(Reply::Cancelled { cancelled: false, .. }) => passed_over += 1,
            Ok(_) => changed += 1,
            Err(failure) if PASSED_OVER.contains(&failure.code.as_str()) => passed_over += 1,
            Err(failure) => return Err(failure),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let told = serde_json::json!({ "kind": "changed", "changed": changed, "passed_over": passed_over });
    desk.output.answer(&told, |output| match (changed, passed_over) {
        (0, 0) => output.line("there is no entry that this filter lets through and that this can be done to"),
        (_, 0) => output.line(format!("{} changed", words::count(changed, "entry", "entries"))),
        _ => output.line(format!(
            "{} changed, {passed_over} passed over: it could not be done to them (any more)",
            words::count(changed, "entry", "entries")
        )),
    })
}

/// Changed meanwhile, removed, or its purpose has got another entry.
const PASSED_OVER: [&str; 3] = ["wrong_state", "not_found", "purpose_conflict"];

fn found(desk: &Desk, change: &Change, query: &EntryQuery) -> Result<Vec<Entry>> {
    let mut found = Vec::new();
    for state in change.states() {
        let mut query = EntryQuery { state: Some((*state).to_owned()), ..query.clone() };
        loop {
            let Reply::Entries { entries, next, .. } = desk.ask(&Request::Entries(query.clone()))? else {
                return Err(Failure::other_answer());
            };
            // A person has decided about those already, or a send of them may have taken effect.
            let is_open = |entry: &Entry| match change {
                Change::Cancel => !entry.may_have_taken_effect,
                Change::Requeue | Change::Dismiss(_) => {
                    !matches!(entry.reason.as_deref(), Some("dismissed" | "resolved" | "superseded"))
                }
            };
            found.extend(entries.into_iter().filter(is_open));
            match next {
                Some(next) => query.after = Some(next),
                None => break,
            }
        }
    }
    found.sort_by_key(|entry| entry.id);
    Ok(found)
}
