//! What the layer costs: processor time over the same route without it, measured in one run.

#![cfg(unix)]

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use keyledger::{Effect, Ledger, Scope};
use keyledger_http::Route;
use keyledger_http::tower::IdempotencyLayer;
use rustix::time::{ClockId, clock_gettime};
use tower::{Layer, Service, ServiceExt};

const ROUNDS: usize = 15;
const REQUESTS: u32 = 2000;

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let nanos = u32::try_from(time.tv_nsec).expect("less than a second");
    Duration::new(u64::try_from(time.tv_sec).expect("it began at zero"), nanos)
}

async fn handle<B: Body>(request: Request<B>) -> Result<Response<Full<Bytes>>, Infallible> {
    drop(request);
    Ok(Response::new(Full::new(Bytes::from_static(b"done"))))
}

fn request(key: Option<&str>) -> Request<Full<Bytes>> {
    let request = Request::post("/charges").header("Content-Type", "application/json");
    let request = key.into_iter().fold(request, |request, key| request.header("Idempotency-Key", key));
    request.body(Full::new(Bytes::from_static(b"{\"amount\":5}"))).expect("a request")
}

/// Processor time of one request, the least of several rounds.
async fn cost<S, B>(service: S, key: Option<&str>) -> Duration
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = Infallible> + Clone,
    B: Body<Data: std::fmt::Debug, Error: std::fmt::Debug>,
{
    let mut least = Duration::MAX;
    for _ in 0..ROUNDS {
        let before = processor_time();
        for _ in 0..REQUESTS {
            let answer = service.clone().oneshot(request(key)).await.expect("an answer");
            assert_eq!(answer.headers().contains_key("idempotent-replayed"), key.is_some());
            answer.into_body().collect().await.expect("a body");
        }
        least = least.min(processor_time().saturating_sub(before) / REQUESTS);
    }
    least
}

#[tokio::test(flavor = "current_thread")]
async fn a_replay_costs_less_than_30_us_and_a_request_without_a_key_less_than_2_us() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = Ledger::open(folder.path().join("costs.kl")).expect("a ledger");
    let layer = IdempotencyLayer::new(ledger, Route::optional(Effect::Repeatable), |_| Some(Scope::single()));
    let guarded = layer.layer(tower::service_fn(handle));
    let first = guarded.clone().oneshot(request(Some("\"key-1\""))).await.expect("an answer");
    assert!(!first.headers().contains_key("idempotent-replayed"));
    let bare = cost(tower::service_fn(handle), None).await;
    let without_key = cost(guarded.clone(), None).await.saturating_sub(bare);
    let replay = cost(guarded, Some("\"key-1\"")).await.saturating_sub(bare);
    println!("bare {bare:?}, over it: without a key {without_key:?}, a replay {replay:?}");
    assert!(without_key < Duration::from_micros(2), "without a key: {without_key:?}");
    assert!(replay < Duration::from_micros(30), "a replay: {replay:?}");
}
