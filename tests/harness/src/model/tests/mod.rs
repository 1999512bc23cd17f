//! The model's own tests: each says one rule in the smallest story that shows it.

mod begin;
mod life;
mod scenarios;
mod settle;
mod upkeep;

use super::{Begin, Decision, Effect, Fence, Fingerprint, Granted, Id, Model, Operation, Response, Settlement};

pub(super) const LEASE: u64 = 10;
pub(super) const RETENTION: u64 = 50;
pub(super) const TOMBSTONE: u64 = 30;

pub(super) fn operation(effect: Effect) -> Operation {
    Operation {
        name: "pay".into(),
        effect,
        lease: LEASE,
        retention: RETENTION,
        tombstone: TOMBSTONE,
        remembered_for: 25,
        max_attempts: 2,
    }
}

pub(super) fn ask(effect: Effect, fingerprint: Fingerprint) -> Begin {
    Begin { operation: operation(effect), scope: "ann".into(), key: "k".into(), fingerprint, memo: b"memo".to_vec() }
}

pub(super) fn id() -> Id {
    Id::new("ann", "pay", "k")
}

pub(super) fn one() -> Fingerprint {
    Fingerprint::Value(1)
}

pub(super) fn response(text: &str) -> Response {
    Response { media_type: "text/plain".into(), body: text.into() }
}

pub(super) fn complete(text: &str) -> Settlement {
    Settlement::Complete(response(text))
}

pub(super) fn fail(text: &str) -> Settlement {
    Settlement::Fail(response(text))
}

pub(super) fn granted(decision: Decision) -> Granted {
    match decision {
        Decision::Acquired(granted) => granted,
        other => panic!("not acquired: {other:?}"),
    }
}

pub(super) fn acquire(model: &mut Model, effect: Effect) -> Fence {
    granted(model.begin(&ask(effect, one()))).fence
}

pub(super) fn parked_for(decision: &Decision) -> &str {
    match decision {
        Decision::Parked { reason, .. } => reason.as_str(),
        other => panic!("not parked: {other:?}"),
    }
}

pub(super) fn state(model: &Model) -> Option<&'static str> {
    model.inspect(&id()).map(|view| view.state)
}

pub(super) fn start() -> Model {
    Model::new(1_000, 7)
}
