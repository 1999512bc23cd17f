//! What JavaScript gives: spans of time, key ids, responses. Refused here with the core's own codes.

use std::time::Duration;

use keyledger::{Effect, Error, Key, KeyId, Response, Scope};
use wasm_bindgen::prelude::*;

use crate::error::{Told, refused, thrown};
use crate::numbers::shortest;

/// A span in milliseconds; `Infinity` is as long as it takes.
pub(crate) fn span(ms: f64) -> Told<Duration> {
    if ms.is_nan() || ms < 0.0 {
        return Err(thrown(&Error::InvalidArgument(format!("a span of {} ms; it must be zero or more", shortest(ms)))));
    }
    Ok(Duration::try_from_secs_f64(ms / 1000.0).map_or(Duration::MAX, whole_ms))
}

/// Milliseconds as a float are not exact in seconds: 0.4 s is not 400 ms.
fn whole_ms(span: Duration) -> Duration {
    Duration::from_millis(u64::try_from((span + Duration::from_micros(1)).as_millis()).unwrap_or(u64::MAX))
}

/// A number of at most this many.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked, and as saturates")]
pub(crate) fn count(of: &str, number: f64) -> Told<usize> {
    if number.is_nan() || number < 0.0 {
        return Err(thrown(&Error::InvalidArgument(format!("{of} of {}; it must be zero or more", shortest(number)))));
    }
    Ok(number as usize)
}

/// A fence, as it was told.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as saturates, and no fence is negative")]
pub(crate) fn fence(number: f64) -> u64 {
    number as u64
}

/// An effect by its name.
pub(crate) fn effect(name: &str) -> Told<Effect> {
    let names = || Effect::ALL.map(Effect::as_str).join(", ");
    Effect::named(name)
        .ok_or_else(|| thrown(&Error::InvalidArgument(format!("an effect is one of {}; not {name}", names()))))
}

pub(crate) fn scope(text: &str) -> Told<Scope> {
    Scope::new(text).map_err(refused)
}

pub(crate) fn key(text: &str) -> Told<Key> {
    Key::new(text).map_err(refused)
}

/// Whose record it is.
pub(crate) fn key_id(scope_text: &str, operation: &str, key_text: &str) -> Told<KeyId> {
    KeyId::new(scope(scope_text)?, operation, key(key_text)?).map_err(refused)
}

pub(crate) fn response(media_type: &str, body: &[u8]) -> Response {
    Response::new(media_type, body)
}

/// The scope of a program with one principal.
#[wasm_bindgen(js_name = singleScope)]
pub fn single_scope() -> String {
    Scope::single().as_str().to_owned()
}

/// Throws what L1 says of text that UTF-8 cannot hold: half a surrogate pair.
#[wasm_bindgen(js_name = refuseText)]
pub fn refuse_text(part: &str) -> Told<()> {
    const HALF_A_PAIR: [u8; 3] = [0xed, 0xa0, 0x80];
    match part {
        "scope" => Scope::from_utf8(&HALF_A_PAIR).map(drop),
        _ => Key::from_utf8(&HALF_A_PAIR).map(drop),
    }
    .map_err(refused)
}
