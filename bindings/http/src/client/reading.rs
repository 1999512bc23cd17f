//! What an answer, or none, means for the request that was sent (C3, O8, O9).

use std::time::Duration;

use keyledger::KeyAdvice;
pub use keyledger::options::RETRY_AFTER_MAX;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::answers::{EXPIRES_FIELD, REPLAYED_FIELD};
use crate::date::instant_ms;
use crate::message::Answer;
use crate::problem::{Case, PROBLEM_MEDIA_TYPE};

/// What to do next, by the answer alone (O8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// It was done.
    Yes,
    /// A final no.
    No,
    /// The same key later; this try does not count.
    Later,
    /// The same key later; the try counts.
    Retry,
    /// Nobody knows: held for reconciliation.
    Unknown,
    /// The credentials are not accepted: the lane is held.
    HoldLane,
    /// The principal may not do this: this entry alone is held.
    HoldEntry,
}

/// What a try may have left behind (O9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trace {
    /// It is told: by the answer.
    Told,
    /// It took no effect.
    None,
    /// It may have taken effect, or may yet.
    Unknown,
}

/// What an answer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What to do next.
    pub meaning: Meaning,
    /// What the try may have left behind.
    pub trace: Trace,
    /// Whether it was told before (`Idempotent-Replayed`).
    pub is_replay: bool,
    /// What the server says about the key.
    pub key_advice: Option<KeyAdvice>,
    /// How long to wait at least, at most [`RETRY_AFTER_MAX`].
    pub retry_after: Option<Duration>,
    /// Until when the server knows the key: milliseconds since 1970-01-01 UTC.
    pub key_expires_at_ms: Option<u64>,
    /// For how long the server will know the key, by its own clock (O7).
    pub key_expires_after: Option<Duration>,
    /// Whether the whole lane waits that long: 429 and 503 (O6).
    pub pauses_lane: bool,
}

/// What becomes of the entry, other tries considered (O9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// As the answer means.
    AsMeant,
    /// A no that another try may contradict: unknown.
    Unknown,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unanswered {
    /// No byte of the request can have left.
    BeforeConnecting,
    /// Bytes may have left: a broken connection, or the time was up (C4).
    MaybeSent,
}

impl Reading {
    /// What an answer means. `now_ms` stands in where the answer has no Date of its own.
    pub fn of(answer: &Answer, now_ms: u64) -> Self {
        let problem = Problem::of(answer);
        let retry_after = retry_after(answer, now_ms);
        let (meaning, trace) = means(answer.status, &problem, retry_after.is_some());
        let key_expires_at_ms = answer.field(EXPIRES_FIELD).and_then(instant_ms);
        let left = |at_ms: u64| Duration::from_millis(at_ms.saturating_sub(sent_at_ms(answer, now_ms)));
        Self {
            meaning,
            trace,
            is_replay: answer.field(REPLAYED_FIELD).is_some_and(|value| value.eq_ignore_ascii_case(b"true")),
            key_advice: problem.advice,
            retry_after,
            key_expires_at_ms,
            key_expires_after: key_expires_at_ms.map(left),
            pauses_lane: retry_after.is_some() && matches!(answer.status, 429 | 503),
        }
    }

    /// What the absence of an answer means.
    pub fn of_silence(why: Unanswered) -> Self {
        let trace = match why {
            Unanswered::BeforeConnecting => Trace::None,
            Unanswered::MaybeSent => Trace::Unknown,
        };
        Self {
            meaning: Meaning::Retry,
            trace,
            is_replay: false,
            key_advice: None,
            retry_after: None,
            key_expires_at_ms: None,
            key_expires_after: None,
            pauses_lane: false,
        }
    }

    /// O9: a no settles an entry only if no other try's outcome is unknown, or if it is a replay.
    pub fn ending(&self, another_is_unknown: bool) -> Ending {
        match self.meaning {
            Meaning::No if another_is_unknown && !self.is_replay => Ending::Unknown,
            Meaning::No
            | Meaning::Yes
            | Meaning::Later
            | Meaning::Retry
            | Meaning::Unknown
            | Meaning::HoldLane
            | Meaning::HoldEntry => Ending::AsMeant,
        }
    }
}

