//! Golden bytes of version 1: a file that was written must be readable for ever (docs/format.md).

use super::address::{Address, RowKey};
use super::counters::Counters;
use super::{decode_entry, decode_record, encode_record, index};
use crate::fingerprint::Fingerprint;
use crate::key::{Key, KeyId, Scope};
use crate::machine::record::{AuditEntry, Kept, Lease, ParkReason, Record, Retention, Stamp, State, Step};
use crate::operation::Effect;
use crate::response::{Body, Response};

const KEPT: Kept = Kept { settled_at: 1000, retained_until: 2000, gone_at: 3000 };
const STAMP: Stamp = Stamp { wall_ms: 500, mono_ms: 5, opening: 1 };

fn id() -> KeyId {
    KeyId::new(Scope::new("ada").unwrap(), "pay", Key::new("k1").unwrap()).unwrap()
}

fn record(state: State) -> Record {
    Record {
        state,
        effect: Effect::Repeatable,
        fingerprint: Fingerprint::Value { version: 1, sha256: [0xAB; 32] },
        attempt: 2,
        fence: 300,
        first_granted: STAMP,
        retention: Retention { lease_ms: 30_000, retention_ms: 60_000, tombstone_ms: 90_000 },
        memo: b"memo".to_vec(),
        steps: vec![Step { name: "s".into(), value: b"v".to_vec() }],
        audit: vec![AuditEntry { at_ms: 9, outcome: "not_done".into(), who: "w".into(), note: "n".into() }],
    }
}

fn in_progress() -> State {
    State::InProgress { granted: STAMP, lease: Lease { from: STAMP, ms: 30_000 } }
}

/// One of each state, and of each form of what is in it.
fn states() -> Vec<State> {
    let omitted = Response::of("", Body::Omitted { length: 9, sha256: [7; 32] });
    let mut states = vec![
        in_progress(),
        State::Released(KEPT),
        State::Completed(Response::text("hi"), KEPT),
        State::Failed(omitted, KEPT),
        State::Tombstone(KEPT),
    ];
    let reasons = [
        ParkReason::OwnerLost,
        ParkReason::WindowOver,
        ParkReason::Attempts,
        ParkReason::EffectChanged,
        ParkReason::CannotCompare,
        ParkReason::Handler("why".into()),
    ];
    states.extend(reasons.map(|reason| State::Parked { reason, since: 77, by_begin: true }));
    states
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// What every record of `record` ends with: effect, fingerprint, attempt, fence, first grant, terms, memo, steps, audit.
const TAIL: &str = concat!(
    "01",
    "0101",
    "abababababababababababababababababababababababababababababababab",
    "02",
    "ac02",
    "f4030501",
    "b0ea01e0d40390bf05",
    "046d656d6f",
    "0101730176",
    "0109086e6f745f646f6e65",
    "0177016e",
);

#[test]
fn golden_bytes_of_every_state() {
    let golden = [
        "00f4030501f4030501b0ea01",
        "01e807d00fb817",
        "0219746578742f706c61696e3b20636861727365743d7574662d38000268 69e807d00fb817",
        "030001090707070707070707070707070707070707070707070707070707070707070707e807d00fb817",
        "05e807d00fb817",
        "04004d01",
        "04014d01",
        "04024d01",
        "04034d01",
        "04044d01",
        "0405037768794d01",
    ];
    for (state, golden) in states().into_iter().zip(golden) {
        let bytes = encode_record(&id(), &record(state));
        let expected = format!("01{}{}{TAIL}", "03616461037061 79026b31", golden).replace(' ', "");
        assert_eq!(hex(&bytes), expected);
    }
}

#[test]
fn every_state_comes_back_as_it_was() {
    for state in states() {
        let record = record(state);
        let bytes = encode_record(&id(), &record);
        assert_eq!(decode_record(&id(), &bytes).unwrap(), record);
        assert_eq!(decode_entry(&bytes).unwrap(), (id(), record));
    }
}

#[test]
fn damaged_bytes_are_an_error_and_never_a_panic() {
    let bytes = encode_record(&id(), &record(in_progress()));
    for length in 0..bytes.len() {
        assert!(decode_record(&id(), &bytes[..length]).is_err(), "cut to {length}");
        assert!(decode_entry(&bytes[..length]).is_err(), "cut to {length}");
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            let _ = decode_entry(&damaged);
        }
    }
    assert!(decode_record(&id(), &[bytes.as_slice(), &[0]].concat()).is_err(), "a byte too many");
}

#[test]
fn l2_a_record_of_another_key_id_under_the_same_row_is_refused() {
    let other = KeyId::new(Scope::new("ada").unwrap(), "pay", Key::new("k2").unwrap()).unwrap();
    let bytes = encode_record(&id(), &record(in_progress()));
    assert!(decode_record(&other, &bytes).is_err());
}

#[test]
fn another_version_is_refused() {
    let mut bytes = encode_record(&id(), &record(in_progress()));
    bytes[0] = 2;
    assert!(decode_record(&id(), &bytes).unwrap_err().to_string().contains("version 2"));
}

#[test]
fn golden_bytes_of_a_row_key_and_of_the_counters() {
    assert_eq!(hex(Address::new(id(), &[9; 16]).row.as_bytes()), ROW);
    let counters = Counters { in_progress: 1, released: 2, completed: 300, failed: 4, parked: 5, tombstones: 6 };
    assert_eq!(hex(&counters.encode()), "010102ac02040506");
    assert_eq!(Counters::decode(&counters.encode()).unwrap(), counters);
    assert!(Counters::decode(&[2]).is_err());
}

/// SipHash-2-4 with 128 bits of output, computed by another implementation of it.
const ROW: &str = "a84204146a29fc56306b08dac3e41daf185d5ad1d3e357bf";

#[test]
fn index_rows_sort_oldest_first_and_read_back() {
    let row = RowKey::from_bytes([3; 24]);
    let rows = |state| index::rows(row, [1; 8], &record(state)).collect::<Vec<_>>();
    let unsettled = rows(in_progress());
    assert_eq!(unsettled.len(), 1);
    let read = index::read_unsettled(&unsettled[0].1).unwrap();
    assert_eq!((read.class, read.operation, read.row), (index::RECOVERABLE, [1; 8], row));
    assert_eq!(index::read_expiry(&unsettled[0].1[9..]).unwrap(), (30_500, row), "the end of its lease");
    let settled = rows(State::Completed(Response::empty(), KEPT));
    assert_eq!(settled[0].0, index::Shelf::Expiry);
    assert_eq!(index::read_expiry(&settled[0].1).unwrap(), (2000, row));
    let for_a_person = rows(State::Parked { reason: ParkReason::Handler(String::new()), since: 5, by_begin: false });
    assert_eq!(index::read_unsettled(&for_a_person[0].1).unwrap().class, index::FOR_A_PERSON);
    assert!(index::expiry_end(1999).unwrap().as_slice() <= settled[0].1.as_slice());
    assert!(index::expiry_end(2000).unwrap().as_slice() > settled[0].1.as_slice());
    assert!(index::read_unsettled(&[1, 2]).is_err() && index::read_expiry(&[1, 2]).is_err());
}
