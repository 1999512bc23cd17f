use proptest::prelude::*;

use super::*;

fn id(scope: &str, operation: &str, key: &str) -> KeyId {
    KeyId::new(Scope::new(scope).unwrap(), operation, Key::new(key).unwrap()).unwrap()
}

/// Text of few different characters, so that the parts of two ids often look alike, and of up to 255 bytes.
fn part() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]{1,3}", "[a€\u{1}-\u{2}]{1,9}".prop_filter("L1", |text| Key::new(text).is_ok()), "[a-zé]{1,127}"]
}

fn any_id() -> impl Strategy<Value = KeyId> {
    (part(), part(), part()).prop_map(|(scope, operation, key)| id(&scope, &operation, &key))
}

proptest! {
    // L2.
    #[test]
    fn no_two_ids_have_the_same_bytes_nor_does_one_start_with_another(left in any_id(), right in any_id()) {
        prop_assert_eq!(left == right, left.to_bytes() == right.to_bytes());
        prop_assert_eq!(left == right, right.to_bytes().starts_with(&left.to_bytes()));
    }

    // L2.
    #[test]
    fn bytes_give_back_the_id(id in any_id()) {
        prop_assert_eq!(KeyId::from_bytes(&id.to_bytes()), Ok(id));
    }

    #[test]
    fn whatever_bytes_are_read_they_are_an_id_of_these_bytes_or_an_error(bytes in prop::collection::vec(0_u8..5, 0..12)) {
        if let Ok(id) = KeyId::from_bytes(&bytes) {
            prop_assert_eq!(id.to_bytes(), bytes);
        }
    }
}

#[test]
fn the_bytes_are_length_and_text_of_scope_operation_and_key() {
    assert_eq!(id("user 7", "pay", "k").to_bytes(), b"\x06user 7\x03pay\x01k");
    let longest = "x".repeat(255);
    assert_eq!(id(&longest, &longest, &longest).to_bytes().len(), 3 * 256);
}

#[test]
fn damaged_bytes_are_told_apart() {
    let read = |bytes: &[u8]| KeyId::from_bytes(bytes).unwrap_err();
    assert_eq!(read(b""), KeyIdBytesError::TooShort);
    assert_eq!(read(b"\x01a\x01b\x02c"), KeyIdBytesError::TooShort);
    assert_eq!(read(b"\x01a\x01b\x01c!?"), KeyIdBytesError::TooLong(2));
    assert_eq!(read(b"\x01a\x01\xff\x01c"), KeyIdBytesError::NotUtf8);
    assert!(matches!(read(b"\x01a\x00\x01c"), KeyIdBytesError::Refused(KeyError { .. })));
    assert!(matches!(read(b"\x01a\x01b\x01\n"), KeyIdBytesError::Refused(KeyError { .. })));
}

// L1.
#[test]
fn an_operation_s_name_is_checked_when_an_id_is_made_of_it() {
    let refused = KeyId::new(Scope::single(), "", Key::new("k").unwrap());
    assert_eq!(refused, Err(OperationName::new("").unwrap_err()));
}

#[test]
fn an_id_reads_as_its_parts() {
    assert_eq!(id("u", "POST /pay", "k").to_string(), "u / POST /pay / k");
}

// E3, F6: computed with Python's hashlib and uuid, from the contract's words alone.
#[test]
fn a_derived_key_depends_on_the_id_and_the_name_alone() {
    let claim = id("user 7", "POST /v1/charges", "k1");
    assert_eq!(claim.derive_key("bank").as_str(), "d331a286-145d-899a-8966-88fdb9fd1644");
    assert_eq!(claim.derive_key("bank"), Key::derive("user 7", &[b"POST /v1/charges", b"k1", b"bank"]));
    assert_ne!(claim.derive_key("bank"), claim.derive_key("mail"));
    assert_ne!(claim.derive_key("bank"), id("user 7", "POST /v1/charge", "sk1").derive_key("bank"));
}
