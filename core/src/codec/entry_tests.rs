//! Golden bytes of the outbox's rows, version 1 (docs/format.md).

use super::line;
use super::outbox::{Declared, LaneRow, OutboxRow, Request, decode, decode_entry, encode, encode_entry};
use crate::fingerprint::Fingerprint;
use crate::key::{Key, LaneName, OperationName, Purpose, Scope};
use crate::machine::backoff::Budget;
use crate::machine::entry::{Entry, Order, Sent, Stays, TryError};
use crate::machine::record::{AuditEntry, Stamp};
use crate::machine::standing::{DeadReason, EntryState, EntryStateName, UnknownReason};
use crate::machine::timeline::Timeline;
use crate::response::{Body, Response};

const STAMP: Stamp = Stamp { wall_ms: 500, mono_ms: 5, opening: 1 };
const SALT: [u8; 16] = [9; 16];

/// An entry in which every field has something.
fn entry(state: EntryState) -> Entry {
    Entry {
        id: 7,
        position: 3,
        scope: Scope::new("ada").unwrap(),
        lane: LaneName::new("l").unwrap(),
        order: Order::Strict { blocks: true },
        operation: OperationName::new("pay").unwrap(),
        key: Key::new("k1").unwrap(),
        purpose: Some(Purpose::new("p").unwrap()),
        fingerprint: Fingerprint::Value { version: 1, sha256: [0xAB; 32] },
        request_bytes: 300,
        state,
        fence: 2,
        tries: 1,
        given_back: 4,
        errors: vec![TryError { at_ms: 8, error: "e".into() }],
        ready_at: 1000,
        ends_at: Some(2000),
        in_doubt: true,
        first_unknown: Some(Sent { at: 501, stamp: STAMP }),
        key_known_until: Some(3000),
        send_by: Some(4000),
        created_at: 499,
        created_at_ms: 498,
        stays: Some(Stays { settled_at_ms: 1, purpose_until: 2, until: 3 }),
        successor: Some(9),
        audit: vec![AuditEntry { at_ms: 9, outcome: "dead".into(), who: "w".into(), note: "n".into() }],
        change: 6,
    }
}

/// One of each state, and of each form of what is in it.
fn states() -> Vec<EntryState> {
    let omitted = Response::of("", Body::Omitted { length: 9, sha256: [7; 32] });
    let mut states = vec![
        EntryState::Pending,
        EntryState::Sending { lease_end: 900 },
        EntryState::Held { reason: "401".into(), with_lane: true },
        EntryState::Answered { response: Response::new("t", b"hi".to_vec()), is_yes: true },
        EntryState::Answered { response: omitted, is_yes: false },
        EntryState::Cancelled { in_time: true },
    ];
    let unknown = [
        UnknownReason::WindowOver,
        UnknownReason::OutOfTries,
        UnknownReason::TooOld,
        UnknownReason::Contradicted,
        UnknownReason::Told("why".into()),
    ];
    let dead = [
        DeadReason::OutOfTries,
        DeadReason::TooOld,
        DeadReason::Told("why".into()),
        DeadReason::Resolved,
        DeadReason::Dismissed,
        DeadReason::Superseded,
    ];
    states.extend(unknown.map(EntryState::Unknown));
    states.extend(dead.map(EntryState::Dead));
    states
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// Position, scope, lane, order, operation, key, purpose, fingerprint, length of the request.
const HEAD: &str = concat!(
    "01",
    "03",
    "03616461",
    "016c",
    "01",
    "03706179",
    "026b31",
    "010170",
    "0101abababababababababababababababababababababababababababababababab",
    "ac02",
);

/// Fence, tries, given back, errors, ready at, ends at, in doubt, first unknown, known until, send by, created at (twice), stays,
/// successor, audit, change.
const TAIL: &str = concat!(
    "02",
    "01",
    "04",
    "01080165",
    "e807",
    "01d00f",
    "01",
    "01f503f4030501",
    "01b817",
    "01a01f",
    "f303",
    "f203",
    "01010203",
    "0109",
    "010904646561640177016e",
    "06",
);

#[test]
fn golden_bytes_of_every_state() {
    let golden = [
        "00",
        "018407",
        "020334303101",
        "0401740002686901",
        "04000109070707070707070707070707070707070707070707070707070707070707070700",
        "0601",
        "0300",
        "0301",
        "0302",
        "0303",
        "030403776879",
        "0500",
        "0501",
        "050203776879",
        "0503",
        "0504",
        "0505",
    ];
    assert_eq!(golden.len(), states().len());
    for (state, golden) in states().into_iter().zip(golden) {
        assert_eq!(hex(&encode_entry(&entry(state))), format!("{HEAD}{golden}{TAIL}"));
    }
}

#[test]
fn every_state_comes_back_as_it_was() {
    for state in states() {
        let entry = entry(state);
        assert_eq!(decode_entry(7, &encode_entry(&entry)).unwrap(), entry);
    }
    let bare = Entry {
        purpose: None,
        fingerprint: Fingerprint::Unchecked,
        order: Order::Strict { blocks: false },
        first_unknown: None,
        stays: None,
        ..entry(EntryState::Pending)
    };
    assert_eq!(decode_entry(7, &encode_entry(&bare)).unwrap(), bare);
}

#[test]
fn damaged_bytes_are_an_error_and_never_a_panic() {
    for state in states() {
        let bytes = encode_entry(&entry(state));
        for length in 0..bytes.len() {
            assert!(decode_entry(7, &bytes[..length]).is_err(), "cut to {length}");
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let _ = decode_entry(7, &damaged);
            }
        }
        assert!(decode_entry(7, &[bytes.as_slice(), &[0]].concat()).is_err(), "a byte too many");
    }
}

