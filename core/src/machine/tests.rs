//! Every row of section 4's tables, and the boundary milliseconds, on the bare machine.

mod begins;
mod expires;
mod leases;
mod settles;

use super::begin::{Ask, grant};
use super::record::{ParkReason, Record, Stamp, State};
use crate::fingerprint::Fingerprint;
use crate::operation::{Effect, Terms};
use crate::response::Response;

/// The opening that these tests happen in.
const HERE: u64 = 7;
/// The fence of the first claim.
const FENCE: u64 = 100;
/// When the first claim is granted.
const START: u64 = 1_000_000;

const TERMS: Terms =
    Terms { lease_ms: 1000, retention_ms: 5000, tombstone_ms: 7000, remembered_for_ms: 10_000, max_attempts: 3 };

fn at(ms: u64) -> Stamp {
    Stamp { wall_ms: START + ms, mono_ms: 500 + ms, opening: HERE }
}

fn ask(effect: Effect) -> Ask {
    Ask { effect, terms: TERMS, fingerprint: Fingerprint::of_bytes(&[b"one"]), memo: Vec::new() }
}

fn other_request(effect: Effect) -> Ask {
    Ask { fingerprint: Fingerprint::of_bytes(&[b"two"]), ..ask(effect) }
}

fn unchecked(effect: Effect) -> Ask {
    Ask { fingerprint: Fingerprint::Unchecked, ..ask(effect) }
}

fn granted(effect: Effect) -> Record {
    grant(None, &ask(effect), FENCE, at(0))
}

fn in_state(effect: Effect, state: State) -> Record {
    granted(effect).with_state(state)
}

fn released(effect: Effect, ms: u64) -> Record {
    let record = granted(effect);
    let kept = record.retention.kept_from(at(ms));
    record.with_state(State::Released(kept))
}

fn completed(effect: Effect, ms: u64) -> Record {
    let record = granted(effect);
    let kept = record.retention.kept_from(at(ms));
    record.with_state(State::Completed(Response::text("done"), kept))
}

fn parked(reason: ParkReason, by_begin: bool) -> Record {
    in_state(Effect::AtMostOnce, State::Parked { reason, since: START, by_begin })
}
