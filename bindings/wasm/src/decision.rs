//! What `begin` answers, as objects with `kind`.

use std::cell::RefCell;
use std::time::Duration;

use keyledger::{Body, Decision, Outcome, Response};
use wasm_bindgen::prelude::*;

use crate::claim::JsClaim;
use crate::object::{bytes, number, object};

/// The decision as an object of JavaScript's.
pub(crate) fn told(decision: Decision) -> JsValue {
    let kind = ("kind", decision.as_str().into());
    match decision {
        Decision::Acquired(claim) => object(&[kind, ("claim", JsClaim::new(claim).into())]),
        Decision::Replay(replay) => {
            let outcome = match replay.outcome {
                Outcome::Completed => "completed",
                Outcome::Failed => "failed",
            };
            object(&[
                kind,
                ("response", response(&replay.response)),
                ("outcome", outcome.into()),
                ("settledAtMs", number(replay.settled_at_ms)),
                ("expiresAtMs", number(replay.expires_at_ms)),
            ])
        }
        Decision::InProgress(in_progress) => object(&[
            kind,
            ("runningForMs", milliseconds(in_progress.running_for)),
            ("retryAfterMs", milliseconds(in_progress.retry_after)),
        ]),
        Decision::Parked(parked) => {
            object(&[kind, ("reason", parked.reason.as_str().into()), ("sinceMs", number(parked.since_ms))])
        }
        Decision::Mismatch | Decision::Gone => object(&[kind]),
    }
}

/// A span for JavaScript.
pub(crate) fn milliseconds(span: Duration) -> JsValue {
    number(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

thread_local! {
    /// The media type that was told last.
    static LAST: RefCell<(String, JsValue)> = const { RefCell::new((String::new(), JsValue::UNDEFINED)) };
}

/// Answers of one ledger are mostly of one media type, and to bring a text over takes a tenth of a look-up.
fn media_type(text: &str) -> JsValue {
    LAST.with_borrow_mut(|(last, told)| {
        if told.is_undefined() || last != text {
            (*last, *told) = (text.to_owned(), JsValue::from(text));
        }
        told.clone()
    })
}

/// A stored response: `[media type, body or null, length, sha256]`, from which the package makes its own class.
pub(crate) fn response(response: &Response) -> JsValue {
    let media_type = media_type(response.media_type());
    match response.body() {
        Body::Stored(body) => js_sys::Array::of2(&media_type, &bytes(body)),
        Body::Omitted { length, sha256 } => {
            js_sys::Array::of4(&media_type, &JsValue::NULL, &number(*length), &bytes(sha256))
        }
    }
    .into()
}
