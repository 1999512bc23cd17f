//! JSON as RFC 8785 sees it, and its canonical bytes.
//!
//! The crates that canonicalise (`serde_json_canonicalizer`, `serde_jcs`, `json-canon`) take a value that has been parsed,
//! when it is too late for F1, and switch on `serde_json/float_roundtrip` for everything else in the program. What is hard
//! in RFC 8785 is ECMAScript's number format, which comes from `ryu-js`, and escaping, which `serde_json` does as wanted.
//! The first of those crates is the oracle of a property test.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;

use super::double;
use super::error::{FingerprintError, FingerprintErrorReason, JSON_DEPTH_MAX};
use super::number;

/// A JSON value that F1 accepts.
pub(super) enum Json<'a> {
    Null,
    Bool(bool),
    /// Finite.
    Number(f64),
    Text(Cow<'a, str>),
    Array(Vec<Json<'a>>),
    /// In canonical order, each name once.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
    /// Not there, as far as the fingerprint goes (F4). Its neighbours keep their indexes.
    LeftOut,
}

/// The order of RFC 8785, section 3.2.3: by UTF-16 code units.
pub(super) fn canonical_order(left: &str, right: &str) -> Ordering {
    if left.is_ascii() && right.is_ascii() { left.cmp(right) } else { left.encode_utf16().cmp(right.encode_utf16()) }
}

impl<'a> Json<'a> {
    pub(super) fn of_value(value: &'a Value) -> Result<Self, FingerprintError> {
        Self::of_nested(value, JSON_DEPTH_MAX)
    }

    fn of_nested(value: &'a Value, levels_left: usize) -> Result<Self, FingerprintError> {
        let deeper = || levels_left.checked_sub(1).ok_or(FingerprintErrorReason::TooDeep.here());
        Ok(match value {
            Value::Null => Self::Null,
            Value::Bool(is) => Self::Bool(*is),
            Value::Number(number) => Self::Number(number::of_number(number).map_err(FingerprintErrorReason::here)?),
            Value::String(text) => Self::Text(Cow::Borrowed(text)),
            Value::Array(items) => Self::of_items(items, deeper()?)?,
            Value::Object(members) => Self::of_members(members, deeper()?)?,
        })
    }

    fn of_items(items: &'a [Value], levels_left: usize) -> Result<Self, FingerprintError> {
        let item = |(index, value): (usize, &'a Value)| {
            Self::of_nested(value, levels_left).map_err(|error| error.inside(&index.to_string()))
        };
        items.iter().enumerate().map(item).collect::<Result<_, _>>().map(Self::Array)
    }

    fn of_members(members: &'a serde_json::Map<String, Value>, levels_left: usize) -> Result<Self, FingerprintError> {
        let member = |(name, value): (&'a String, &'a Value)| {
            let value = Self::of_nested(value, levels_left).map_err(|error| error.inside(name))?;
            Ok((Cow::Borrowed(name.as_str()), value))
        };
        let mut members = members.iter().map(member).collect::<Result<Vec<_>, _>>()?;
        members.sort_by(|left, right| canonical_order(&left.0, &right.0));
        Ok(Self::Object(members))
    }

    /// Appends the bytes that RFC 8785 has for this value.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(true) => out.extend_from_slice(b"true"),
            Self::Bool(false) => out.extend_from_slice(b"false"),
            Self::Number(number) => out.extend_from_slice(double::shortest(*number).as_bytes()),
            Self::Text(text) => write_text(text, out),
            Self::Array(items) => write_array(items, out),
            Self::Object(members) => write_object(members, out),
            Self::LeftOut => {}
        }
    }

    const fn is_there(&self) -> bool {
        !matches!(self, Self::LeftOut)
    }
}

pub(super) fn write_text(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("text is JSON, and a vector takes it");
}

fn write_array(items: &[Json<'_>], out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, item) in items.iter().filter(|item| item.is_there()).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        item.write(out);
    }
    out.push(b']');
}

fn write_object(members: &[(Cow<'_, str>, Json<'_>)], out: &mut Vec<u8>) {
    out.push(b'{');
    for (index, (name, value)) in members.iter().filter(|(_, value)| value.is_there()).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_text(name, out);
        out.push(b':');
        value.write(out);
    }
    out.push(b'}');
}
