//! What goes back over the wire.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::IntoResponse;
use keyledger::{InProgress, Parked, Replay, Response};
use serde_json::json;

/// An answer to a client: a stored outcome, or a problem in the form of RFC 9457.
pub(crate) struct Answer {
    status: StatusCode,
    media_type: String,
    body: Vec<u8>,
    replayed: bool,
    retry_after: Option<Duration>,
}

impl Answer {
    pub(crate) fn fresh(response: &Response) -> Self {
        Self {
            status: StatusCode::OK,
            media_type: response.media_type().to_owned(),
            body: response.stored_bytes().unwrap_or_default().to_vec(),
            replayed: false,
            retry_after: None,
        }
    }

    pub(crate) fn replay(replay: &Replay) -> Self {
        Self { replayed: true, ..Self::fresh(&replay.response) }
    }

    pub(crate) fn in_progress(running: &InProgress) -> Self {
        let problem = Self::problem(StatusCode::CONFLICT, "in-progress", "it is under way", "reuse");
        Self { retry_after: Some(running.retry_after), ..problem }
    }

    pub(crate) fn mismatch() -> Self {
        Self::problem(StatusCode::UNPROCESSABLE_ENTITY, "mismatch", "this key was used for another request", "rotate")
    }

    pub(crate) fn parked(parked: &Parked) -> Self {
        Self::problem(StatusCode::CONFLICT, "parked", parked.reason.as_str(), "reconcile")
    }

    pub(crate) fn gone() -> Self {
        Self::problem(StatusCode::GONE, "gone", "the outcome is no longer kept", "reconcile")
    }

    pub(crate) fn not_available(why: &anyhow::Error) -> Self {
        let problem = Self::problem(StatusCode::SERVICE_UNAVAILABLE, "not-available", &why.to_string(), "reuse");
        Self { retry_after: Some(Duration::from_secs(1)), ..problem }
    }

    pub(crate) fn turned_away(status: StatusCode, why: &str) -> Self {
        Self::problem(status, "turned-away", why, "rotate")
    }

    fn problem(status: StatusCode, kind: &str, detail: &str, key_advice: &str) -> Self {
        let problem = json!({
            "type": format!("/problems/{kind}"),
            "status": status.as_u16(),
            "detail": detail,
            "key_advice": key_advice,
        });
        Self {
            status,
            media_type: "application/problem+json".to_owned(),
            body: problem.to_string().into_bytes(),
            replayed: false,
            retry_after: None,
        }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> axum::response::Response {
        let mut response = (self.status, [(header::CONTENT_TYPE, self.media_type)], self.body).into_response();
        if self.replayed {
            response.headers_mut().insert("Idempotent-Replayed", HeaderValue::from_static("true"));
        }
        if let Some(wait) = self.retry_after {
            let whole_seconds = wait.as_millis().div_ceil(1000).max(1);
            let seconds = u64::try_from(whole_seconds).unwrap_or(u64::MAX);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