#[test]
fn golden_bytes_of_the_other_rows() {
    let budget = Budget { tokens: 100, since: 1000 };
    let mut row = OutboxRow::new(Timeline { at: 1000, stamp: STAMP }, budget);
    row.move_entry(None, Some(&entry(EntryState::Pending)));
    row.move_entry(None, Some(&entry(EntryState::Cancelled { in_time: true })));
    assert_eq!(hex(&row.encode()), "01e807f403050164e8070101ac0201000000000001");
    assert_eq!(OutboxRow::decode(&row.encode()).unwrap(), row);
    assert_eq!((row.unsettled(), row.count(EntryStateName::Cancelled)), (1, 1));
    for damaged in [OutboxRow { next_id: 0, ..row }, OutboxRow { next_change: u64::MAX, ..row }, {
        OutboxRow { counts: [u64::MAX; 7], ..row }
    }] {
        assert!(OutboxRow::decode(&damaged.encode()).is_err(), "{damaged:?}");
    }
    row.move_entry(Some(&entry(EntryState::Pending)), None);
    assert_eq!((row.unsettled(), row.unsettled_bytes), (0, 0));

    let request = Request { media_type: "t".into(), bytes: b"hi".to_vec() };
    assert_eq!(hex(&encode(&request)), "010174026869");
    assert_eq!(decode::<Request>("a request", &encode(&request)).unwrap(), request);
    let lane = LaneRow { scope: "s".into(), lane: "l".into(), held: Some(("401".into(), 8)), paused_until: 9 };
    assert_eq!(hex(&encode(&lane)), "010173016c01033430310809");
    assert_eq!(
        [Declared::Unordered, Declared::Blocks, Declared::Skips].map(|lane| hex(&encode(&lane))),
        ["0100", "0101", "0102"]
    );
    assert!(decode::<LaneRow>("a lane", &[2]).unwrap_err().to_string().contains("version 2"));
    assert!(decode::<LaneRow>("a lane", &[]).is_err());
}

/// What the index rows of an entry in this state begin with.
fn rows(state: EntryState, change: impl FnOnce(&mut Entry)) -> String {
    let mut entry = entry(state);
    change(&mut entry);
    line::rows(&entry, &SALT).iter().map(|row| char::from(row[0])).collect()
}

#[test]
fn which_index_rows_an_entry_has_goes_by_its_state() {
    let same = |_: &mut Entry| ();
    let skips = |entry: &mut Entry| entry.order = Order::Strict { blocks: false };
    let unsettled = |entry: &mut Entry| (entry.stays, entry.ends_at) = (None, None);
    let held = || EntryState::Held { reason: String::new(), with_lane: true };
    assert_eq!(rows(EntryState::Pending, unsettled), "kcpd");
    assert_eq!(rows(EntryState::Pending, |entry| entry.stays = None), "kcpdt");
    assert_eq!(rows(held(), unsettled), "kcpdh");
    assert_eq!(rows(held(), |entry| (entry.stays, entry.ends_at, entry.order) = (None, None, Order::None)), "kcph");
    assert_eq!(rows(EntryState::Dead(DeadReason::OutOfTries), same), "kcpdt", "a blocking head is not swept");
    assert_eq!(rows(EntryState::Dead(DeadReason::OutOfTries), skips), "kcptx");
    assert_eq!(rows(EntryState::Dead(DeadReason::Dismissed), same), "kcptx");
    assert_eq!(rows(EntryState::Cancelled { in_time: true }, |entry| entry.purpose = None), "kctx");
}

#[test]
fn index_rows_read_back() {
    let rows = line::rows(&entry(EntryState::Pending), &SALT);
    let row = |first: u8| rows.iter().find(|row| row[0] == first).unwrap();
    assert_eq!(line::read_id(row(b'k')).unwrap(), 7);
    assert_eq!(line::read_purpose_id(row(b'p')).unwrap(), 7);
    assert_eq!((line::read_number(row(b'c')).unwrap(), line::read_id(row(b'c')).unwrap()), (6, 7));
    assert_eq!((line::read_number(row(b'd')).unwrap(), line::read_id(row(b'd')).unwrap()), (3, 7), "its position");
    assert_eq!(line::read_number(row(b't')).unwrap(), 2000);
    let lane = line::lane_mark(&LaneName::new("l").unwrap(), &SALT);
    assert_eq!(line::read_lane(row(b'd')).unwrap(), lane);
    assert!(line::read_id(b"short").is_err() && line::read_number(b"short").is_err() && line::read_lane(b"s").is_err());
    let prefix = line::end_prefix(line::scope_mark(&Scope::new("ada").unwrap(), &SALT));
    assert!(line::after_instant(&prefix, 1999).as_slice() <= row(b't').as_slice());
    assert!(line::after_instant(&prefix, 2000).as_slice() > row(b't').as_slice());
    assert!(line::after_instant(&prefix, u64::MAX) > [prefix.as_slice(), &[u8::MAX; 8]].concat());
}
