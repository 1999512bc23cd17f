//! Between the JSON of scenarios and the values of the public surface.

use std::time::Duration;

use keyledger::{Body, Fingerprint, Key, KeyId, Operation, Response, Scope};
use serde_json::{Value, json};

use super::scenario::{Declared, Id};

/// Bytes: text as UTF-8, `hex`, or `repeat` and `times`.
pub(super) fn bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) => text.clone().into_bytes(),
        other => match other["hex"].as_str() {
            Some(hex) => unhex(hex),
            None => repeated(other).unwrap_or_else(|| panic!("no bytes: {other}")).into_bytes(),
        },
    }
}

/// Text, in the two forms that Rust can have.
pub(super) fn text(value: &Value) -> String {
    String::from_utf8(bytes(value)).expect("text in UTF-8: the rest is for other languages")
}

fn repeated(value: &Value) -> Option<String> {
    let times = usize::try_from(value["times"].as_u64()?).ok()?;
    Some(value["repeat"].as_str()?.repeat(times))
}

/// Bytes as scenarios write them, each in one way: text where it is some, else `hex`.
pub(super) fn shown_bytes(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => json!(text),
        Err(_) => json!({ "hex": hex(bytes) }),
    }
}

pub(super) fn response(value: &Value) -> Response {
    if value.get("empty").is_some() {
        return Response::empty();
    }
    if let Some(inner) = value.get("json") {
        return Response::json(inner).expect("a JSON value becomes a response");
    }
    let media_type = value["media_type"].as_str().unwrap_or("text/plain");
    Response::new(media_type, bytes(value.get("text").unwrap_or(value)))
}

pub(super) fn shown_response(response: &Response) -> Value {
    let media_type = response.media_type();
    match response.body() {
        Body::Stored(bytes) => json!({ "media_type": media_type, "body": shown_bytes(bytes) }),
        Body::Omitted { length, sha256 } => {
            json!({ "media_type": media_type, "omitted": { "length": length, "sha256": hex(sha256) } })
        }
    }
}

/// A response that a scenario expects, in the form of [`shown_response`], with the media type only where it is named.
pub(super) fn expected_response(value: &Value) -> Value {
    let mut shown = if value.get("omitted").is_some() {
        json!({ "omitted": value["omitted"] })
    } else if value.get("empty").is_some() {
        json!({ "body": "" })
    } else {
        json!({ "body": shown_bytes(&bytes(value.get("text").unwrap_or(value))) })
    };
    if let Some(media_type) = value.get("media_type") {
        shown["media_type"] = media_type.clone();
    }
    shown
}

pub(super) fn fingerprint(value: Option<&Value>) -> Fingerprint {
    match value {
        Some(Value::Object(_)) => Fingerprint::unchecked(),
        Some(text) => Fingerprint::of_bytes(&[&bytes(text)]),
        None => Fingerprint::of_bytes(&[b"request-1"]),
    }
}

pub(super) fn scope(value: Option<&Value>) -> keyledger::Result<Scope> {
    match value {
        Some(value) if value.get("single").is_some() => Ok(Scope::single()),
        Some(value) => Ok(Scope::new(text(value))?),
        None => Ok(Scope::new("tenant-1")?),
    }
}

pub(super) fn key(value: Option<&Value>) -> keyledger::Result<Key> {
    Ok(Key::new(value.map_or_else(|| "key-1".to_owned(), text))?)
}

pub(super) fn key_id(id: &Id, operation_name: &str) -> keyledger::Result<KeyId> {
    Ok(KeyId::new(scope(id.scope.as_ref())?, operation_name, key(id.key.as_ref())?)?)
}

pub(super) fn milliseconds(value: i64) -> Duration {
    Duration::from_millis(u64::try_from(value).expect("a duration that Rust can have"))
}

fn duration(value: &Value) -> Duration {
    if value == "max" { Duration::MAX } else { milliseconds(value.as_i64().expect("milliseconds")) }
}

pub(super) fn operation_name(declared: &Declared, alias: &str) -> String {
    declared.name.as_ref().map_or_else(|| alias.to_owned(), text)
}

pub(super) fn operation(declared: &Declared, alias: &str) -> Operation {
    let effect = super::answers::effect_named(&declared.effect);
    let mut operation = Operation::new(effect, operation_name(declared, alias));
    if let Some(lease) = &declared.lease_ms {
        operation = operation.lease(duration(lease));
    }
    if let Some(retention) = &declared.retention_ms {
        operation = operation.retention(duration(retention));
    }
    if let Some(tombstone) = &declared.tombstone_ms {
        operation = operation.tombstone(duration(tombstone));
    }
    if let Some(remembered_for) = &declared.remembered_for_ms {
        operation = operation.remembered_for(duration(remembered_for));
    }
    if let Some(max_attempts) = declared.max_attempts {
        operation = operation.max_attempts(max_attempts);
    }
    operation
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|nibble| char::from(b"0123456789abcdef"[usize::from(nibble)]))
        .collect()
}

pub(super) fn unhex(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.chars().map(|c| u8::try_from(c.to_digit(16).expect("a hexadecimal digit")).unwrap_or(0)).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}
