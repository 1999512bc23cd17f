//! What the middleware itself answers: problems in the form of RFC 9457 (H4). None of them is ever stored (H7).

use std::time::Duration;

use keyledger::{InProgress, KeyAdvice};

use crate::answers::{EXPOSE_FIELD, EXPOSED};
use crate::message::{Answer, Digested, hex};

/// Where the types of our problems, and what to do about each, are described. A type is this, `#` and the case's name.
pub const TYPES: &str = "https://github.com/keyledger/keyledger/blob/main/docs/http.md";

/// The media type of a problem.
pub const PROBLEM_MEDIA_TYPE: &str = "application/problem+json";

/// What a client is told to wait when the ledger does not answer.
const NOT_AVAILABLE_RETRY: Duration = Duration::from_secs(1);

/// Why the middleware answers by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Case {
    /// A key is required, and there is none.
    Missing,
    /// The key field holds no key.
    Malformed,
    /// Somebody runs it.
    InProgress,
    /// The key was for another request.
    Mismatch,
    /// Nobody knows whether it happened.
    Parked,
    /// It was settled so long ago that the answer is gone.
    Gone,
    /// Nobody knows whose key it is.
    NoPrincipal,
    /// The ledger does not answer.
    NotAvailable,
    /// The request's body is longer than the route allows.
    TooLarge,
    /// The request's body broke off.
    Unreadable,
    /// The bytes of the request's body are not those that came: something before the adapter has read it (H17).
    BodyConsumed,
    /// The handler raised an error, and the operation may be asked for again.
    HandlerFailed,
    /// The answer was given before, but its body was not kept.
    BodyOmitted,
    /// The answer was given before, with a status that cannot be sent from here.
    Unsendable,
}

impl Case {
    /// Every case.
    pub const ALL: [Case; 14] = [
        Case::Missing,
        Case::Malformed,
        Case::InProgress,
        Case::Mismatch,
        Case::Parked,
        Case::Gone,
        Case::NoPrincipal,
        Case::NotAvailable,
        Case::TooLarge,
        Case::Unreadable,
        Case::BodyConsumed,
        Case::HandlerFailed,
        Case::BodyOmitted,
        Case::Unsendable,
    ];

    /// The case of that name, as [`as_str`](Case::as_str) has it.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|case| case.as_str() == name)
    }

    /// The case's name, the end of its type.
    pub const fn as_str(self) -> &'static str {
        match self {
            Case::Missing => "missing",
            Case::Malformed => "malformed",
            Case::InProgress => "in-progress",
            Case::Mismatch => "mismatch",
            Case::Parked => "parked",
            Case::Gone => "gone",
            Case::NoPrincipal => "no-principal",
            Case::NotAvailable => "not-available",
            Case::TooLarge => "too-large",
            Case::Unreadable => "unreadable",
            Case::BodyConsumed => "body-consumed",
            Case::HandlerFailed => "handler-failed",
            Case::BodyOmitted => "body-omitted",
            Case::Unsendable => "unsendable",
        }
    }

    /// The URI that names the case: `type` in the problem.
    pub fn type_uri(self) -> String {
        format!("{TYPES}#{}", self.as_str())
    }

    /// The status, unless a route has another.
    pub const fn status(self) -> u16 {
        match self {
            Case::Missing | Case::Malformed | Case::Unreadable => 400,
            Case::NoPrincipal => 401,
            Case::InProgress | Case::Parked => 409,
            Case::Gone => 410,
            Case::TooLarge => 413,
            Case::Mismatch => 422,
            Case::BodyConsumed | Case::HandlerFailed | Case::Unsendable => 500,
            Case::NotAvailable => 503,
            Case::BodyOmitted => 200,
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Case::Missing => "this operation needs an idempotency key",
            Case::Malformed => "the idempotency key is malformed",
            Case::InProgress => "a request with this key is in progress",
            Case::Mismatch => "this key was used for another request",
            Case::Parked => "nobody knows whether this request took effect",
            Case::Gone => "this key was used too long ago",
            Case::NoPrincipal => "nobody is known to be asking",
            Case::NotAvailable => "the ledger of keys is not available",
            Case::TooLarge => "the request is too large",
            Case::Unreadable => "the request's body broke off",
            Case::BodyConsumed => "the server's middleware is in the wrong order",
            Case::HandlerFailed => "the request could not be carried out",
            Case::BodyOmitted => "the answer was too large to be kept",
            Case::Unsendable => "the answer has a status that cannot be sent",
        }
    }

    const fn key_advice(self) -> Option<KeyAdvice> {
        match self {
            Case::InProgress | Case::NotAvailable | Case::BodyConsumed | Case::HandlerFailed => Some(KeyAdvice::Reuse),
            Case::Malformed | Case::Mismatch => Some(KeyAdvice::Rotate),
            Case::Parked | Case::Gone | Case::Unsendable => Some(KeyAdvice::Reconcile),
            Case::Missing | Case::NoPrincipal | Case::TooLarge | Case::Unreadable | Case::BodyOmitted => None,
        }
    }

    const fn detail(self) -> &'static str {
        match self {
            Case::Missing => "send the field Idempotency-Key with a fresh key, and the same key again on every retry",
            Case::Malformed => "send one field line, quoted, with 1 to 255 characters",
            Case::InProgress | Case::NotAvailable => "send the same request with the same key later",
            Case::Mismatch => "take a new key for a new request",
            Case::Parked => "find out whether it happened before asking again; it is held for a person",
            Case::Gone => "find out whether it happened before asking with another key",
            Case::NoPrincipal => "send valid credentials",
            Case::TooLarge => "send a shorter body",
            Case::Unreadable => "send the whole body",
            Case::BodyConsumed => {
                "the body was read or changed before its fingerprint could be taken; put the idempotency layer before whatever reads bodies"
            }
            Case::HandlerFailed => "it may be sent again with the same key",
            Case::BodyOmitted => "the request was carried out before, and answered with this status",
            Case::Unsendable => {
                "the request was carried out before; what it was answered with, whoever runs the server can look up"
            }
        }
    }
}

