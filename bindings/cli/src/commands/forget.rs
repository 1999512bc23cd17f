//! A person's right to be forgotten.

use keyledger::admin::{Reply, Request};

use super::Desk;
use crate::arguments::{Consent, KeyId};
use crate::failure::{Failure, Result};
use crate::words;

pub(super) fn one(desk: &Desk, id: KeyId, even_if_unknown: bool, consent: Consent) -> Result<()> {
    let KeyId { scope, operation, key } = &id;
    let record = format!("record of {key} of {operation} for {scope}");
    desk.ask(&Request::Show { id: id.clone().into() })?;
    desk.confirm(&format!("The {record} {}", will(even_if_unknown)), consent)?;
    tell(desk, &Request::Forget { id: id.into(), even_if_unknown }, &record)
}

pub(super) fn scope(desk: &Desk, scope: String, even_if_unknown: bool, consent: Consent) -> Result<()> {
    desk.confirm(&format!("Every record and entry of {scope} {}", will(even_if_unknown)), consent)?;
    let what = format!("record and no entry of {scope}");
    tell(desk, &Request::ForgetScope { scope, even_if_unknown }, &what)
}

fn will(even_if_unknown: bool) -> &'static str {
    if even_if_unknown {
        "will be removed, also what is in progress, parked or unsettled: what was asked for MAY RUN AGAIN"
    } else {
        "will be removed, unless it is in progress, parked or unsettled; a late retry will run again"
    }
}

/// A script that forgets for somebody sees by the exit code whether all is forgotten. `what` is what there is none of, else.
fn tell(desk: &Desk, request: &Request, what: &str) -> Result<()> {
    let reply = desk.ask(request)?;
    let Reply::Forgotten { settled, released, tombstones, unsettled, kept_unsettled, entries, kept_entries } = reply
    else {
        return Err(Failure::other_answer());
    };
    let (records, kept) = (settled + released + tombstones + unsettled, kept_unsettled + kept_entries);
    if records + entries + kept == 0 {
        return Err(Failure::new("not_found", format!("there is no {what}; check how it is spelt")));
    }
    desk.output.answer(&reply, |output| {
        let records = words::count(records, "record", "records");
        output.line(format!(
            "{records} removed: {settled} settled, {released} released, {tombstones} tombstones, {unsettled} unsettled"
        ))?;
        if entries > 0 {
            output.line(format!("{} of the outbox removed", words::count(entries, "entry", "entries")))?;
        }
        output.line("the bytes of what was removed stay in free pages of the file until `compact`")
    })?;
    if kept > 0 {
        let kept = format!("{kept} kept: nobody knows whether they happened; --even-if-unknown removes them, too");
        return Err(Failure::new("wrong_state", kept));
    }
    Ok(())
}
