//! Reading an outbox, whoever has filled it.

use keyledger::{EntryFilter, EntryView, Outbox, Outcome};
use keyledger_examples::payments::records::EntryLine;
use keyledger_http::message::{Stored, StoredBody};

/// Every entry that the filter lets through.
pub(crate) fn all(outbox: &Outbox, filter: &EntryFilter) -> keyledger::Result<Vec<EntryView>> {
    let (mut entries, mut filter) = (Vec::new(), filter.clone());
    loop {
        let page = outbox.list(&filter)?;
        entries.extend(page.entries);
        let Some(next) = page.next else { return Ok(entries) };
        filter = filter.after(next);
    }
}

pub(crate) fn print(outbox: &Outbox) -> anyhow::Result<()> {
    for entry in all(outbox, &EntryFilter::all())? {
        let line = EntryLine {
            purpose: entry.purpose().unwrap_or_default().to_owned(),
            operation: entry.operation().to_owned(),
            key: entry.key().as_str().to_owned(),
            state: entry.state().as_str().to_owned(),
            superseded: entry.successor().is_some(),
            outcome: outcome(&entry),
        };
        println!("{}", serde_json::to_string(&line)?);
    }
    Ok(())
}

/// What was answered, if it was a yes.
fn outcome(entry: &EntryView) -> Option<String> {
    let response = entry.response().filter(|_| entry.is_yes())?;
    match Stored::of_response(response, Outcome::Completed).body {
        StoredBody::Kept(body) => Some(String::from_utf8_lossy(&body).into_owned()),
        StoredBody::Omitted(_) => None,
    }
}
