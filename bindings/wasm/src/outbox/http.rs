//! The client's half of HTTP: what is sent, and what an answer means. The rules are `keyledger_http::client`'s (C1 to C4, O8, O9).
//!
//! Field lines are names and values by turns, as text of Latin-1, as in `Headers`.

use keyledger_http::client::{KeyField, REDIRECTS_MAX, Redirect, Request, RequestError, Unanswered};
use keyledger_http::client::{answered, redirect, silent, to_send, unsendable};
use keyledger_http::message::Fields;
use wasm_bindgen::prelude::*;

use super::outcome::JsOutcome;
use crate::argument::{count, fence, key};
use crate::error::{Told, invalid_argument};
use crate::http::answer::{answer, lines, lines_of};
use crate::object::{bytes, object};

#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
fn refused(error: RequestError) -> JsValue {
    invalid_argument(error.to_string())
}

fn key_field(name: Option<String>, is_quoted: bool) -> Told<KeyField> {
    let field = name.map_or(Ok(KeyField::default()), |name| KeyField::default().named(name)).map_err(refused)?;
    Ok(if is_quoted { field } else { field.bare() })
}

fn request(request: Request, to_send: &Fields) -> JsValue {
    object(&[
        ("method", request.method.into()),
        ("url", request.url.into()),
        ("fields", lines(to_send)),
        ("body", bytes(&request.body)),
    ])
}

/// A request as the outbox stores it: checked, without its key and without credentials (O14).
#[wasm_bindgen(js_name = httpRequest)]
pub fn http_request(
    method: String,
    url: String,
    given: Vec<String>,
    body: Vec<u8>,
    key_name: Option<String>,
    is_quoted: bool,
    secret: Vec<String>,
) -> Told<Vec<u8>> {
    let secret: Vec<&str> = secret.iter().map(String::as_str).collect();
    let request = Request { method, url, fields: lines_of(given)?, body };
    request.to_bytes(&key_field(key_name, is_quoted)?, &secret).map_err(refused)
}

/// The media type of stored requests and answers.
#[wasm_bindgen(js_name = httpMediaType)]
pub fn http_media_type() -> String {
    keyledger_http::message::MEDIA_TYPE.to_owned()
}

/// How many bytes of an answer's body are kept where nothing else is said.
#[wasm_bindgen(js_name = answerBytesMax)]
pub fn answer_bytes_max() -> usize {
    keyledger::options::RESPONSE_BYTES_MAX - keyledger_http::message::HEAD_BYTES_MAX
}

/// What is sent of a stored request: `{ method, url, fields, body }`, the one key field with them; or, if nothing can be, the outcome.
#[wasm_bindgen(js_name = httpToSend)]
pub fn http_to_send(
    media_type: &str,
    stored: &[u8],
    key_text: &str,
    key_name: Option<String>,
    is_quoted: bool,
) -> Told<JsValue> {
    let key_field = key_field(key_name, is_quoted)?;
    Ok(match to_send(media_type, stored, &key_field, &key(key_text)?) {
        Ok((sent, fields)) => request(sent, &fields),
        Err(outcome) => JsOutcome(outcome).into(),
    })
}

/// The name of the first of the fields added at a send that cannot stand there.
#[wasm_bindgen(js_name = httpUnsendable)]
pub fn http_unsendable(added: Vec<String>, key_name: Option<String>) -> Told<Option<String>> {
    Ok(unsendable(&lines_of(added)?, &key_field(key_name, true)?).map(str::to_owned))
}

/// Where the request goes after so many redirects and an answer with that status and Location; nothing: it is the answer.
#[wasm_bindgen(js_name = httpRedirect)]
pub fn http_redirect(method: &str, url: &str, status: u16, location: Option<String>, hops: u32) -> Option<String> {
    match redirect(method, url, status, location.as_deref().map(str::as_bytes)) {
        Redirect::Follow(url) if hops < REDIRECTS_MAX => Some(url),
        Redirect::Follow(_) | Redirect::Stay => None,
    }
}

/// What a delivery is told that was not answered.
#[wasm_bindgen(js_name = httpSilent)]
pub fn http_silent(error: &str, may_have_left: bool) -> JsOutcome {
    let why = if may_have_left { Unanswered::MaybeSent } else { Unanswered::BeforeConnecting };
    JsOutcome(silent(why, error))
}

/// What a delivery is told that was answered so, by default (O8, O9).
#[wasm_bindgen(js_name = httpAnswered)]
pub fn http_answered(
    status: u16,
    given: Vec<String>,
    body: Vec<u8>,
    is_whole: bool,
    now_ms: f64,
    body_bytes_max: f64,
) -> Told<JsOutcome> {
    let answer = answer(status, given, body)?;
    Ok(JsOutcome(answered(&answer, is_whole, fence(now_ms), count("a longest body", body_bytes_max)?)))
}
