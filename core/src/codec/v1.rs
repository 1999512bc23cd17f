//! Version 1 of a record's bytes: postcard over the structures below, whose fields and order are the format.
//!
//! They are not the machine's own types: those may change with the rules, these may not (docs/format.md).

use serde::{Deserialize, Serialize, Serializer};

use super::DecodeError;
use crate::fingerprint::Fingerprint;
use crate::machine::record::{AuditEntry, Kept, Lease, ParkReason, Record, Retention, Stamp, State, Step};
use crate::operation::Effect;
use crate::response::{Body, Response};

pub(super) const VERSION: u8 = 1;

#[derive(Serialize, Deserialize)]
struct WireRecord<'a> {
    #[serde(borrow)]
    state: WireState<'a>,
    effect: WireEffect,
    fingerprint: WireFingerprint,
    attempt: u32,
    fence: u64,
    first_granted: WireStamp,
    /// Lease, retention, tombstone time: milliseconds.
    terms: (u64, u64, u64),
    #[serde(borrow, serialize_with = "in_one_piece")]
    memo: &'a [u8],
    #[serde(borrow)]
    steps: Vec<(&'a str, &'a [u8])>,
    /// When, outcome, who, note.
    #[serde(borrow)]
    audit: Vec<(u64, &'a str, &'a str, &'a str)>,
}

/// Wall-clock milliseconds, monotonic milliseconds, the opening they belong to.
type WireStamp = (u64, u64, u64);

/// Settled at, retained until, gone at: wall-clock milliseconds.
type WireKept = (u64, u64, u64);

#[derive(Serialize, Deserialize)]
enum WireState<'a> {
    InProgress {
        granted: WireStamp,
        lease_from: WireStamp,
        lease_ms: u64,
    },
    Released(WireKept),
    Completed(#[serde(borrow)] WireResponse<'a>, WireKept),
    Failed(#[serde(borrow)] WireResponse<'a>, WireKept),
    Parked {
        #[serde(borrow)]
        reason: WireReason<'a>,
        since: u64,
        by_begin: bool,
    },
    Tombstone(WireKept),
}

#[derive(Serialize, Deserialize)]
enum WireEffect {
    InLedger,
    Repeatable,
    AtMostOnce,
}

#[derive(Serialize, Deserialize)]
enum WireFingerprint {
    Unchecked,
    Value(u8, [u8; 32]),
}

#[derive(Serialize, Deserialize)]
enum WireReason<'a> {
    OwnerLost,
    WindowOver,
    Attempts,
    EffectChanged,
    CannotCompare,
    Handler(&'a str),
}

#[derive(Serialize, Deserialize)]
struct WireResponse<'a> {
    media_type: &'a str,
    #[serde(borrow)]
    body: WireBody<'a>,
}

#[derive(Serialize, Deserialize)]
enum WireBody<'a> {
    Stored(#[serde(serialize_with = "in_one_piece")] &'a [u8]),
    Omitted(u64, [u8; 32]),
}

/// Writes the same as serde does by itself, which goes from byte to byte.
fn in_one_piece<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

/// Room for most records with their key ids.
pub(super) fn bytes_about(record: &Record) -> usize {
    let body = match &record.state {
        State::Completed(response, _) | State::Failed(response, _) => response.stored_bytes().map_or(0, <[u8]>::len),
        State::InProgress { .. } | State::Released(_) | State::Parked { .. } | State::Tombstone(_) => 0,
    };
    256 + body + record.memo.len()
}

/// Appends the record to `bytes`.
pub(super) fn encode(record: &Record, bytes: Vec<u8>) -> Vec<u8> {
    let wire = WireRecord {
        state: wire_state(&record.state),
        effect: wire_effect(record.effect),
        fingerprint: wire_fingerprint(record.fingerprint),
        attempt: record.attempt,
        fence: record.fence,
        first_granted: wire_stamp(record.first_granted),
        terms: (record.retention.lease_ms, record.retention.retention_ms, record.retention.tombstone_ms),
        memo: &record.memo,
        steps: record.steps.iter().map(|step| (step.name.as_str(), step.value.as_slice())).collect(),
        audit: record.audit.iter().map(wire_audit).collect(),
    };
    postcard::to_extend(&wire, bytes).expect("a vector takes every byte, and every type here has a postcard form")
}

