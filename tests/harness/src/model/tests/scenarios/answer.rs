//! The model's answers as the scenarios write them.

use serde_json::{Map, Value, json};

use super::super::super::{Code, Counts, Decision, Effect, Forgotten, Granted, Response, Swept, View};
use super::story::START;

/// What a scenario may expect and the model does not tell.
const NOT_TOLD: [&str; 10] = [
    "fence_above",
    "fence_equals",
    "remaining_ms",
    "message_has",
    "audit",
    "lapsed",
    "due",
    "oldest_unsettled_at_ms",
    "key",
    "op",
];

/// Whether the answer is as expected, as far as anything is.
pub(super) fn is(answer: &Value, expected: &Value) -> bool {
    match (answer, expected) {
        (Value::Object(answer), Value::Object(expected)) => has(answer, expected),
        (Value::Array(answer), Value::Array(expected)) => {
            answer.len() == expected.len() && answer.iter().zip(expected).all(|(answer, expected)| is(answer, expected))
        }
        _ => answer == expected,
    }
}

fn has(answer: &Map<String, Value>, expected: &Map<String, Value>) -> bool {
    let told = expected.iter().filter(|(member, _)| !NOT_TOLD.contains(&member.as_str()));
    told.into_iter().all(|(member, value)| is(answer.get(member).unwrap_or(&Value::Null), value))
}

pub(super) fn settled(answer: Result<(), Code>) -> Value {
    match answer {
        Ok(()) => json!("ok"),
        Err(code) => json!({ "error": code.as_str() }),
    }
}

pub(super) fn decision(decision: &Decision) -> Value {
    match decision {
        Decision::Acquired(granted) => claim(granted),
        Decision::Replay { response: stored, failed, settled_at, expires_at } => json!({
            "decision": "replay",
            "outcome": if *failed { "failed" } else { "completed" },
            "response": response(stored),
            "settled_at_ms": after(*settled_at),
            "expires_at_ms": after(*expires_at),
        }),
        Decision::InProgress { running_for, retry_after } => {
            json!({ "decision": "in_progress", "running_for_ms": running_for, "retry_after_ms": retry_after })
        }
        Decision::Mismatch => json!({ "decision": "mismatch" }),
        Decision::Parked { reason, since } => {
            json!({ "decision": "parked", "reason": reason.as_str(), "since_ms": after(*since) })
        }
        Decision::Gone => json!({ "decision": "gone" }),
    }
}

pub(super) fn claim(granted: &Granted) -> Value {
    json!({
        "decision": "acquired",
        "attempt": granted.attempt,
        "effect": effect(granted.effect),
        "memo": text(&granted.memo),
        "steps": steps(&granted.steps),
        "first_granted_at_ms": after(granted.first_granted_at),
    })
}

pub(super) fn view(view: &View) -> Value {
    json!({
        "state": view.state,
        "attempt": view.attempt,
        "effect": effect(view.effect),
        "memo": text(&view.memo),
        "steps": steps(&view.steps),
        "first_granted_at_ms": after(view.first_granted_at),
        "reason": view.parked.as_ref().map(|parked| parked.0.clone()),
    })
}

pub(super) fn swept(swept: Swept) -> Value {
    json!({ "tombstoned": swept.tombstoned, "removed": swept.removed, "more": swept.more })
}

pub(super) fn counts(counts: Counts) -> Value {
    json!({
        "in_progress": counts.in_progress,
        "released": counts.released,
        "completed": counts.completed,
        "failed": counts.failed,
        "parked": counts.parked,
        "tombstones": counts.tombstones,
    })
}

pub(super) fn forgotten(forgotten: Forgotten) -> Value {
    json!({
        "settled": forgotten.settled,
        "released": forgotten.released,
        "tombstones": forgotten.tombstones,
        "unsettled": forgotten.unsettled,
        "kept_unsettled": forgotten.kept_unsettled,
    })
}

fn response(response: &Response) -> Value {
    json!({ "text": text(&response.body), "media_type": response.media_type })
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::InLedger => "in_ledger",
        Effect::Repeatable => "repeatable",
        Effect::AtMostOnce => "at_most_once",
    }
}

fn steps(steps: &[(String, Vec<u8>)]) -> Value {
    steps.iter().map(|(name, value)| json!([name, text(value)])).collect()
}

/// An instant as the scenarios tell it.
fn after(instant: u64) -> i64 {
    instant.cast_signed() - START.cast_signed()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
