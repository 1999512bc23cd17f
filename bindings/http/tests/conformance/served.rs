//! The tower layer on a hyper server, asked over raw sockets.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::TcpStream;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Request as HttpRequest, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use keyledger::{Ledger, ManualClock, Scope};
use keyledger_http::tower::{IdempotencyLayer, RequestClaim};
use keyledger_http::{Answer, Route};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tower::{Layer, ServiceExt};

use crate::format::{Request, Scenario};
use crate::handler::{Ending, Script, route};
use crate::stage::{Adapter, ledger, wait_until};
use crate::wire::{Got, receive, send, send_half};

pub(crate) struct Served {
    ledger: Ledger,
    clock: ManualClock,
    shared: Arc<Shared>,
    port: u16,
    running: HashMap<String, (TcpStream, Option<Arc<Semaphore>>)>,
    runtime: Runtime,
}

/// What the handler works with.
struct Shared {
    script: Script,
    /// Whether the next handler waits, and for what.
    is_to_wait: AtomicBool,
    gate: Mutex<Option<Arc<Semaphore>>>,
}

impl Shared {
    /// Waits, if this is a handler that was started.
    async fn wait(&self) {
        if self.is_to_wait.swap(false, Ordering::SeqCst) {
            let gate = Arc::new(Semaphore::new(0));
            *self.gate.lock().expect("the gate") = Some(gate.clone());
            gate.acquire().await.expect("the gate opens").forget();
        }
    }
}

type Reply = Response<BoxBody<Bytes, Broken>>;

impl Served {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let (ledger, clock) = ledger(scenario);
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().expect("a runtime");
        let script = Script::of(scenario);
        let shared = Arc::new(Shared { script, is_to_wait: AtomicBool::new(false), gate: Mutex::default() });
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0))).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        runtime.spawn(serve(listener, ledger.clone(), route(scenario), shared.clone()));
        Self { ledger, clock, shared, port, running: HashMap::new(), runtime }
    }
}

async fn serve(listener: TcpListener, ledger: Ledger, route: Option<Route>, shared: Arc<Shared>) {
    let route = route.map(Arc::new);
    let layer = IdempotencyLayer::by_request(ledger, move |_| route.clone(), scope);
    let guarded = layer.layer(tower::service_fn(move |request| handle(shared.clone(), request)));
    let whole = tower::service_fn(move |request: HttpRequest<hyper::body::Incoming>| {
        let guarded = guarded.clone();
        async move {
            // What checks credentials stands before the layer (H13).
            if request.headers().get("user").is_some_and(|user| user == "sent-away") {
                let mut refusal =
                    Response::new(Full::new(Bytes::from("who are you?")).map_err(Into::into).boxed_unsync());
                *refusal.status_mut() = StatusCode::UNAUTHORIZED;
                return Ok::<_, Infallible>(refusal);
            }
            Ok(guarded.oneshot(request).await?.map(BodyExt::boxed_unsync))
        }
    });
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(whole.clone()));
        tokio::spawn(connection);
    }
}

fn scope(parts: &Parts) -> Option<Scope> {
    let user = parts.headers.get("user")?.to_str().ok()?;
    assert!(user != "raises", "the scope function raises");
    Scope::new(user).ok()
}

async fn handle<B>(shared: Arc<Shared>, request: HttpRequest<B>) -> Result<Reply, Infallible> {
    let mut play = shared.script.begin();
    if !play.waits_after() {
        shared.wait().await;
    }
    if let Some(claim) = request.extensions().get::<RequestClaim>() {
        play.act(&mut claim.lock().await.expect("the claim"));
        if play.takes_claim() {
            play.let_go(claim.take().await.expect("the claim"));
        }
    }
    if play.waits_after() {
        shared.wait().await;
    }
    Ok(match play.end() {
        Ending::Raises => panic!("the handler raises"),
        Ending::Answers(answer) => reply(answer, After::End),
        Ending::BreaksOff(answer) => reply(answer, After::Error),
        Ending::RaisesLate(answer) => reply(answer, After::Panic),
    })
}

/// What comes after a body's data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    End,
    Error,
    Panic,
}

fn reply(answer: Answer, after: After) -> Reply {
    let body = Bytes::from(answer.body);
    let body = if after == After::End {
        Full::new(body).map_err(|never| match never {}).boxed()
    } else {
        Breaking { data: Some(body), after }.boxed()
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(answer.status).expect("a status");
    for (name, value) in answer.fields {
        let name = HeaderName::try_from(name).expect("a name");
        response.headers_mut().append(name, HeaderValue::try_from(value).expect("a value"));
    }
    response
}

/// A body that breaks off.
struct Breaking {
    data: Option<Bytes>,
    after: After,
}

#[derive(Debug)]
struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the body breaks off")
    }
}

impl std::error::Error for Broken {}

impl Body for Breaking {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let data = self.data.take();
        assert!(data.is_some() || self.after != After::Panic, "the body raises");
        Poll::Ready(Some(data.map(Frame::data).ok_or(Broken)))
    }
}

impl Adapter for Served {
    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn script(&self) -> &Script {
        &self.shared.script
    }

    fn send(&mut self, request: &Request) -> Got {
        receive(send(self.port, request), request.method != "HEAD")
    }

    fn start(&mut self, name: &str, request: &Request, queued: bool) {
        self.shared.is_to_wait.store(!queued, Ordering::SeqCst);
        let connection = send(self.port, request);
        let mut gate = None;
        if queued {
            // Nothing tells from outside that a request waits for another.
            std::thread::sleep(Duration::from_millis(200));
        } else {
            wait_until("the handler begins", || {
                gate = self.shared.gate.lock().expect("the gate").take();
                gate.is_some()
            });
        }
        self.running.insert(name.to_owned(), (connection, gate));
    }

    fn finish(&mut self, name: &str) -> Got {
        let (connection, gate) = self.running.remove(name).expect("it was started");
        if let Some(gate) = gate {
            gate.add_permits(1);
        }
        receive(connection, true)
    }

    fn cut(&mut self, name: &str) {
        let (connection, gate) = self.running.get(name).expect("it was started");
        connection.shutdown(std::net::Shutdown::Both).expect("the connection is cut");
        if gate.is_none() {
            // Nothing tells from outside that the server has noticed.
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn cut_short(&mut self, request: &Request) {
        send_half(self.port, request);
    }

    fn settles(&mut self) {
        // The task that accepts connections is one.
        let metrics = self.runtime.metrics();
        wait_until("nothing runs any more", || metrics.num_alive_tasks() <= 1);
    }
}
