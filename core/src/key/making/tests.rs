use std::collections::HashSet;

use proptest::prelude::*;
use uuid::Variant;

use super::*;
use crate::entropy::SeededEntropy;

fn uuid(key: &Key) -> Uuid {
    let uuid = Uuid::parse_str(key.as_str()).expect("a made key is a UUID");
    assert_eq!(uuid.hyphenated().to_string(), key.as_str(), "lower case with hyphens");
    uuid
}

/// A source of ones alone, to see which bits are fixed.
struct Ones;

impl Entropy for Ones {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(0xff);
    }
}

// F5.
#[test]
fn versions_and_variants_are_those_of_rfc_9562() {
    let source = SeededEntropy::new(1);
    for (key, version) in [(Key::v7(5, &source), 7), (Key::v4(&source), 4), (Key::derive("n", &[]), 8)] {
        assert_eq!((uuid(&key).get_version_num(), uuid(&key).get_variant()), (version, Variant::RFC4122));
    }
    assert_eq!(Key::v4(&Ones).as_str(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    assert_eq!(Key::v7(0x0123_4567_89ab, &Ones).as_str(), "01234567-89ab-7fff-bfff-ffffffffffff");
}

// F5.
#[test]
fn keys_of_the_default_kind_sort_by_the_millisecond_they_were_made_in() {
    let source = SeededEntropy::new(2);
    let keys: Vec<Key> =
        [0, 1, 255, 256, 1_764_400_000_000, 1_764_400_000_001].map(|now_ms| Key::v7(now_ms, &source)).to_vec();
    assert!(keys.is_sorted());
}

// F5.
#[test]
fn keys_from_the_operating_system_do_not_repeat() {
    let random: HashSet<Key> = (0..100).flat_map(|_| [Key::random(), Key::random_v4()]).collect();
    assert_eq!(random.len(), 200);
}

// F6: computed with Python's hashlib and uuid, from the contract's words alone.
#[test]
fn derived_keys_are_the_same_in_every_language() {
    assert_eq!(Key::derive("orders", &[b"order 12", b"charge"]).as_str(), "13f4daf9-de6b-8450-b609-7cfa885ada68");
    assert_eq!(Key::derive("", &[]).as_str(), "c75a53d7-9527-86fd-b1a0-66f87e862e20");
    assert_eq!(Key::derive("n", &[b"", b"\x00\xff"]).as_str(), "455dbc62-8be3-845a-8dd3-e84cd934dfe3");
}

proptest! {
    // F6: 122 bits of a hash do not collide by chance.
    #[test]
    fn two_lists_of_parts_derive_two_keys(
        left in prop::collection::vec("[ab]{0,2}", 0..4),
        right in prop::collection::vec("[ab]{0,2}", 0..4),
    ) {
        let derive = |parts: &[String]| {
            let (namespace, parts) = parts.split_first().map_or(("", parts), |(first, rest)| (first.as_str(), rest));
            (namespace.to_owned(), Key::derive(namespace, &parts.iter().map(String::as_bytes).collect::<Vec<_>>()))
        };
        let same = derive(&left).0 == derive(&right).0 && left.get(1..).unwrap_or_default() == right.get(1..).unwrap_or_default();
        prop_assert_eq!(same, derive(&left).1 == derive(&right).1);
    }
}
