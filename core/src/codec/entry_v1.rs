//! Version 1 of an entry's bytes: postcard over the structures below, whose fields and order are the format.
//!
//! As with records, they are not the machine's own types (docs/format.md).

use serde::{Deserialize, Serialize};

use super::DecodeError;
use crate::fingerprint::Fingerprint;
use crate::key::{Key, KeyError, LaneName, OperationName, Purpose, Scope};
use crate::machine::entry::{Entry, Order, Sent, Stays, TryError};
use crate::machine::record::{AuditEntry, Stamp};
use crate::machine::standing::{DeadReason, EntryState, UnknownReason};
use crate::response::{Body, Response};

#[derive(Serialize, Deserialize)]
struct WireEntry {
    position: u64,
    scope: String,
    lane: String,
    order: WireOrder,
    operation: String,
    key: String,
    purpose: Option<String>,
    fingerprint: Option<(u8, [u8; 32])>,
    request_bytes: u64,
    state: WireState,
    fence: u64,
    tries: u32,
    given_back: u32,
    /// When, and what.
    errors: Vec<(u64, String)>,
    ready_at: u64,
    ends_at: Option<u64>,
    in_doubt: bool,
    /// On the timeline; wall-clock milliseconds, monotonic milliseconds, the opening they belong to.
    first_unknown: Option<(u64, u64, u64, u64)>,
    key_known_until: Option<u64>,
    send_by: Option<u64>,
    created_at: u64,
    created_at_ms: u64,
    /// Settled at (wall clock), purpose until, stays until.
    stays: Option<(u64, u64, u64)>,
    successor: Option<u64>,
    /// When, outcome, who, note.
    audit: Vec<(u64, String, String, String)>,
    change: u64,
}

#[derive(Serialize, Deserialize)]
enum WireOrder {
    None,
    Blocks,
    Skips,
}

#[derive(Serialize, Deserialize)]
enum WireState {
    Pending,
    Sending { lease_end: u64 },
    Held { reason: String, with_lane: bool },
    Unknown(WireUnknown),
    Answered { media_type: String, body: WireBody, is_yes: bool },
    Dead(WireDead),
    Cancelled { in_time: bool },
}

#[derive(Serialize, Deserialize)]
enum WireUnknown {
    WindowOver,
    OutOfTries,
    TooOld,
    Contradicted,
    Told(String),
}

#[derive(Serialize, Deserialize)]
enum WireDead {
    OutOfTries,
    TooOld,
    Told(String),
    Resolved,
    Dismissed,
    Superseded,
}

#[derive(Serialize, Deserialize)]
enum WireBody {
    Stored(Vec<u8>),
    Omitted(u64, [u8; 32]),
}

/// Appends the entry to `bytes`. Its id is the key of its row.
pub(super) fn encode(entry: &Entry, bytes: Vec<u8>) -> Vec<u8> {
    let wire = WireEntry {
        position: entry.position,
        scope: entry.scope.as_str().to_owned(),
        lane: entry.lane.as_str().to_owned(),
        order: wire_order(entry.order),
        operation: entry.operation.as_str().to_owned(),
        key: entry.key.as_str().to_owned(),
        purpose: entry.purpose.as_ref().map(|purpose| purpose.as_str().to_owned()),
        fingerprint: wire_fingerprint(entry.fingerprint),
        request_bytes: entry.request_bytes,
        state: wire_state(&entry.state),
        fence: entry.fence,
        tries: entry.tries,
        given_back: entry.given_back,
        errors: entry.errors.iter().map(|error| (error.at_ms, error.error.clone())).collect(),
        ready_at: entry.ready_at,
        ends_at: entry.ends_at,
        in_doubt: entry.in_doubt,
        first_unknown: entry.first_unknown.map(wire_sent),
        key_known_until: entry.key_known_until,
        send_by: entry.send_by,
        created_at: entry.created_at,
        created_at_ms: entry.created_at_ms,
        stays: entry.stays.map(|stays| (stays.settled_at_ms, stays.purpose_until, stays.until)),
        successor: entry.successor,
        audit: entry.audit.iter().map(wire_audit).collect(),
        change: entry.change,
    };
    postcard::to_extend(&wire, bytes).expect("a vector takes every byte, and every type here has a postcard form")
}

