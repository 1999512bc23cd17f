//! One exchange over a connection: a request out, an answer in, within a time and up to a size.
//!
//! It is known exactly whether a byte of the request may have left: the connection itself is watched. By an error's kind it could
//! not be told; a host that cannot be reached is told when connecting, and on a connection that was there.

use std::cell::Cell;
use std::io::Read;
use std::time::Duration;

use ureq::http::{self, Response};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, DefaultConnector, NextTimeout, Transport};
use ureq::{Agent, Body, Error};

use crate::client::{Request, Unanswered};
use crate::message::{Answer, Fields};

/// What came back.
#[derive(Debug)]
pub(super) struct Received {
    /// The answer; of a body that is too long, its beginning.
    pub(super) answer: Answer,
    /// Whether the body is all there.
    pub(super) is_whole: bool,
}

/// Why nothing came back.
#[derive(Debug)]
pub(super) struct Silence {
    pub(super) why: Unanswered,
    pub(super) error: String,
}

impl Silence {
    /// The same after a redirect: the request had left before.
    pub(super) fn in_doubt(self) -> Self {
        Self { why: Unanswered::MaybeSent, ..self }
    }
}

/// A client that follows no redirect by itself and takes every status for an answer.
pub(super) fn agent() -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .allow_non_standard_methods(true)
        .user_agent(concat!("keyledger-http/", env!("CARGO_PKG_VERSION")));
    Agent::with_parts(config.build(), Watching(DefaultConnector::new()), DefaultResolver::default())
}

/// Sends `request` with `fields`, and reads the answer, all of it within `time`, and at most `bytes_max` of its body.
pub(super) fn exchange(
    agent: &Agent,
    request: &Request,
    fields: &Fields,
    time: Duration,
    bytes_max: usize,
) -> Result<Received, Silence> {
    HAS_LEFT.set(false);
    if time.is_zero() {
        return Err(Silence { why: Unanswered::BeforeConnecting, error: "the time for this try is over".to_owned() });
    }
    let received = run(agent, request, fields, time).and_then(|response| read(response, bytes_max));
    received.map_err(|error| {
        let why = if HAS_LEFT.get() { Unanswered::MaybeSent } else { Unanswered::BeforeConnecting };
        Silence { why, error: error.to_string() }
    })
}

fn run(agent: &Agent, request: &Request, fields: &Fields, time: Duration) -> Result<Response<Body>, Error> {
    let mut head = http::Request::builder().method(request.method.as_str()).uri(&request.url);
    for (name, value) in fields {
        head = head.header(name, value.as_slice());
    }
    if request.body.is_empty() && !matches!(request.method.as_str(), "POST" | "PUT" | "PATCH") {
        let bare = agent.configure_request(head.body(())?).timeout_global(Some(time)).build();
        return agent.run(bare);
    }
    let full = agent.configure_request(head.body(request.body.as_slice())?).timeout_global(Some(time)).build();
    agent.run(full)
}

fn read(response: Response<Body>, bytes_max: usize) -> Result<Received, Error> {
    let (head, body) = response.into_parts();
    let lines = head.headers.iter().filter(|(name, _)| *name != "content-length");
    let fields = lines.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect();
    let mut bytes = Vec::new();
    body.into_reader().take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    let is_whole = bytes.len() <= bytes_max;
    bytes.truncate(bytes_max);
    Ok(Received { answer: Answer { status: head.status.as_u16(), fields, body: bytes }, is_whole })
}

thread_local! {
    /// Whether a byte of the request under way on this thread may have left.
    static HAS_LEFT: Cell<bool> = const { Cell::new(false) };
}

/// Makes connections that are watched.
#[derive(Debug)]
struct Watching(DefaultConnector);

impl Connector for Watching {
    type Out = Watched;

    fn connect(&self, details: &ConnectionDetails<'_>, chained: Option<()>) -> Result<Option<Watched>, Error> {
        let connected = self.0.connect(details, chained);
        // What a proxy was asked for on the way is no part of the request.
        HAS_LEFT.set(false);
        Ok(connected?.map(Watched))
    }
}

/// A connection that notes when something is sent over it.
#[derive(Debug)]
struct Watched(Box<dyn Transport>);

impl Transport for Watched {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.0.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        HAS_LEFT.set(true);
        self.0.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.0.await_input(timeout)
    }

    fn is_open(&mut self) -> bool {
        self.0.is_open()
    }

    fn is_tls(&self) -> bool {
        self.0.is_tls()
    }
}
