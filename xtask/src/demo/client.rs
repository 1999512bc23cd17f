//! One client without an outbox: posts a request until it is answered, and understands what it is told.

use super::plan::{Post, Request, changed};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use ureq::http::Response;
use ureq::{Agent, Body};

/// How long a client goes on with one post.
const PATIENCE: Duration = Duration::from_mins(1);

/// The longest rest between two tries.
const REST_MAX: Duration = Duration::from_millis(160);

/// What a client has read, and for which request.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) request: usize,
    pub(crate) answer: Answer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is done; `body` is the outcome.
    Done { body: Vec<u8>, replayed: bool },
    /// Somebody else is at it: ask again.
    InProgress,
    /// The key was used for another request.
    Mismatch,
    /// Nobody knows whether it was done.
    Parked,
    /// What no client should ever read.
    Surprise(String),
}

/// A try that gave no answer about the request.
enum Try {
    Answered(Answer),
    NotReached,
}

pub(crate) struct Client<'a> {
    agent: Agent,
    address: String,
    stop: &'a AtomicBool,
    readings: Vec<Reading>,
}

impl<'a> Client<'a> {
    /// A client of the server at `port`; when `stop` is set, it gives up.
    pub(crate) fn new(port: u16, stop: &'a AtomicBool) -> Self {
        let config = Agent::config_builder().timeout_global(Some(Duration::from_secs(10))).http_status_as_error(false);
        let agent = config.build().new_agent();
        Self { agent, address: format!("http://127.0.0.1:{port}"), stop, readings: Vec::new() }
    }

    pub(crate) fn carry_out(&mut self, post: Post, request: &Request) {
        let answered = self.insist(post.request, request, &text(&request.body, post.laid_out));
        if post.then_changed && matches!(answered, Some(Answer::Done { .. })) {
            self.ask_for_another(post.request, request);
        }
    }

    /// Everything that the client has read.
    pub(crate) fn into_readings(self) -> Vec<Reading> {
        self.readings
    }

    fn ask_for_another(&mut self, index: usize, request: &Request) {
        if let Some(Answer::Done { .. }) = self.insist(index, request, &changed(&request.body).to_string()) {
            self.note(index, Answer::Surprise("another body under the same key was carried out".to_owned()));
        }
    }

    /// Tries until there is a final answer, which it notes and gives back; none if it was told to stop.
    fn insist(&mut self, index: usize, request: &Request, body: &str) -> Option<Answer> {
        let started = Instant::now();
        let mut rest = Duration::from_millis(10);
        while started.elapsed() < PATIENCE {
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            match self.post(request, body) {
                Try::Answered(Answer::InProgress) => self.note(index, Answer::InProgress),
                Try::Answered(last) => {
                    self.note(index, last.clone());
                    return Some(last);
                }
                Try::NotReached => {}
            }
            thread::sleep(rest);
            rest = (rest * 2).min(REST_MAX);
        }
        self.note(index, Answer::Surprise(format!("no answer within {} s", PATIENCE.as_secs())));
        None
    }

    fn note(&mut self, request: usize, answer: Answer) {
        self.readings.push(Reading { request, answer });
    }

    /// A connection that is refused or breaks says nothing about the request: the same key, later.
    fn post(&self, request: &Request, body: &str) -> Try {
        let name = &request.name;
        let post = self.agent.post(format!("{}{}", self.address, name.operation.path()));
        let post = post.header("Authorization", format!("Bearer {}-credential", name.user));
        let post = post.header("Idempotency-Key", format!("\"{}\"", name.key));
        match post.header("Content-Type", "application/json").send(body) {
            Ok(response) => read(response).unwrap_or(Try::NotReached),
            Err(_) => Try::NotReached,
        }
    }
}

/// The body as it goes over the wire: compact, or laid out for a reader.
fn text(body: &Value, laid_out: bool) -> String {
    if laid_out { format!("{body:#}") } else { body.to_string() }
}

fn read(mut response: Response<Body>) -> Result<Try, ureq::Error> {
    let status = response.status().as_u16();
    let replayed = response.headers().contains_key("Idempotent-Replayed");
    let body = response.body_mut().read_to_vec()?;
    Ok(if status == 503 { Try::NotReached } else { Try::Answered(understand(status, replayed, body)) })
}

pub(crate) fn understand(status: u16, replayed: bool, body: Vec<u8>) -> Answer {
    match (status, problem(&body).as_deref()) {
        (200, _) => Answer::Done { body, replayed },
        (409, Some("in-progress")) => Answer::InProgress,
        (409, Some("parked")) => Answer::Parked,
        (422, Some("mismatch")) => Answer::Mismatch,
        _ => Answer::Surprise(format!("{status} {}", String::from_utf8_lossy(&body))),
    }
}

/// The case that the type of a problem document (RFC 9457) names: what stands behind the `#`.
fn problem(body: &[u8]) -> Option<String> {
    let document: Value = serde_json::from_slice(body).ok()?;
    Some(document["type"].as_str()?.split_once('#')?.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Answer, text, understand};
    use serde_json::json;

    #[test]
    fn one_status_can_mean_two_things_and_the_type_tells() {
        let told = |kind: &str| understand(409, false, json!({ "type": kind }).to_string().into_bytes());
        assert_eq!(told("https://x.example/#in-progress"), Answer::InProgress);
        assert_eq!(told("https://x.example/#parked"), Answer::Parked);
        assert!(matches!(told("https://x.example/#other"), Answer::Surprise(_)));
    }

    #[test]
    fn a_layout_changes_the_bytes_alone() {
        let body = json!({ "amount_cents": 5, "order": "A" });
        assert_ne!(text(&body, true), text(&body, false));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text(&body, true)).unwrap(), body);
    }
}