pub(super) fn decode(id: u64, bytes: &[u8]) -> Result<Entry, DecodeError> {
    let (wire, rest): (WireEntry, &[u8]) =
        postcard::take_from_bytes(bytes).map_err(|error| DecodeError::new("an entry", &error))?;
    if !rest.is_empty() {
        return Err(DecodeError::new("an entry", &format!("{} bytes follow it", rest.len())));
    }
    entry(id, wire).map_err(|error| DecodeError::new("an entry", &error))
}

fn entry(id: u64, wire: WireEntry) -> Result<Entry, KeyError> {
    Ok(Entry {
        id,
        position: wire.position,
        scope: Scope::new(&wire.scope)?,
        lane: LaneName::new(&wire.lane)?,
        order: order(&wire.order),
        operation: OperationName::new(&wire.operation)?,
        key: Key::new(&wire.key)?,
        purpose: wire.purpose.map(Purpose::new).transpose()?,
        fingerprint: fingerprint(wire.fingerprint),
        request_bytes: wire.request_bytes,
        state: state(wire.state),
        fence: wire.fence,
        tries: wire.tries,
        given_back: wire.given_back,
        errors: wire.errors.into_iter().map(|(at_ms, error)| TryError { at_ms, error }).collect(),
        ready_at: wire.ready_at,
        ends_at: wire.ends_at,
        in_doubt: wire.in_doubt,
        first_unknown: wire.first_unknown.map(sent),
        key_known_until: wire.key_known_until,
        send_by: wire.send_by,
        created_at: wire.created_at,
        created_at_ms: wire.created_at_ms,
        stays: wire.stays.map(|(settled_at_ms, purpose_until, until)| Stays { settled_at_ms, purpose_until, until }),
        successor: wire.successor,
        audit: wire.audit.into_iter().map(audit).collect(),
        change: wire.change,
    })
}

fn wire_sent(sent: Sent) -> (u64, u64, u64, u64) {
    (sent.at, sent.stamp.wall_ms, sent.stamp.mono_ms, sent.stamp.opening)
}

fn sent((at, wall_ms, mono_ms, opening): (u64, u64, u64, u64)) -> Sent {
    Sent { at, stamp: Stamp { wall_ms, mono_ms, opening } }
}

fn wire_audit(entry: &AuditEntry) -> (u64, String, String, String) {
    (entry.at_ms, entry.outcome.clone(), entry.who.clone(), entry.note.clone())
}

fn audit((at_ms, outcome, who, note): (u64, String, String, String)) -> AuditEntry {
    AuditEntry { at_ms, outcome, who, note }
}

fn wire_order(order: Order) -> WireOrder {
    match order {
        Order::None => WireOrder::None,
        Order::Strict { blocks: true } => WireOrder::Blocks,
        Order::Strict { blocks: false } => WireOrder::Skips,
    }
}

fn order(wire: &WireOrder) -> Order {
    match wire {
        WireOrder::None => Order::None,
        WireOrder::Blocks => Order::Strict { blocks: true },
        WireOrder::Skips => Order::Strict { blocks: false },
    }
}

fn wire_fingerprint(fingerprint: Fingerprint) -> Option<(u8, [u8; 32])> {
    match fingerprint {
        Fingerprint::Unchecked => None,
        Fingerprint::Value { version, sha256 } => Some((version, sha256)),
    }
}

fn fingerprint(wire: Option<(u8, [u8; 32])>) -> Fingerprint {
    wire.map_or(Fingerprint::Unchecked, |(version, sha256)| Fingerprint::Value { version, sha256 })
}

