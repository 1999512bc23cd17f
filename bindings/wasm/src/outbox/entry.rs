//! Entries of the outbox, as JavaScript sees them.

use keyledger::{AuditEntry, DeadReason, Enqueued, EntryId, EntryView, TryError, UnknownReason};
use wasm_bindgen::prelude::*;

use crate::decision::response;
use crate::object::{list, number, number_or_null, object};

/// An entry as it was when it was read.
pub(crate) fn view(entry: &EntryView) -> JsValue {
    object(&[
        ("id", number(entry.id().get())),
        ("scope", entry.scope().as_str().into()),
        ("lane", entry.lane().into()),
        ("operation", entry.operation().into()),
        ("key", entry.key().as_str().into()),
        ("purpose", entry.purpose().map_or(JsValue::NULL, Into::into)),
        ("fingerprint", entry.fingerprint().hex().map_or(JsValue::NULL, Into::into)),
        ("state", entry.state().as_str().into()),
        ("isSettled", entry.is_settled().into()),
        ("response", entry.response().map_or(JsValue::NULL, response)),
        ("isYes", entry.is_yes().into()),
        ("reason", reason(entry).map_or(JsValue::NULL, Into::into)),
        ("isHeldWithLane", entry.held().is_some_and(|(_, with_lane)| with_lane).into()),
        ("tries", entry.tries().into()),
        ("givenBack", entry.given_back().into()),
        ("errors", list(entry.errors(), failed_try)),
        ("mayHaveTakenEffect", entry.may_have_taken_effect().into()),
        ("dueAtMs", number_or_null(entry.due_at_ms())),
        ("leaseEndAtMs", number_or_null(entry.lease_end_ms())),
        ("firstUnknownAtMs", number_or_null(entry.first_unknown_at_ms())),
        ("sendByAtMs", number_or_null(entry.send_by_ms())),
        ("createdAtMs", number(entry.created_at_ms())),
        ("settledAtMs", number_or_null(entry.settled_at_ms())),
        ("successor", number_or_null(entry.successor().map(EntryId::get))),
        ("fence", number(entry.fence())),
        ("audit", list(entry.audit(), audited)),
        ("requestBytes", number(entry.request_bytes())),
        ("change", number(entry.change())),
    ])
}

/// Why it is held, unknown, dead, or cancelled by time, in words.
fn reason(entry: &EntryView) -> Option<&str> {
    let held = entry.held().map(|(why, _)| why);
    let in_doubt = entry.unknown().map(UnknownReason::as_str);
    let dead = entry.dead().map(DeadReason::as_str);
    held.or(in_doubt).or(dead).or(entry.is_not_sent_in_time().then_some("not sent in time"))
}

fn failed_try(failed: &TryError) -> JsValue {
    object(&[("atMs", number(failed.at_ms)), ("error", failed.error.as_str().into())])
}

/// What a person decided.
pub(crate) fn audited(entry: &AuditEntry) -> JsValue {
    object(&[
        ("atMs", number(entry.at_ms)),
        ("outcome", entry.outcome.as_str().into()),
        ("who", entry.who.as_str().into()),
        ("note", entry.note.as_str().into()),
    ])
}

pub(crate) fn enqueued(enqueued: &Enqueued) -> JsValue {
    object(&[("entry", view(&enqueued.entry)), ("created", enqueued.created.into())])
}
