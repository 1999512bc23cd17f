//! A person's right to be forgotten.

use keyledger::admin::{Reply, Request};

use super::Desk;
use crate::arguments::KeyId;
use crate::confirm::confirm;
use crate::failure::{Failure, Result};

pub(super) fn one(desk: &Desk, id: KeyId, even_if_unknown: bool) -> Result<()> {
    let KeyId { scope, operation, key } = &id;
    confirm(&format!("The record of {key} of {operation} for {scope} {}", will(even_if_unknown)), desk.yes)?;
    tell(desk, &Request::Forget { id: id.into(), even_if_unknown })
}

pub(super) fn scope(desk: &Desk, scope: String, even_if_unknown: bool) -> Result<()> {
    confirm(&format!("Every record and entry of {scope} {}", will(even_if_unknown)), desk.yes)?;
    tell(desk, &Request::ForgetScope { scope, even_if_unknown })
}

fn will(even_if_unknown: bool) -> &'static str {
    if even_if_unknown {
        "will be removed, also what is in progress, parked or unsettled: what was asked for MAY RUN AGAIN"
    } else {
        "will be removed, unless it is in progress, parked or unsettled; a late retry will run again"
    }
}

fn tell(desk: &Desk, request: &Request) -> Result<()> {
    let reply = desk.reach.ask(request)?;
    desk.output.answer(&reply, |output| {
        let Reply::Forgotten { settled, released, tombstones, unsettled, kept_unsettled, entries, kept_entries } =
            &reply
        else {
            return Err(Failure::other_answer());
        };
        let all = settled + released + tombstones + unsettled;
        output.line(format!(
            "{all} removed: {settled} settled, {released} released, {tombstones} tombstones, {unsettled} unsettled"
        ))?;
        if *entries > 0 {
            output.line(format!("{entries} removed from the outbox"))?;
        }
        let kept = kept_unsettled + kept_entries;
        if kept > 0 {
            output.line(format!(
                "{kept} kept: nobody knows whether they happened; --even-if-unknown removes them, too"
            ))?;
        }
        output.line("their bytes stay in free pages until `compact`")
    })
}
