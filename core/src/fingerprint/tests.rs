use proptest::prelude::*;
use serde_json::json;

use super::*;

mod rfc8785;

fn canonical(text: &str) -> String {
    let json = parser::parse(text.as_bytes()).expect("F1 accepts it");
    String::from_utf8(Members::All.canonical(json)).expect("canonical JSON is UTF-8")
}

fn value(version: u8, byte: u8) -> Fingerprint {
    Fingerprint::Value { version, sha256: [byte; 32] }
}

// F1, F2: computed with Python's hashlib, from the contract's words alone.
#[test]
fn fingerprints_are_the_same_in_every_language() {
    let hex = |fingerprint: Fingerprint| fingerprint.hex().unwrap();
    assert_eq!(hex(Fingerprint::of_bytes(&[])), "c1ff83cb84751dde3e177ff942e11ff8ca9ff103f45b0cbde7a829497ed7c39e");
    assert_eq!(
        hex(Fingerprint::of_bytes(&[b"pay", b"", b"\x00\xff"])),
        "db954db1f22c1b31c97bec394947b210d687a8ac0476a6815c1f099635c0480d"
    );
    assert_eq!(
        hex(Fingerprint::of_json_text(r#"{"b": [1.0, -0, 1e2], "a": "€"}"#).unwrap()),
        "4090a782bcabda4bbc48869c512d1dc923b4a12d47e890e13b11ad831a0d76e4"
    );
    assert_eq!(
        hex(Fingerprint::of_json_text(" null ").unwrap()),
        "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"
    );
}

// F1.
#[test]
fn a_value_and_every_text_of_it_have_one_fingerprint() {
    let value =
        json!({ "amount": 12.5, "items": [1, 2, { "é": null }], "ok": true, "z": "\u{1f600}", "big": u64::MAX - 2047 });
    let of_value = Fingerprint::of_json(&value).unwrap();
    let text = r#"{"z":"\ud83d\ude00","ok":true, "items":[1.0,2e0,{"\u00e9":null}],
        "big":18446744073709549568,"amount":1250E-2}"#;
    assert_eq!(Fingerprint::of_json_text(text), Ok(of_value));
    assert_eq!(Fingerprint::of_json_text(value.to_string()), Ok(of_value));
}

// F1.
#[test]
fn minus_zero_is_zero_and_a_fraction_of_zero_does_not_count() {
    assert_eq!(canonical("[-0, -0.0, 0e9, 1.0, 1, 10e-1]"), "[0,0,0,1,1,1]");
    assert_eq!(canonical("[1e-400, 9007199254740992]"), "[0,9007199254740992]");
}

// F1.
#[test]
fn a_value_that_no_double_can_hold_is_refused_with_a_pointer_to_it() {
    let value = json!({ "a/b": [0, { "m~n": 9_007_199_254_740_993_u64 }] });
    let error = Fingerprint::of_json(&value).unwrap_err();
    assert_eq!(error.reason, FingerprintErrorReason::InexactInteger);
    assert_eq!(error.at, Place::Pointer("/a~1b/1/m~0n".into()));
    assert!(Fingerprint::of_json(&json!(i64::MIN)).is_ok(), "minus 2^63 is a double");
    assert!(Fingerprint::of_json(&json!(i64::MAX)).is_err(), "2^63 - 1 is none");
    assert!(Fingerprint::of_json(&json!(1e300)).is_ok());
}

// F1.
#[test]
fn values_nest_128_deep_and_no_deeper() {
    let nest = |levels: usize| (0..levels).fold(json!(0), |inner, _| json!([inner]));
    assert!(Fingerprint::of_json(&nest(JSON_DEPTH_MAX)).is_ok());
    let error = Fingerprint::of_json(&nest(JSON_DEPTH_MAX + 1)).unwrap_err();
    assert_eq!((error.reason, error.at), (FingerprintErrorReason::TooDeep, Place::Pointer("/0".repeat(128))));
}

#[test]
fn an_error_says_what_is_wrong_where_and_what_to_do_in_one_line() {
    assert_eq!(
        Fingerprint::of_json_text("[9007199254740993]").unwrap_err().to_string(),
        "an integer that a double cannot hold exactly at byte 1: send it as a string"
    );
    assert_eq!(
        Fingerprint::of_json(&json!({ "a\n": u64::MAX })).unwrap_err().to_string(),
        "an integer that a double cannot hold exactly at \"/a\\n\": send it as a string"
    );
}

// F7.
#[test]
fn two_values_of_one_version_are_equal_or_different() {
    assert_eq!(value(1, 1).compare(&value(1, 1)), Comparison::Equal);
    assert_eq!(value(1, 1).compare(&value(1, 2)), Comparison::Different);
    assert_eq!(value(2, 1).compare(&value(2, 2)), Comparison::Different);
}

// F7.
#[test]
fn unchecked_and_another_version_cannot_be_compared() {
    let unchecked = Fingerprint::unchecked();
    assert_eq!(unchecked.compare(&Fingerprint::unchecked()), Comparison::Equal);
    for (left, right) in [(unchecked, value(1, 1)), (value(1, 1), value(2, 1)), (value(1, 1), value(2, 2))] {
        assert_eq!(left.compare(&right), Comparison::Unknown);
        assert_eq!(right.compare(&left), Comparison::Unknown);
    }
}

#[test]
fn a_fingerprint_reads_as_its_version_and_hash() {
    assert_eq!(value(1, 0xa5).hex(), Some("a5".repeat(32)));
    assert_eq!(value(2, 0x0f).to_string(), format!("v2:{}", "0f".repeat(32)));
    assert_eq!((Fingerprint::Unchecked.hex(), Fingerprint::Unchecked.to_string()), (None, "unchecked".into()));
}

proptest! {
    // F2: parts of few letters, so that equal concatenations are common.
    #[test]
    fn no_two_lists_of_parts_collide_by_concatenation(
        left in prop::collection::vec("[ab]{0,2}", 0..4),
        right in prop::collection::vec("[ab]{0,2}", 0..4),
    ) {
        let of = |parts: &[String]| Fingerprint::of_bytes(&parts.iter().map(String::as_bytes).collect::<Vec<_>>());
        prop_assert_eq!(left == right, of(&left) == of(&right));
    }
}

#[test]
fn a_hash_in_digits_is_the_fingerprint_that_told_them_and_nothing_else_is() {
    let made = Fingerprint::of_bytes(&[b"a", b"b"]);
    let digits = made.hex().unwrap();
    assert_eq!(Fingerprint::of_hex(&digits), Some(made));
    for wrong in [
        "",
        &digits[1..],
        &format!("{digits}0"),
        &format!("{digits}00"),
        &digits.to_uppercase(),
        &digits.replacen(|_: char| true, "g", 1),
    ] {
        assert_eq!(Fingerprint::of_hex(wrong), None, "{wrong}");
    }
}
