//! From the model's words to the ledger's, and back.

use std::time::Duration;

use keyledger as real;
use keyledger_harness::model::{self, Decision, Effect, Fingerprint, Reason, Response};

use super::command::{Ask, Call, Found, Text};
use super::stage::{self, DECLARED, KEYS, LONG, LONG_SHA256, RESPONSE_BYTES_MAX, SCOPES};

/// The code of an error, in the spelling that all languages share.
pub(crate) type Code = &'static str;

pub(crate) fn code(error: &real::Error) -> Code {
    error.code().as_str()
}

pub(crate) fn id(id: &model::Id) -> real::KeyId {
    let scope = real::Scope::new(&id.scope).expect("a valid scope");
    let key = real::Key::new(&id.key).expect("a valid key");
    real::KeyId::new(scope, id.operation.clone(), key).expect("a valid name")
}

pub(crate) fn id_back(id: &real::KeyId) -> model::Id {
    model::Id::new(id.scope().as_str(), id.operation().as_str(), id.key().as_str())
}

pub(crate) fn operation(declared: usize) -> real::Operation {
    let operation = &DECLARED[declared];
    let effect = match operation.effect {
        Effect::InLedger => real::Effect::InLedger,
        Effect::Repeatable => real::Effect::Repeatable,
        Effect::AtMostOnce => real::Effect::AtMostOnce,
    };
    real::Operation::new(effect, operation.name.clone())
        .lease(Duration::from_millis(operation.lease))
        .retention(Duration::from_millis(operation.retention))
        .tombstone(Duration::from_millis(operation.tombstone))
        .remembered_for(Duration::from_millis(operation.remembered_for))
        .max_attempts(operation.max_attempts)
}

pub(crate) fn fingerprint(fingerprint: Fingerprint) -> real::Fingerprint {
    match fingerprint {
        Fingerprint::Value(value) => real::Fingerprint::of_bytes(&[&[value]]),
        Fingerprint::Unchecked => real::Fingerprint::unchecked(),
    }
}

pub(crate) fn fingerprint_back(seen: &real::Fingerprint) -> Fingerprint {
    let known = [Fingerprint::Unchecked, Fingerprint::Value(1), Fingerprint::Value(2)];
    known.into_iter().find(|known| fingerprint(*known) == *seen).expect("a fingerprint that the test gave")
}

pub(crate) fn begin(ask: &Ask) -> real::Begin {
    let scope = real::Scope::new(SCOPES[ask.scope]).expect("a valid scope");
    let key = real::Key::new(KEYS[ask.key]).expect("a valid key");
    real::Begin::new(&operation(ask.declared), &scope, &key, fingerprint(ask.fingerprint)).memo(ask.memo.as_bytes())
}

pub(crate) fn model_begin(ask: &Ask) -> model::Begin {
    model::Begin {
        operation: DECLARED[ask.declared].clone(),
        scope: SCOPES[ask.scope].into(),
        key: KEYS[ask.key].into(),
        fingerprint: ask.fingerprint,
        memo: ask.memo.into(),
    }
}

pub(crate) fn response(text: Text) -> real::Response {
    let response = stage::response(text);
    real::Response::new(response.media_type, response.body)
}

/// What was given, from what is stored. A body over the limit is known by its length and hash (S4); one that is stored is no longer than the limit.
pub(crate) fn response_back(response: &real::Response) -> Response {
    let body = match response.body() {
        real::Body::Stored(bytes) => {
            assert!(bytes.len() <= RESPONSE_BYTES_MAX, "S4: a body over the limit is stored");
            bytes.clone()
        }
        real::Body::Omitted { length, sha256 } => {
            assert_eq!(
                (*length, hex(sha256).as_str()),
                (LONG.len() as u64, LONG_SHA256),
                "S4: what is left of the body"
            );
            LONG.into()
        }
    };
    Response { media_type: response.media_type().into(), body }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

pub(crate) fn settlement(call: &Call) -> real::Settlement {
    match call {
        Call::Complete(text) => real::Settlement::Complete(response(*text)),
        Call::Fail(text) => real::Settlement::Fail(response(*text)),
        Call::Release => real::Settlement::Release,
        Call::Park(words) => real::Settlement::Park((*words).into()),
    }
}

pub(crate) fn model_settlement(call: &Call) -> model::Settlement {
    match call {
        Call::Complete(text) => model::Settlement::Complete(stage::response(*text)),
        Call::Fail(text) => model::Settlement::Fail(stage::response(*text)),
        Call::Release => model::Settlement::Release,
        Call::Park(words) => model::Settlement::Park((*words).into()),
    }
}

pub(crate) fn resolution(found: Found) -> real::Resolution {
    match found {
        Found::Completed(text) => real::Resolution::Completed(response(text)),
        Found::Failed(text) => real::Resolution::Failed(response(text)),
        Found::NotDone => real::Resolution::NotDone,
    }
}

pub(crate) fn model_resolution(found: Found) -> model::Resolution {
    match found {
        Found::Completed(text) => model::Resolution::Completed(stage::response(text)),
        Found::Failed(text) => model::Resolution::Failed(stage::response(text)),
        Found::NotDone => model::Resolution::NotDone,
    }
}

pub(crate) fn effect_back(effect: real::Effect) -> Effect {
    match effect {
        real::Effect::InLedger => Effect::InLedger,
        real::Effect::Repeatable => Effect::Repeatable,
        real::Effect::AtMostOnce => Effect::AtMostOnce,
    }
}

pub(crate) fn reason_back(reason: &real::ParkReason) -> Reason {
    match reason {
        real::ParkReason::OwnerLost => Reason::OwnerLost,
        real::ParkReason::WindowOver => Reason::WindowOver,
        real::ParkReason::Attempts => Reason::Attempts,
        real::ParkReason::EffectChanged => Reason::EffectChanged,
        real::ParkReason::CannotCompare => Reason::CannotCompare,
        real::ParkReason::Handler(words) => Reason::Handler(words.clone()),
        other => unreachable!("a reason of another version: {other:?}"),
    }
}

/// Every decision but `Acquired`, which carries a claim.
pub(crate) fn decision_back(decision: &real::Decision) -> Option<Decision> {
    let millis = |span: Duration| u64::try_from(span.as_millis()).expect("a short span");
    Some(match decision {
        real::Decision::Acquired(_) => return None,
        real::Decision::Replay(replay) => Decision::Replay {
            response: response_back(&replay.response),
            failed: replay.outcome == real::Outcome::Failed,
            settled_at: replay.settled_at_ms,
            expires_at: replay.expires_at_ms,
        },
        real::Decision::InProgress(progress) => Decision::InProgress {
            running_for: millis(progress.running_for),
            retry_after: millis(progress.retry_after),
        },
        real::Decision::Mismatch => Decision::Mismatch,
        real::Decision::Parked(parked) => {
            Decision::Parked { reason: reason_back(&parked.reason), since: parked.since_ms }
        }
        real::Decision::Gone => Decision::Gone,
    })
}

/// The steps of a claim or of a record.
pub(crate) fn steps_back(steps: &[real::Step]) -> Vec<(String, Vec<u8>)> {
    steps.iter().map(|step| (step.name.clone(), step.value.clone())).collect()
}
