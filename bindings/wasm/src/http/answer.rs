//! Responses as values: to be sent, and as they are stored.
//!
//! JavaScript has them as `[status, fields, body]`, `fields` being names and values by turns. Both are text of Latin-1, as in its `Headers`.

use js_sys::{Array, Uint8Array};
use keyledger::Outcome;
use keyledger_http::Answer;
use keyledger_http::message::{Fields, Stored, StoredBody};
use wasm_bindgen::prelude::*;

use crate::argument::{count, response};
use crate::decision;
use crate::error::{Told, invalid_argument};
use crate::object::{bytes, number};

/// An answer, for JavaScript.
pub(crate) fn shown(answer: &Answer) -> JsValue {
    Array::of3(&answer.status.into(), &lines(&answer.fields), &bytes(&answer.body)).into()
}

/// Field lines, for JavaScript.
pub(crate) fn lines(fields: &Fields) -> JsValue {
    let letters = |value: &[u8]| JsValue::from(value.iter().map(|byte| char::from(*byte)).collect::<String>());
    fields.iter().flat_map(|(name, value)| [name.as_str().into(), letters(value)]).collect::<Array>().into()
}

/// An answer of JavaScript's.
pub(crate) fn answer(status: u16, fields: Vec<String>, body: Vec<u8>) -> Told<Answer> {
    Ok(Answer { status, fields: lines_of(fields)?, body })
}

pub(crate) fn lines_of(fields: Vec<String>) -> Told<Fields> {
    let mut words = fields.into_iter();
    let mut lines = Fields::new();
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        lines.push((name, latin_1(&value)?));
    }
    Ok(lines)
}

/// The bytes of text whose letters stand for one each.
pub(crate) fn latin_1(text: &str) -> Told<Vec<u8>> {
    let bytes: Result<_, _> = text.chars().map(|letter| u8::try_from(u32::from(letter))).collect();
    bytes.map_err(|_| invalid_argument("a field's value has characters of Latin-1 alone"))
}

/// What is to be stored, for JavaScript: `[status, fields, body or null, length, sha256]`.
pub(crate) fn shown_stored(stored: &Stored) -> JsValue {
    let (status, fields) = (stored.status.into(), lines(&stored.fields));
    match &stored.body {
        StoredBody::Kept(body) => Array::of3(&status, &fields, &bytes(body)),
        StoredBody::Omitted(None) => Array::of3(&status, &fields, &JsValue::NULL),
        StoredBody::Omitted(Some(known)) => {
            Array::of5(&status, &fields, &JsValue::NULL, &number(known.length), &bytes(&known.sha256))
        }
    }
    .into()
}

/// What JavaScript says is to be stored.
pub(crate) fn stored(told: &JsValue) -> Option<Stored> {
    let told = told.dyn_ref::<Array>()?;
    let fields = Array::from(&told.get(1)).iter().map(|word| word.as_string()).collect::<Option<_>>()?;
    let body = told.get(2);
    let body =
        if body.is_null() { StoredBody::Omitted(None) } else { StoredBody::Kept(Uint8Array::new(&body).to_vec()) };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as saturates, and 65535 is refused")]
    Some(Stored { status: told.get(0).as_f64()? as u16, fields: lines_of(fields).ok()?, body })
}

/// The response to give to `complete`, to be replayed with this status and these fields, save those that are never kept (H5).
#[wasm_bindgen(js_name = toStored)]
pub fn to_stored(status: u16, fields: Vec<String>, body: Vec<u8>, max_response_bytes: Option<f64>) -> Told<JsValue> {
    let answer = answer(status, fields, body)?;
    Ok(decision::response(&match max_response_bytes {
        Some(bytes) => answer.to_stored_within(count("a longest response", bytes)?),
        None => answer.to_stored(),
    }))
}

/// Reads what an adapter of any language has stored.
#[wasm_bindgen(js_name = readStored)]
pub fn read_stored(media_type: &str, body: &[u8], has_failed: bool) -> JsValue {
    let outcome = if has_failed { Outcome::Failed } else { Outcome::Completed };
    shown_stored(&Stored::of_response(&response(media_type, body), outcome))
}