/// What an answer means, and what its try may have left behind. Our own problems are told by their type: a server may give them
/// another status (H4).
fn means(status: u16, problem: &Problem, asks_to_wait: bool) -> (Meaning, Trace) {
    let is_reuse = problem.advice == Some(KeyAdvice::Reuse);
    match (status, problem.case()) {
        (200..=299, _) => (Meaning::Yes, Trace::Told),
        (_, Some(Case::Parked | Case::Gone | Case::Unsendable)) => (Meaning::Unknown, Trace::Unknown),
        (_, Some(Case::InProgress)) => (Meaning::Later, Trace::Unknown),
        (_, Some(Case::NotAvailable | Case::HandlerFailed)) => (Meaning::Retry, Trace::Unknown),
        (401, _) => (Meaning::HoldLane, Trace::None),
        (403, _) => (Meaning::HoldEntry, Trace::None),
        (409, _) if is_reuse || asks_to_wait => (Meaning::Later, Trace::Unknown),
        (425, _) => (Meaning::Later, Trace::None),
        (429, _) => (Meaning::Retry, Trace::None),
        (300..=407 | 409..=499, _) => (Meaning::No, Trace::Told),
        _ => (Meaning::Retry, Trace::Unknown),
    }
}

/// What a problem says that we understand.
#[derive(Debug, Default)]
struct Problem {
    type_uri: String,
    advice: Option<KeyAdvice>,
}

impl Problem {
    fn of(answer: &Answer) -> Self {
        let media_type = answer.field("Content-Type").unwrap_or_default();
        let essence = media_type.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        if !essence.eq_ignore_ascii_case(PROBLEM_MEDIA_TYPE.as_bytes()) {
            return Self::default();
        }
        let [type_uri, told] = texts(&answer.body, ["type", "key_advice"]);
        let advice = [KeyAdvice::Reuse, KeyAdvice::Rotate, KeyAdvice::Reconcile];
        Self { type_uri, advice: advice.into_iter().find(|advice| advice.as_str() == told) }
    }

    /// Which of our cases it is, of those that say more than their status.
    fn case(&self) -> Option<Case> {
        use Case::{Gone, HandlerFailed, InProgress, NotAvailable, Parked, Unsendable};
        let cases = [Parked, Gone, Unsendable, InProgress, NotAvailable, HandlerFailed];
        cases.into_iter().find(|case| self.type_uri == case.type_uri())
    }
}

/// The members of those names in an object of JSON, if they are texts: the last of a name counts. No document is made of it: all
/// that `serde_json` needs for one would be a fiftieth of the WebAssembly module.
fn texts<const N: usize>(json: &[u8], names: [&str; N]) -> [String; N] {
    let mut found = [const { String::new() }; N];
    let walked = walk(json, |name, value| {
        if let Some(at) = names.iter().position(|one| *one == name) {
            found[at] = serde_json::from_slice(value).unwrap_or_default();
        }
    });
    if walked.is_some() { found } else { [const { String::new() }; N] }
}

/// Calls `each` with each member's name and value; nothing where it is no object of JSON.
fn walk(json: &[u8], mut each: impl FnMut(&str, &[u8])) -> Option<()> {
    serde_json::from_slice::<IgnoredAny>(json).ok()?;
    let mut rest = json.trim_ascii_start().strip_prefix(b"{")?;
    while !rest.trim_ascii_start().starts_with(b"}") {
        let (name, after) = head::<String>(rest)?;
        let value = after.trim_ascii_start().strip_prefix(b":")?;
        let (IgnoredAny, after) = head(value)?;
        each(&name, &value[..value.len() - after.len()]);
        let after = after.trim_ascii_start();
        rest = after.strip_prefix(b",").unwrap_or(after);
    }
    Some(())
}

/// The value that these bytes begin with, and those behind it.
fn head<T: DeserializeOwned>(bytes: &[u8]) -> Option<(T, &[u8])> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter();
    let value = values.next()?.ok()?;
    Some((value, &bytes[values.byte_offset()..]))
}

/// Digits, or a date judged against the answer's own Date (O6).
fn retry_after(answer: &Answer, now_ms: u64) -> Option<Duration> {
    let value = answer.field("Retry-After")?.trim_ascii();
    let span = if !value.is_empty() && value.iter().all(u8::is_ascii_digit) {
        // Digits that no number holds are a long time.
        Duration::from_secs(std::str::from_utf8(value).ok()?.parse().unwrap_or(u64::MAX))
    } else {
        Duration::from_millis(instant_ms(value)?.saturating_sub(sent_at_ms(answer, now_ms)))
    };
    Some(span.min(RETRY_AFTER_MAX))
}

/// When the answer was sent, by the server's clock if it tells that.
fn sent_at_ms(answer: &Answer, now_ms: u64) -> u64 {
    answer.field("Date").and_then(instant_ms).unwrap_or(now_ms)
}

#[cfg(test)]
mod tests;