pub(super) fn decode(bytes: &[u8]) -> Result<Record, DecodeError> {
    let (wire, rest): (WireRecord<'_>, &[u8]) =
        postcard::take_from_bytes(bytes).map_err(|error| DecodeError::new("a record", &error))?;
    if !rest.is_empty() {
        return Err(DecodeError::new("a record", &format!("{} bytes follow it", rest.len())));
    }
    let (lease_ms, retention_ms, tombstone_ms) = wire.terms;
    Ok(Record {
        state: state(wire.state),
        effect: effect(&wire.effect),
        fingerprint: fingerprint(&wire.fingerprint),
        attempt: wire.attempt,
        fence: wire.fence,
        first_granted: stamp(wire.first_granted),
        retention: Retention { lease_ms, retention_ms, tombstone_ms },
        memo: wire.memo.to_vec(),
        steps: wire.steps.into_iter().map(|(name, value)| Step { name: name.into(), value: value.into() }).collect(),
        audit: wire.audit.into_iter().map(audit).collect(),
    })
}

fn wire_stamp(stamp: Stamp) -> WireStamp {
    (stamp.wall_ms, stamp.mono_ms, stamp.opening)
}

fn stamp((wall_ms, mono_ms, opening): WireStamp) -> Stamp {
    Stamp { wall_ms, mono_ms, opening }
}

fn wire_kept(kept: Kept) -> WireKept {
    (kept.settled_at, kept.retained_until, kept.gone_at)
}

fn kept((settled_at, retained_until, gone_at): WireKept) -> Kept {
    Kept { settled_at, retained_until, gone_at }
}

fn wire_state(state: &State) -> WireState<'_> {
    match state {
        State::InProgress { granted, lease } => WireState::InProgress {
            granted: wire_stamp(*granted),
            lease_from: wire_stamp(lease.from),
            lease_ms: lease.ms,
        },
        State::Released(kept) => WireState::Released(wire_kept(*kept)),
        State::Completed(response, kept) => WireState::Completed(wire_response(response), wire_kept(*kept)),
        State::Failed(response, kept) => WireState::Failed(wire_response(response), wire_kept(*kept)),
        State::Parked { reason, since, by_begin } => {
            WireState::Parked { reason: wire_reason(reason), since: *since, by_begin: *by_begin }
        }
        State::Tombstone(kept) => WireState::Tombstone(wire_kept(*kept)),
    }
}

fn state(wire: WireState<'_>) -> State {
    match wire {
        WireState::InProgress { granted, lease_from, lease_ms } => {
            State::InProgress { granted: stamp(granted), lease: Lease { from: stamp(lease_from), ms: lease_ms } }
        }
        WireState::Released(times) => State::Released(kept(times)),
        WireState::Completed(answer, times) => State::Completed(response(&answer), kept(times)),
        WireState::Failed(answer, times) => State::Failed(response(&answer), kept(times)),
        WireState::Parked { reason, since, by_begin } => {
            State::Parked { reason: park_reason(&reason), since, by_begin }
        }
        WireState::Tombstone(times) => State::Tombstone(kept(times)),
    }
}

fn wire_effect(effect: Effect) -> WireEffect {
    match effect {
        Effect::InLedger => WireEffect::InLedger,
        Effect::Repeatable => WireEffect::Repeatable,
        Effect::AtMostOnce => WireEffect::AtMostOnce,
    }
}

fn effect(wire: &WireEffect) -> Effect {
    match wire {
        WireEffect::InLedger => Effect::InLedger,
        WireEffect::Repeatable => Effect::Repeatable,
        WireEffect::AtMostOnce => Effect::AtMostOnce,
    }
}

fn wire_fingerprint(fingerprint: Fingerprint) -> WireFingerprint {
    match fingerprint {
        Fingerprint::Unchecked => WireFingerprint::Unchecked,
        Fingerprint::Value { version, sha256 } => WireFingerprint::Value(version, sha256),
    }
}

fn fingerprint(wire: &WireFingerprint) -> Fingerprint {
    match wire {
        WireFingerprint::Unchecked => Fingerprint::Unchecked,
        WireFingerprint::Value(version, sha256) => Fingerprint::Value { version: *version, sha256: *sha256 },
    }
}

fn wire_reason(reason: &ParkReason) -> WireReason<'_> {
    match reason {
        ParkReason::OwnerLost => WireReason::OwnerLost,
        ParkReason::WindowOver => WireReason::WindowOver,
        ParkReason::Attempts => WireReason::Attempts,
        ParkReason::EffectChanged => WireReason::EffectChanged,
        ParkReason::CannotCompare => WireReason::CannotCompare,
        ParkReason::Handler(words) => WireReason::Handler(words),
    }
}

fn park_reason(wire: &WireReason<'_>) -> ParkReason {
    match wire {
        WireReason::OwnerLost => ParkReason::OwnerLost,
        WireReason::WindowOver => ParkReason::WindowOver,
        WireReason::Attempts => ParkReason::Attempts,
        WireReason::EffectChanged => ParkReason::EffectChanged,
        WireReason::CannotCompare => ParkReason::CannotCompare,
        WireReason::Handler(words) => ParkReason::Handler((*words).to_owned()),
    }
}

fn wire_response(response: &Response) -> WireResponse<'_> {
    let body = match response.body() {
        Body::Stored(bytes) => WireBody::Stored(bytes),
        Body::Omitted { length, sha256 } => WireBody::Omitted(*length, *sha256),
    };
    WireResponse { media_type: response.media_type(), body }
}

fn response(wire: &WireResponse<'_>) -> Response {
    let body = match wire.body {
        WireBody::Stored(bytes) => Body::Stored(bytes.to_vec()),
        WireBody::Omitted(length, sha256) => Body::Omitted { length, sha256 },
    };
    Response::of(wire.media_type, body)
}

fn wire_audit(entry: &AuditEntry) -> (u64, &str, &str, &str) {
    (entry.at_ms, &entry.outcome, &entry.who, &entry.note)
}

fn audit((at_ms, outcome, who, note): (u64, &str, &str, &str)) -> AuditEntry {
    AuditEntry { at_ms, outcome: outcome.to_owned(), who: who.to_owned(), note: note.to_owned() }
}
