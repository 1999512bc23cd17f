//! Handlers that outlast their lease, and signals that a claim is lost, by the real clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use axum::Router;
use axum::extract::{Extension, State};
use axum::routing::post;
use keyledger::{Effect, Ledger};
use keyledger_http::Route;
use keyledger_http::tower::{IdempotencyLayer, RequestClaim};

use crate::stage::{Server, one_user};

type Runs = Arc<AtomicUsize>;

const LEASE: Duration = Duration::from_millis(600);

fn server(handler: axum::routing::MethodRouter<Runs>, ledger: &Ledger, runs: &Runs) -> Server {
    let route = Route::required(Effect::Repeatable).lease(LEASE);
    let layer = IdempotencyLayer::new(ledger.clone(), route, one_user);
    Server::of(Router::new().route("/slow", handler.layer(layer)).with_state(runs.clone()))
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
