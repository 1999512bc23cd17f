use std::collections::HashSet;

use super::*;

fn reason(part: Result<Key, KeyError>) -> KeyErrorReason {
    part.expect_err("L1 refuses it").reason
}

// L1.
#[test]
fn a_part_is_1_to_255_bytes_counted_in_bytes_of_utf8() {
    assert_eq!(reason(Key::new("")), KeyErrorReason::Empty);
    assert_eq!(Key::new("k").unwrap().as_str(), "k");
    assert!(Key::new("k".repeat(255)).is_ok());
    assert_eq!(reason(Key::new("k".repeat(256))), KeyErrorReason::TooLong { bytes: 256 });
    assert!(Key::new("é".repeat(127)).is_ok());
    assert_eq!(reason(Key::new("é".repeat(128))), KeyErrorReason::TooLong { bytes: 256 });
}

// L1.
#[test]
fn every_control_character_and_no_other_character_is_refused() {
    for character in (0..=0x1f).chain([0x7f]) {
        let text = format!("é{}", char::from(character));
        assert_eq!(reason(Key::new(text)), KeyErrorReason::ControlCharacter { character, at: 2 });
    }
    for character in (0x20..0x7f).map(char::from).chain(['\u{80}', '\u{85}', '\u{200b}', '\u{feff}', '\u{10ffff}']) {
        assert!(Key::new(character.to_string()).is_ok(), "{character:?}");
    }
}

// L1.
#[test]
fn the_error_names_the_part_the_reason_and_what_to_do_in_one_line() {
    let message = |error: KeyError| error.to_string();
    assert_eq!(message(Scope::new("").unwrap_err()), "scope is empty: give it 1 to 255 bytes of UTF-8");
    assert_eq!(
        message(OperationName::new("o".repeat(300)).unwrap_err()),
        "operation name is 300 bytes long: shorten it to 255 bytes of UTF-8, or use a hash of it"
    );
    assert_eq!(
        message(Key::new("a\nb").unwrap_err()),
        "key holds the control character U+000A at byte 1: remove or encode it"
    );
}

// L1.
#[test]
fn parts_are_compared_byte_for_byte_without_normalising() {
    let composed = Key::new("\u{e9}").unwrap();
    let decomposed = Key::new("e\u{301}").unwrap();
    let spaced = Key::new(" k ").unwrap();
    assert_ne!(composed, decomposed);
    assert_ne!(Key::new("K").unwrap(), Key::new("k").unwrap());
    assert_ne!(spaced, Key::new("k").unwrap());
    assert_eq!(spaced.as_str(), " k ");
}

#[test]
fn a_name_out_of_a_literal_is_the_same_as_a_copied_one_and_checked_as_well() {
    let literal = OperationName::declared("charge").unwrap();
    let owned = OperationName::declared(String::from("charge")).unwrap();
    assert!(matches!(literal.0, Text::Literal(_)) && matches!(owned.0, Text::Shared(_)));
    assert_eq!(literal, owned);
    assert_eq!(HashSet::from([literal, owned]).len(), 1);
    assert_eq!(OperationName::declared("").unwrap_err(), OperationName::new("").unwrap_err());
}

// L3.
#[test]
fn the_single_scope_is_a_scope_like_others() {
    assert_eq!(Scope::single(), Scope::new(Scope::single().as_str()).unwrap());
    assert_ne!(Scope::single(), Scope::new("single").unwrap());
}
