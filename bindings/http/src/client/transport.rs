//! The outbox's transport over HTTP, blocking (C1 to C4).

mod authorize;
mod wire;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use keyledger::options::RESPONSE_BYTES_MAX;
use keyledger::{Delivery, DeliveryOutcome, Enqueue, Scope, Transport};
use ureq::Agent;

use super::redirect::{Redirect, redirect};
use super::request::{KeyField, Request, RequestError};
use super::sending::{REDIRECTS_MAX, answered, silent, to_send, unsendable};
use crate::message::{Answer, Fields, HEAD_BYTES_MAX};
use authorize::{Refused, identity_of};
use wire::{Received, Silence};

pub use authorize::{Anonymous, Authorize, NoCredentials};

type Classify = dyn Fn(&Answer, DeliveryOutcome) -> DeliveryOutcome + Send + Sync;

/// Sends what the outbox hands out, over HTTP/1.1, blocking. For addresses of https the feature `tls` is needed: without it each
/// send fails.
///
/// It sends what [`enqueue`](HttpTransport::enqueue) or [`Request::to_enqueue`] has made; an entry of another media type than
/// `application/http` is dead at its first try. Keep it in an `Arc`: who enqueues and the driver share it.
///
/// Each send has the stored request, its one key field (C1) and what [`Authorize`] adds at that moment (O14); it neither begins nor
/// waits past the lease (C4). Redirects are followed where method and origin stay (C2). What cannot have left is told so; after
/// the first byte may have left, silence leaves the outcome in doubt (O9). Connections are kept and used again. A proxy is taken
/// from the environment (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`).
pub struct HttpTransport {
    agent: Agent,
    settings: Settings,
    authorize: Box<dyn Authorize>,
    classify: Box<Classify>,
    refused: Refused,
}

/// Settings of a transport, then [`build`](HttpTransportBuilder::build).
pub struct HttpTransportBuilder {
    settings: Settings,
    classify: Box<Classify>,
}

#[derive(Debug)]
struct Settings {
    key_field: KeyField,
    secret: Vec<String>,
    timeout: Duration,
    answer_bytes_max: usize,
}

impl HttpTransport {
    /// One with the default settings.
    pub fn new(authorize: impl Authorize + 'static) -> Self {
        Self::builder().build(authorize)
    }

    /// One with other settings.
    pub fn builder() -> HttpTransportBuilder {
        let settings = Settings {
            key_field: KeyField::default(),
            secret: Vec::new(),
            timeout: Duration::from_secs(20),
            answer_bytes_max: RESPONSE_BYTES_MAX - HEAD_BYTES_MAX,
        };
        HttpTransportBuilder { settings, classify: Box::new(|_, usual| usual) }
    }

    /// A request for [`Outbox::enqueue`](keyledger::Outbox::enqueue), checked by this transport's settings.
    ///
    /// # Errors
    /// As [`Request::check`].
    pub fn enqueue(
        &self,
        scope: &Scope,
        operation: impl Into<String>,
        request: &Request,
    ) -> Result<Enqueue, RequestError> {
        let secret: Vec<&str> = self.settings.secret.iter().map(String::as_str).collect();
        request.to_enqueue(scope, operation, &self.settings.key_field, &secret)
    }

    /// What is sent, or why nothing is.
    fn prepare(&self, delivery: &Delivery) -> Result<(Request, Fields), DeliveryOutcome> {
        to_send(delivery.media_type(), delivery.request(), &self.settings.key_field, delivery.key())
    }

    /// The credentials, checked.
    fn credentials(&self, scope: &Scope, request: &Request) -> Result<Fields, DeliveryOutcome> {
        let asked = catch_unwind(AssertUnwindSafe(|| self.authorize.authorize(scope, request)));
        let later = |error: String| DeliveryOutcome::retry(error).not_taken();
        match asked {
            Ok(Ok(fields)) => match unsendable(&fields, &self.settings.key_field) {
                None => Ok(fields),
                Some(name) => Err(later(format!("authorize gives the field {name}, which cannot be sent"))),
            },
            Ok(Err(none @ NoCredentials::SignedOut)) => Err(DeliveryOutcome::hold_lane(none.to_string())),
            Ok(Err(none @ NoCredentials::NotNow(_))) => Err(later(none.to_string())),
            Err(_) => Err(later("authorize panicked".to_owned())),
        }
    }