/// A problem under construction.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    case: Case,
    status: u16,
    detail: String,
    advice: Option<KeyAdvice>,
    /// Members besides those that each problem has.
    more: Vec<Member>,
    retry_after: Option<Duration>,
}

impl Problem {
    pub(crate) fn of(case: Case, status: u16) -> Self {
        let retry_after = (case == Case::NotAvailable).then_some(NOT_AVAILABLE_RETRY);
        Self {
            case,
            status,
            detail: case.detail().to_owned(),
            advice: case.key_advice(),
            more: Vec::new(),
            retry_after,
        }
    }

    /// What is so this time, in place of the general advice.
    pub(crate) fn saying(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    /// Nobody knows whether it happened: not what the case advises.
    pub(crate) fn unknown(mut self) -> Self {
        self.advice = Some(KeyAdvice::Reconcile);
        self.saying(Case::Parked.detail())
    }

    /// As long as the claim has run already, at least a second, at most the rest of the lease.
    pub(crate) fn until(mut self, running: &InProgress) -> Self {
        self.retry_after = Some(running.running_for.min(running.retry_after));
        self
    }

    pub(crate) fn with_digest(mut self, known: Option<Digested>) -> Self {
        if let Some(Digested { length, sha256 }) = known {
            self.more.extend([("length", length.to_string()), ("sha256", text(&hex(&sha256)))]);
        }
        self
    }

    pub(crate) fn answer(self) -> Answer {
        let mut members = self.more;
        members.extend([
            ("type", text(&self.case.type_uri())),
            ("status", self.status.to_string()),
            ("title", text(self.case.title())),
            ("detail", text(&self.detail)),
        ]);
        members.extend(self.advice.map(|advice| ("key_advice", text(advice.as_str()))));
        let answer = Answer::of_status(self.status).with_field("Content-Type", PROBLEM_MEDIA_TYPE);
        let answer = answer.with_field(EXPOSE_FIELD, EXPOSED);
        let answer = match self.retry_after {
            Some(span) => answer.with_field("Retry-After", whole_seconds(span).to_string()),
            None => answer,
        };
        answer.with_body(object(members))
    }
}

/// A member's name, and its value as JSON.
type Member = (&'static str, String);

/// A text as JSON.
fn text(of: &str) -> String {
    serde_json::to_string(of).unwrap_or_default()
}

/// An object of JSON, its members sorted by their names. A document of `serde_json`'s would bring all of it into a module of
/// WebAssembly.
fn object(mut members: Vec<Member>) -> String {
    members.sort_unstable();
    let members: Vec<_> = members.iter().map(|(name, value)| format!("{}:{value}", text(name))).collect();
    format!("{{{}}}", members.join(","))
}

/// Whole seconds, rounded down, at least one: what Retry-After can say.
fn whole_seconds(span: Duration) -> u64 {
    span.as_secs().max(1)
}

#[cfg(test)]
mod tests {
    use super::{Case, Digested, Problem};
    use keyledger::InProgress;
    use std::time::Duration;

    #[test]
    fn h4_retry_after_is_between_a_second_and_the_rest_of_the_lease() {
        let after = |running_ms, left_ms| {
            let running = InProgress {
                running_for: Duration::from_millis(running_ms),
                retry_after: Duration::from_millis(left_ms),
            };
            let answer = Problem::of(Case::InProgress, 409).until(&running).answer();
            String::from_utf8(answer.field("retry-after").unwrap_or_default().to_vec()).unwrap_or_default()
        };
        assert_eq!(after(0, 30_000), "1");
        assert_eq!(after(7_900, 22_100), "7");
        assert_eq!(after(25_000, 5_900), "5");
        assert_eq!(after(29_900, 100), "1");
    }

    #[test]
    fn h4_what_a_problem_says_is_json_whatever_it_quotes() {
        let said = "the field \"\u{1}\\\n\" holds no key: \u{e9}\u{2028}";
        let digested = Digested { length: 5, sha256: [0xab; 32] };
        let answer = Problem::of(Case::Mismatch, 422).saying(said).with_digest(Some(digested)).answer();
        let document: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(
            document,
            serde_json::json!({
                "detail": said, "key_advice": "rotate", "length": 5, "sha256": "ab".repeat(32), "status": 422,
                "title": "this key was used for another request", "type": Case::Mismatch.type_uri(),
            })
        );
        assert_eq!(answer.body, document.to_string().into_bytes());
    }
}
