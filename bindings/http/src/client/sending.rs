//! One send, but for the connection: what goes out, and what its end is told as. Every transport in every language is made of it.

use keyledger::{DeliveryOutcome, Key};

use super::outcome::outcome_of;
use super::reading::{Reading, Unanswered};
use super::request::{KeyField, Request, RequestError};
use crate::message::{Answer, Fields, HEAD_BYTES_MAX, MEDIA_TYPE, Stored, StoredBody, is_token, is_value};

/// How many redirects of one send are followed.
pub const REDIRECTS_MAX: u32 = 5;

/// What is sent of an entry: its request, and the fields with the one key field (C1).
///
/// # Errors
/// The outcome of a delivery of which nothing can be sent: it is dead.
pub fn to_send(
    media_type: &str,
    bytes: &[u8],
    key_field: &KeyField,
    key: &Key,
) -> Result<(Request, Fields), DeliveryOutcome> {
    if media_type != MEDIA_TYPE {
        return Err(DeliveryOutcome::dead(format!("the request is no {MEDIA_TYPE}")));
    }
    let dead = |error: RequestError| DeliveryOutcome::dead(error.to_string());
    let request = Request::of_bytes(bytes).map_err(dead)?;
    let fields = request.fields_with(key_field, key).map_err(dead)?;
    Ok((request, fields))
}

/// The first of the fields that are added at a send which cannot stand there: what is no field, and the key's own. None: all can.
pub fn unsendable<'a>(added: &'a Fields, key_field: &KeyField) -> Option<&'a str> {
    let can_stand = |name: &str, value: &[u8]| {
        is_token(name.as_bytes()) && is_value(value) && !name.eq_ignore_ascii_case(key_field.name())
    };
    added.iter().find(|(name, value)| !can_stand(name, value)).map(|(name, _)| name.as_str())
}

/// What a delivery is told that was not answered.
pub fn silent(why: Unanswered, error: impl Into<String>) -> DeliveryOutcome {
    let retry = DeliveryOutcome::retry(error).unanswered();
    match why {
        Unanswered::BeforeConnecting => retry.not_taken(),
        Unanswered::MaybeSent => retry,
    }
}

/// What a delivery is told that was answered, of whose body at most `body_bytes_max` bytes were read; `is_whole`: that is all of it.
pub fn answered(answer: &Answer, is_whole: bool, now_ms: u64, body_bytes_max: usize) -> DeliveryOutcome {
    let kept = answer.kept();
    let stored = if is_whole { kept } else { Stored { body: StoredBody::Omitted(None), ..kept } };
    outcome_of(&Reading::of(answer, now_ms), &stored, body_bytes_max.saturating_add(HEAD_BYTES_MAX))
}
