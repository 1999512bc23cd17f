//! What happened, as JSON in the form that scenarios expect.

use keyledger::{Claim, Decision, Effect, Error, Outcome, RecordView, Step};
use serde_json::{Map, Value, json};

use super::outbox::shown;
use super::values::{shown_bytes, shown_response};
use super::world::START_MS;

/// `"ok"`, or the error.
pub(super) fn ok(result: Result<(), Error>) -> Value {
    answer(result, |()| json!("ok"))
}

pub(super) fn answer<T>(result: Result<T, Error>, shown: impl FnOnce(T) -> Value) -> Value {
    match result {
        Ok(value) => shown(value),
        Err(error) => failed(&error),
    }
}

pub(super) fn failed(error: &Error) -> Value {
    let mut shown = json!({ "error": error.code().as_str(), "message": error.to_string() });
    if let Error::PurposeConflict(entry) | Error::KeyConflict(entry) = error {
        shown["entry"] = shown::entry(entry);
    }
    shown
}

/// An instant as scenarios count it: since their start.
pub(super) fn at(wall_ms: u64) -> Value {
    json!(wall_ms.cast_signed() - START_MS.cast_signed())
}

pub(super) fn effect_named(name: &str) -> Effect {
    Effect::named(name).unwrap_or_else(|| panic!("no effect is called {name}"))
}

fn steps(steps: &[Step]) -> Value {
    steps.iter().map(|step| json!([step.name, shown_bytes(&step.value)])).collect()
}

pub(super) fn claim(claim: &Claim) -> Value {
    json!({
        "scope": claim.key_id().scope().as_str(),
        "op": claim.key_id().operation().as_str(),
        "key": claim.key_id().key().as_str(),
        "fence": claim.fence(),
        "attempt": claim.attempt(),
        "effect": claim.effect().as_str(),
        "memo": shown_bytes(claim.memo()),
        "steps": steps(claim.steps()),
        "first_granted_at_ms": at(claim.first_granted_at_ms()),
        "remaining_ms": claim.remaining().map(whole_ms),
        "is_lost": claim.lost_signal().is_set(),
    })
}

pub(super) fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Failed => "failed",
    }
}

/// Every decision but Acquired, whose claim has to be kept.
pub(super) fn decision(decision: &Decision) -> Value {
    match decision {
        Decision::Acquired(granted) => with("acquired", claim(granted)),
        Decision::Replay(replay) => json!({
            "decision": "replay",
            "outcome": outcome_name(replay.outcome),
            "response": shown_response(&replay.response),
            "settled_at_ms": at(replay.settled_at_ms),
            "expires_at_ms": at(replay.expires_at_ms),
        }),
        Decision::InProgress(progress) => json!({
            "decision": "in_progress",
            "running_for_ms": whole_ms(progress.running_for),
            "retry_after_ms": whole_ms(progress.retry_after),
        }),
        Decision::Mismatch => json!({ "decision": "mismatch" }),
        Decision::Parked(parked) => {
            json!({ "decision": "parked", "reason": parked.reason.as_str(), "since_ms": at(parked.since_ms) })
        }
        Decision::Gone => json!({ "decision": "gone" }),
    }
}

fn with(decision: &str, mut shown: Value) -> Value {
    shown["decision"] = json!(decision);
    shown
}

pub(super) fn whole_ms(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn record(view: &RecordView) -> Value {
    let audit: Vec<Value> = view.audit().iter().map(|entry| json!({ "who": entry.who, "note": entry.note })).collect();
    let mut shown = Map::new();
    let mut tell = |name: &str, value: Value| shown.insert(name.to_owned(), value);
    tell("state", json!(view.state().as_str()));
    tell("fence", json!(view.fence()));
    tell("attempt", json!(view.attempt()));
    tell("effect", json!(view.effect().as_str()));
    tell("memo", shown_bytes(view.memo()));
    tell("steps", steps(view.steps()));
    tell("first_granted_at_ms", at(view.first_granted_at_ms()));
    tell("reason", json!(view.parked().map(|(reason, _)| reason.as_str())));
    tell("audit", json!(audit));
    Value::Object(shown)
}
