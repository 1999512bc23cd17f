//! Entries and deliveries, in the form that scenarios expect.

use keyledger::{Delivery, EntryView, LaneState, OutboxStats, TryError};
use serde_json::{Value, json};

use super::super::answers::{at, whole_ms};
use super::super::values::{shown_bytes, shown_response};

pub(in super::super) fn entry(view: &EntryView) -> Value {
    let errors: Vec<&str> = view.errors().iter().map(|TryError { error, .. }| error.as_str()).collect();
    let audit: Vec<Value> = view
        .audit()
        .iter()
        .map(|decided| json!({ "outcome": decided.outcome, "who": decided.who, "note": decided.note }))
        .collect();
    json!({
        "id": view.id().get(),
        "state": view.state().as_str(),
        "reason": reason(view),
        "with_lane": view.held().map(|(_, with_lane)| with_lane),
        "scope": view.scope().as_str(),
        "lane": view.lane(),
        "operation": view.operation(),
        "key": view.key().as_str(),
        "purpose": view.purpose(),
        "response": view.response().map(shown_response),
        "is_yes": view.is_yes(),
        "tries": view.tries(),
        "given_back": view.given_back(),
        "errors": errors,
        "may_have_taken_effect": view.may_have_taken_effect(),
        "due_at_ms": view.due_at_ms().map(at),
        "lease_end_at_ms": view.lease_end_ms().map(at),
        "first_unknown_at_ms": view.first_unknown_at_ms().map(at),
        "send_by_at_ms": view.send_by_ms().map(at),
        "created_at_ms": at(view.created_at_ms()),
        "settled_at_ms": view.settled_at_ms().map(at),
        "successor": view.successor().map(keyledger::EntryId::get),
        "audit": audit,
    })
}

/// Why it is held, unknown or dead, or was cancelled without anybody's asking.
fn reason(view: &EntryView) -> Option<String> {
    let told = view.held().map(|(reason, _)| reason);
    let told = told.or_else(|| view.unknown().map(keyledger::UnknownReason::as_str));
    let told = told.or_else(|| view.dead().map(keyledger::DeadReason::as_str));
    told.or_else(|| view.is_not_sent_in_time().then_some("not sent in time")).map(str::to_owned)
}

pub(in super::super) fn delivery(delivery: &Delivery) -> Value {
    let mut shown = entry(delivery.entry());
    shown["request"] = shown_bytes(delivery.request());
    shown["media_type"] = json!(delivery.media_type());
    shown["in_doubt"] = json!(delivery.is_in_doubt());
    shown["lease_left_ms"] = json!(whole_ms(delivery.lease_left()));
    shown["fence"] = json!(delivery.fence());
    shown
}

pub(in super::super) fn stats(stats: &OutboxStats) -> Value {
    let mut shown = json!({
        "unsettled": stats.unsettled,
        "unsettled_bytes": stats.unsettled_bytes,
        "budget": stats.budget,
        "held_lanes": stats.held_lanes(),
        "lanes": stats.lanes.iter().map(lane).collect::<Value>(),
    });
    for state in keyledger::EntryStateName::ALL {
        shown[state.as_str()] = json!(stats.count(state));
    }
    shown
}

fn lane(lane: &LaneState) -> Value {
    json!({
        "scope": lane.scope,
        "lane": lane.lane,
        "reason": lane.held.as_ref().map(|(reason, _)| reason),
        "held_since_at_ms": lane.held.as_ref().map(|(_, since_ms)| at(*since_ms)),
        "paused_until_at_ms": lane.paused_until_ms.map(at),
    })
}