    /// Sends it, and again where a redirect points.
    fn exchange(&self, delivery: &Delivery, request: &Request, fields: &Fields) -> Result<Received, Silence> {
        let (started, mut hops, mut request) = (Instant::now(), 0, request.clone());
        loop {
            let left = self.settings.timeout.saturating_sub(started.elapsed()).min(delivery.lease_left());
            let received = wire::exchange(&self.agent, &request, fields, left, self.settings.answer_bytes_max);
            let received = received.map_err(|silence| if hops == 0 { silence } else { silence.in_doubt() })?;
            let Answer { status, .. } = received.answer;
            match redirect(&request.method, &request.url, status, received.answer.field("Location")) {
                Redirect::Follow(url) if hops < REDIRECTS_MAX => (request.url, hops) = (url, hops + 1),
                Redirect::Follow(_) | Redirect::Stay => return Ok(received),
            }
        }
    }

    fn outcome(&self, exchanged: Result<Received, Silence>) -> DeliveryOutcome {
        let Received { answer, is_whole } = match exchanged {
            Ok(received) => received,
            Err(Silence { why, error }) => return silent(why, error),
        };
        let usual = answered(&answer, is_whole, now_ms(), self.settings.answer_bytes_max);
        catch_unwind(AssertUnwindSafe(|| (self.classify)(&answer, usual)))
            .unwrap_or_else(|_| DeliveryOutcome::retry(format!("the classifier panicked on {}", answer.status)))
    }
}

impl Transport for HttpTransport {
    fn send(&self, delivery: &Delivery) -> DeliveryOutcome {
        let (request, mut fields) = match self.prepare(delivery) {
            Ok(prepared) => prepared,
            Err(outcome) => return outcome,
        };
        let (identity, outcome) = match self.credentials(delivery.scope(), &request) {
            Ok(credentials) => {
                let identity = identity_of(&*self.authorize, &credentials);
                fields.extend(credentials);
                (Some(identity), self.outcome(self.exchange(delivery, &request, &fields)))
            }
            Err(outcome) => (None, outcome),
        };
        match outcome.as_str() {
            "hold_lane" => self.refused.note(delivery.scope(), &request, identity),
            "yes" | "no" => self.refused.forget(delivery.scope()),
            _ => {}
        }
        outcome
    }

    fn has_other_credentials(&self, scope: &Scope) -> bool {
        self.refused.has_others(scope, &*self.authorize)
    }
}

impl HttpTransportBuilder {
    /// How the other side wants its keys (C1). Default: `Idempotency-Key`, quoted.
    pub fn key_field(mut self, key_field: KeyField) -> Self {
        self.settings.key_field = key_field;
        self
    }

    /// One more field that carries credentials, and so is refused in a request that is to be stored (O14).
    pub fn secret(mut self, field: impl Into<String>) -> Self {
        self.settings.secret.push(field.into());
        self
    }

    /// How long a send may take, connecting and reading with it, where the lease does not end before. Default 20 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// How much of an answer's body is read. Of a longer one the status and the fields are stored, without the body. Default: what a
    /// ledger with the default limit keeps, 960 KiB.
    pub fn answer_bytes_max(mut self, bytes: usize) -> Self {
        self.settings.answer_bytes_max = bytes;
        self
    }

    /// What an answer means to this caller (O8): it is given the answer and the usual outcome, and returns that or another. If it
    /// panics, the same key is sent again later. Silence is not asked about.
    pub fn classify(
        mut self,
        classify: impl Fn(&Answer, DeliveryOutcome) -> DeliveryOutcome + Send + Sync + 'static,
    ) -> Self {
        self.classify = Box::new(classify);
        self
    }

    /// The transport, which asks `authorize` for credentials at each send.
    pub fn build(self, authorize: impl Authorize + 'static) -> HttpTransport {
        HttpTransport {
            agent: wire::agent(),
            settings: self.settings,
            authorize: Box::new(authorize),
            classify: self.classify,
            refused: Refused::default(),
        }
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl fmt::Debug for HttpTransportBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransportBuilder").field("settings", &self.settings).finish_non_exhaustive()
    }
}
