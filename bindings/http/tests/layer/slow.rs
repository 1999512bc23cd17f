//! Handlers that outlast their lease, and signals that a claim is lost, by the real clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use axum::Router;
use axum::extract::{Extension, State};
use axum::routing::post;
use keyledger::{Effect, Ledger};
use keyledger_http::tower::{IdempotencyLayer, RequestClaim};
use keyledger_http::{Answer, Route};
use tower::{Layer, ServiceExt};

use crate::stage::{Server, one_user};

type Runs = Arc<AtomicUsize>;

const LEASE: Duration = Duration::from_millis(600);

fn server(handler: axum::routing::MethodRouter<Runs>, ledger: &Ledger, runs: &Runs) -> Server {
    Server::of(router(handler, ledger, runs))
}

fn router(handler: axum::routing::MethodRouter<Runs>, ledger: &Ledger, runs: &Runs) -> Router {
    let route = Route::required(Effect::Repeatable).lease(LEASE);
    let layer = IdempotencyLayer::new(ledger.clone(), route, one_user);
    Router::new().route("/slow", handler.layer(layer)).with_state(runs.clone())
}

async fn slow(State(runs): State<Runs>) -> String {
    let run = runs.fetch_add(1, Ordering::SeqCst) + 1;
    tokio::time::sleep(3 * LEASE).await;
    format!("run {run}")
}

#[test]
fn h10_a_handler_that_outlasts_its_lease_keeps_its_claim() {
    let (ledger, runs) = (Ledger::in_memory().expect("a ledger"), Runs::default());
    let server = server(post(slow), &ledger, &runs);
    let answers = thread::scope(|scope| {
        let first = scope.spawn(|| server.post("/slow", "k"));
        thread::sleep(2 * LEASE);
        let meanwhile = server.post("/slow", "k").0;
        (first.join().expect("the first"), meanwhile)
    });
    assert_eq!(answers, ((200, "run 1".to_owned()), 409));
    assert_eq!(server.post("/slow", "k").1, "run 1");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

/// Waits until it learns that its claim is lost.
async fn fenced(State(runs): State<Runs>, Extension(claim): Extension<RequestClaim>) -> &'static str {
    if runs.fetch_add(1, Ordering::SeqCst) > 0 {
        return "the second";
    }
    while !claim.is_lost() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    "the first, in vain"
}

#[test]
fn h10_h15_a_heartbeat_tells_the_handler_that_its_claim_is_lost_and_its_answer_is_thrown_away() {
    let (ledger, runs) = (Ledger::in_memory().expect("a ledger"), Runs::default());
    let server = server(post(fenced), &ledger, &runs);
    let answer = thread::scope(|scope| {
        let first = scope.spawn(|| server.post("/slow", "k"));
        while runs.load(Ordering::SeqCst) == 0 {
            thread::sleep(Duration::from_millis(5));
        }
        let filter = keyledger::Filter::all();
        let record = ledger.list(&filter).expect("a list").records.remove(0);
        ledger.forget(record.key_id(), true).expect("it is forgotten");
        assert_eq!(server.post("/slow", "k").1, "the second");
        first.join().expect("the first")
    });
    assert_eq!(answer.1, "the second");
}

/// Fills up the threads that are there for what blocks.
async fn blocks(State(runs): State<Runs>) -> String {
    let run = runs.fetch_add(1, Ordering::SeqCst) + 1;
    tokio::task::spawn_blocking(|| thread::sleep(3 * LEASE)).await.expect("it ends");
    format!("run {run}")
}

#[test]
fn h10_heartbeats_wait_for_no_handler_that_blocks() {
    let (ledger, runs) = (Ledger::in_memory().expect("a ledger"), Runs::default());
    let server = Server::with_blocking_threads(router(post(blocks), &ledger, &runs), 1);
    thread::scope(|scope| {
        let first = scope.spawn(|| server.post("/slow", "k"));
        thread::sleep(2 * LEASE);
        assert_eq!(server.post("/slow", "k").0, 409);
        assert_eq!(first.join().expect("the first"), (200, "run 1".to_owned()));
    });
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

/// Completes its claim, and goes on until heartbeats have come by.
async fn completes(State(losses): State<Runs>, Extension(claim): Extension<RequestClaim>) {
    let stored = Answer::of_status(200).with_body("mine").to_stored();
    let completed = claim.lock().await.expect("the claim").complete_with(|_| Ok::<_, keyledger::Error>(stored));
    completed.expect("it is completed");
    tokio::time::sleep(LEASE).await;
    losses.fetch_add(claim.is_lost().into(), Ordering::SeqCst);
}

#[test]
fn h10_h14_a_claim_that_the_handler_has_settled_itself_is_not_lost() {
    let (ledger, losses) = (Ledger::in_memory().expect("a ledger"), Runs::default());
    let server = server(post(completes), &ledger, &losses);
    assert_eq!(server.post("/slow", "k"), (200, "mine".to_owned()));
    assert_eq!(losses.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn h9_a_server_that_stops_can_wait_for_the_handlers_of_clients_that_are_gone() {
    let (ledger, runs) = (Ledger::in_memory().expect("a ledger"), Runs::default());
    let layer = IdempotencyLayer::new(ledger.clone(), Route::required(Effect::AtMostOnce), one_user);
    let service = layer.layer(post(slow).with_state(runs.clone()));
    let request = http::Request::post("/slow").header("Idempotency-Key", "k").body(axum::body::Body::empty());
    let asked = tokio::spawn(service.oneshot(request.expect("a request")));
    while runs.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    asked.abort();
    layer.idle().await;
    let record = ledger.list(&keyledger::Filter::all()).expect("a list").records.remove(0);
    assert_eq!(record.state().as_str(), "completed");
}

#[tokio::test]
async fn h9_one_await_waits_for_the_handlers_of_all_routes() {
    let (ledger, runs) = (Ledger::in_memory().expect("a ledger"), Runs::default());
    let first = IdempotencyLayer::new(ledger.clone(), Route::required(Effect::AtMostOnce), one_user);
    let second = first.with_route(Route::optional(Effect::Repeatable)).clone();
    let service = second.layer(post(slow).with_state(runs.clone()));
    let request = http::Request::post("/slow").header("Idempotency-Key", "k").body(axum::body::Body::empty());
    let asked = tokio::spawn(service.oneshot(request.expect("a request")));
    while runs.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    asked.abort();
    first.idle().await;
    let record = ledger.list(&keyledger::Filter::all()).expect("a list").records.remove(0);
    assert_eq!((record.state().as_str(), record.effect()), ("completed", Effect::Repeatable));
}

async fn ends_at_once() -> &'static str {
    "done"
}

#[test]
fn h10_heartbeats_stop_when_the_handler_has_ended() {
    let (ledger, runs) = (Ledger::in_memory().expect("a ledger"), Runs::default());
    let server = server(post(ends_at_once), &ledger, &runs);
    assert_eq!(server.post("/slow", "k").0, 200);
    let view = || ledger.list(&keyledger::Filter::all()).expect("a list").records.remove(0);
    let before = view();
    thread::sleep(LEASE);
    assert_eq!(view(), before);
}
