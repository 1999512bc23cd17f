//! What happened against what was expected, by the five rules of the README.

use std::collections::BTreeMap;

use serde_json::Value;

use super::values::{bytes, expected_response, shown_bytes};

/// What steps before have given names.
#[derive(Clone, Default)]
pub(super) struct Names {
    /// Fences of claims.
    pub(super) fences: BTreeMap<String, u64>,
    /// Entries of the outbox: their ids and keys.
    pub(super) entries: BTreeMap<String, (u64, String)>,
}

/// Members whose value is bytes.
const BYTES: [&str; 3] = ["memo", "value", "request"];
/// Members whose value is a response.
const RESPONSES: [&str; 2] = ["response", "replayed_failure"];

/// None when `actual` is as `expected` says; else where it differs first.
pub(super) fn difference(expected: &Value, actual: &Value, names: &Names) -> Option<String> {
    Comparison { names }.at("", expected, actual)
}

struct Comparison<'a> {
    names: &'a Names,
}

impl Comparison<'_> {
    fn at(&self, path: &str, expected: &Value, actual: &Value) -> Option<String> {
        match (expected, actual) {
            (Value::Object(_), _) if is_range(expected) => outside(path, expected, actual),
            (Value::Object(_), _) if is_bytes(expected) => equal(path, &shown_bytes(&bytes(expected)), actual),
            (Value::Object(members), Value::Object(_)) => {
                members.iter().find_map(|(name, value)| self.member(path, name, value, actual))
            }
            (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
                let pairs = wanted.iter().zip(found).enumerate();
                pairs.into_iter().find_map(|(at, (wanted, found))| self.at(&format!("{path}/{at}"), wanted, found))
            }
            _ => equal(path, expected, actual),
        }
    }

    fn member(&self, path: &str, name: &str, expected: &Value, actual: &Value) -> Option<String> {
        let path = format!("{path}/{name}");
        match name {
            "any_order" => None,
            "fence_above" => self.fence(&path, expected, actual, |found, named| found > named),
            "fence_equals" => self.fence(&path, expected, actual, |found, named| found == named),
            "is" => self.entry(&path, expected, &actual["id"], |(id, _)| Value::from(*id)),
            "successor_is" => self.entry(&path, expected, &actual["successor"], |(id, _)| Value::from(*id)),
            "key_of" => self.entry(&path, expected, &actual["key"], |(_, key)| Value::from(key.as_str())),
            "message_has" => contains(&path, expected, &actual["message"]),
            _ if RESPONSES.contains(&name) => self.at(&path, &expected_response(expected), &actual[name]),
            _ if BYTES.contains(&name) => equal(&path, &shown_bytes(&bytes(expected)), &actual[name]),
            _ => match actual.get(name) {
                Some(found) => self.at(&path, expected, found),
                None => Some(format!("{path}: expected {expected}, and there is no such member")),
            },
        }
    }

    fn entry(&self, path: &str, name: &Value, found: &Value, told: fn(&(u64, String)) -> Value) -> Option<String> {
        match name.as_str().and_then(|name| self.names.entries.get(name)) {
            Some(known) => equal(path, &told(known), found),
            None => Some(format!("{path}: no entry has been named {name}")),
        }
    }

    fn fence(&self, path: &str, name: &Value, actual: &Value, holds: fn(u64, u64) -> bool) -> Option<String> {
        let named = name.as_str().and_then(|name| self.names.fences.get(name));
        match (actual["fence"].as_u64(), named) {
            (Some(found), Some(&named)) if holds(found, named) => None,
            (found, named) => Some(format!("{path}: fence {found:?}, that of {name} is {named:?}")),
        }
    }
}

/// A number that the dice have a say in.
fn is_range(value: &Value) -> bool {
    value.get("at_least").is_some() || value.get("at_most").is_some()
}

fn outside(path: &str, range: &Value, actual: &Value) -> Option<String> {
    let found = actual.as_i64();
    let is_in = found.is_some_and(|found| {
        range["at_least"].as_i64().is_none_or(|least| least <= found)
            && range["at_most"].as_i64().is_none_or(|most| found <= most)
    });
    (!is_in).then(|| format!("{path}: expected {range}, found {}", short(actual)))
}