fn wire_state(state: &EntryState) -> WireState {
    match state {
        EntryState::Pending => WireState::Pending,
        EntryState::Sending { lease_end } => WireState::Sending { lease_end: *lease_end },
        EntryState::Held { reason, with_lane } => WireState::Held { reason: reason.clone(), with_lane: *with_lane },
        EntryState::Unknown(reason) => WireState::Unknown(wire_unknown(reason)),
        EntryState::Answered { response, is_yes } => WireState::Answered {
            media_type: response.media_type().to_owned(),
            body: wire_body(response.body()),
            is_yes: *is_yes,
        },
        EntryState::Dead(reason) => WireState::Dead(wire_dead(reason)),
        EntryState::Cancelled { in_time } => WireState::Cancelled { in_time: *in_time },
    }
}

fn state(wire: WireState) -> EntryState {
    match wire {
        WireState::Pending => EntryState::Pending,
        WireState::Sending { lease_end } => EntryState::Sending { lease_end },
        WireState::Held { reason, with_lane } => EntryState::Held { reason, with_lane },
        WireState::Unknown(reason) => EntryState::Unknown(unknown(reason)),
        WireState::Answered { media_type, body, is_yes } => {
            EntryState::Answered { response: Response::of(&media_type, of_wire_body(body)), is_yes }
        }
        WireState::Dead(reason) => EntryState::Dead(dead(reason)),
        WireState::Cancelled { in_time } => EntryState::Cancelled { in_time },
    }
}

fn wire_body(body: &Body) -> WireBody {
    match body {
        Body::Stored(bytes) => WireBody::Stored(bytes.clone()),
        Body::Omitted { length, sha256 } => WireBody::Omitted(*length, *sha256),
    }
}

fn of_wire_body(wire: WireBody) -> Body {
    match wire {
        WireBody::Stored(bytes) => Body::Stored(bytes),
        WireBody::Omitted(length, sha256) => Body::Omitted { length, sha256 },
    }
}

fn wire_unknown(reason: &UnknownReason) -> WireUnknown {
    match reason {
        UnknownReason::WindowOver => WireUnknown::WindowOver,
        UnknownReason::OutOfTries => WireUnknown::OutOfTries,
        UnknownReason::TooOld => WireUnknown::TooOld,
        UnknownReason::Contradicted => WireUnknown::Contradicted,
        UnknownReason::Told(words) => WireUnknown::Told(words.clone()),
    }
}

fn unknown(wire: WireUnknown) -> UnknownReason {
    match wire {
        WireUnknown::WindowOver => UnknownReason::WindowOver,
        WireUnknown::OutOfTries => UnknownReason::OutOfTries,
        WireUnknown::TooOld => UnknownReason::TooOld,
        WireUnknown::Contradicted => UnknownReason::Contradicted,
        WireUnknown::Told(words) => UnknownReason::Told(words),
    }
}

fn wire_dead(reason: &DeadReason) -> WireDead {
    match reason {
        DeadReason::OutOfTries => WireDead::OutOfTries,
        DeadReason::TooOld => WireDead::TooOld,
        DeadReason::Told(words) => WireDead::Told(words.clone()),
        DeadReason::Resolved => WireDead::Resolved,
        DeadReason::Dismissed => WireDead::Dismissed,
        DeadReason::Superseded => WireDead::Superseded,
    }
}

fn dead(wire: WireDead) -> DeadReason {
    match wire {
        WireDead::OutOfTries => DeadReason::OutOfTries,
        WireDead::TooOld => DeadReason::TooOld,
        WireDead::Told(words) => DeadReason::Told(words),
        WireDead::Resolved => DeadReason::Resolved,
        WireDead::Dismissed => DeadReason::Dismissed,
        WireDead::Superseded => DeadReason::Superseded,
    }
}