fn is_bytes(value: &Value) -> bool {
    value.get("hex").is_some() || value.get("repeat").is_some()
}

fn equal(path: &str, expected: &Value, actual: &Value) -> Option<String> {
    (expected != actual).then(|| format!("{path}: expected {}, found {}", short(expected), short(actual)))
}

fn contains(path: &str, part: &Value, whole: &Value) -> Option<String> {
    let (part, text) = (part.as_str().unwrap_or_default(), whole.as_str().unwrap_or_default());
    (!text.contains(part)).then(|| format!("{path}: expected {part:?} in {whole}"))
}

/// A value on one line that a terminal can bear.
pub(super) fn short(value: &Value) -> String {
    const CHARACTERS_MAX: usize = 300;
    let text = value.to_string();
    if text.chars().count() <= CHARACTERS_MAX {
        text
    } else {
        text.chars().take(CHARACTERS_MAX).chain("...".chars()).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn differs(expected: &Value, actual: &Value) -> bool {
        let names = Names {
            fences: BTreeMap::from([("c1".to_owned(), 7)]),
            entries: BTreeMap::from([("e1".to_owned(), (3, "k".to_owned()))]),
        };
        difference(expected, actual, &names).is_some()
    }

    #[test]
    fn members_that_are_not_named_do_not_count() {
        assert!(!differs(&json!({"a": 1}), &json!({"a": 1, "b": 2})));
        assert!(differs(&json!({"a": 1, "b": 2}), &json!({"a": 1})));
        assert!(differs(&json!({"a": 1}), &json!({"a": 2})));
    }

    #[test]
    fn lists_have_equal_lengths() {
        assert!(differs(&json!({"keys": []}), &json!({"keys": ["k"]})));
        assert!(!differs(&json!([["a", "b"]]), &json!([["a", "b"]])));
    }

    #[test]
    fn fences_compare_with_named_ones() {
        assert!(!differs(&json!({"fence_above": "c1"}), &json!({"fence": 8})));
        assert!(differs(&json!({"fence_above": "c1"}), &json!({"fence": 7})));
        assert!(!differs(&json!({"fence_equals": "c1"}), &json!({"fence": 7})));
        assert!(differs(&json!({"fence_above": "c2"}), &json!({"fence": 8})));
    }

    #[test]
    fn entries_compare_with_named_ones() {
        assert!(!differs(&json!({"is": "e1", "key_of": "e1"}), &json!({"id": 3, "key": "k"})));
        assert!(differs(&json!({"is": "e1"}), &json!({"id": 4, "key": "k"})));
        assert!(differs(&json!({"key_of": "e1"}), &json!({"id": 3, "key": "l"})));
        assert!(differs(&json!({"successor_is": "e1"}), &json!({"id": 3, "successor": null})));
        assert!(differs(&json!({"is": "e2"}), &json!({"id": 3})));
    }

    #[test]
    fn a_range_has_both_its_ends() {
        let range = json!({"due_at_ms": {"at_least": 5, "at_most": 9}});
        assert!([5, 9].iter().all(|found| !differs(&range, &json!({"due_at_ms": found}))));
        assert!([4, 10].iter().all(|found| differs(&range, &json!({"due_at_ms": found}))));
        assert!(differs(&range, &json!({"due_at_ms": null})));
    }

    #[test]
    fn bytes_are_the_same_in_every_spelling() {
        assert!(!differs(&json!({"memo": {"hex": "6162"}}), &json!({"memo": "ab"})));
        assert!(!differs(&json!({"memo": {"repeat": "a", "times": 2}}), &json!({"memo": "aa"})));
        assert!(differs(&json!({"memo": ""}), &json!({"memo": "a"})));
    }

    #[test]
    fn a_media_type_counts_where_it_is_named() {
        let told = json!({"response": {"media_type": "text/csv", "body": "x"}});
        assert!(!differs(&json!({"response": {"text": "x"}}), &told));
        assert!(differs(&json!({"response": {"text": "x", "media_type": "text/html"}}), &told));
        assert!(differs(&json!({"response": {"empty": true}}), &told));
    }
}
