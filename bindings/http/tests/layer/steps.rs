//! Steps of a handler that is a future.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use axum::Router;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::routing::post;
use keyledger::{Effect, Error, Ledger};
use keyledger_http::Route;
use keyledger_http::tower::{BoxError, IdempotencyLayer, RequestClaim};

use crate::stage::{Server, one_user};

type Told = Result<String, (StatusCode, String)>;

fn failed(error: impl Into<BoxError>) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, error.into().to_string())
}

/// What the airline knows, and what it does next.
#[derive(Clone, Default)]
struct Airline {
    calls: Arc<AtomicUsize>,
    refuses: Arc<RwLock<bool>>,
}

impl Airline {
    fn refuse(&self, refuses: bool) {
        *self.refuses.write().unwrap_or_else(PoisonError::into_inner) = refuses;
    }

    async fn book(&self, key: String) -> Result<Vec<u8>, BoxError> {
        tokio::task::yield_now().await;
        let call = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        let refuses = *self.refuses.read().unwrap_or_else(PoisonError::into_inner);
        if refuses { Err("fully booked".into()) } else { Ok(format!("call {call} under {key}").into_bytes()) }
    }
}

/// Books, and fails on its first attempt.
async fn book(State(airline): State<Airline>, Extension(claim): Extension<RequestClaim>) -> Told {
    let key = claim.derive_key("seat").as_str().to_owned();
    let seat = claim.step_async("seat", airline.book(key)).await.map_err(failed)?;
    match claim.attempt() {
        1 => Err(failed("the mail server is down")),
        _ => Ok(String::from_utf8_lossy(&seat).into_owned()),
    }
}

fn server(effect: Effect, handler: axum::routing::MethodRouter<Airline>) -> (Server, Airline) {
    let layer = IdempotencyLayer::new(Ledger::in_memory().expect("a ledger"), Route::required(effect), one_user);
    let airline = Airline::default();
    (Server::of(Router::new().route("/x", handler.layer(layer)).with_state(airline.clone())), airline)
}

#[test]
fn e3_h14_a_step_that_was_recorded_is_not_run_again_by_the_next_attempt() {
    let (server, airline) = server(Effect::Repeatable, post(book));
    assert_eq!(server.post("/x", "k"), (500, "the mail server is down".to_owned()));
    let (status, seat) = server.post("/x", "k");
    assert!(status == 200 && seat.starts_with("call 1 under "), "{status} {seat}");
    assert_eq!(airline.calls.load(Ordering::SeqCst), 1);
}

#[test]
fn e3_a_step_that_fails_gives_its_error_and_runs_again() {
    let (server, airline) = server(Effect::Repeatable, post(book));
    airline.refuse(true);
    assert_eq!(server.post("/x", "k"), (500, "fully booked".to_owned()));
    airline.refuse(false);
    let (status, seat) = server.post("/x", "k");
    assert!(status == 200 && seat.starts_with("call 2 under "), "{status} {seat}");
}

#[test]
fn e1_what_would_not_be_recorded_is_not_run() {
    let (server, airline) = server(Effect::InLedger, post(book));
    let (status, why) = server.post("/x", "k");
    assert_eq!((status, airline.calls.load(Ordering::SeqCst)), (500, 0), "{why}");
}

/// Two steps at once, of which one asks the claim.
async fn two_at_once(Extension(claim): Extension<RequestClaim>) -> Told {
    let other = claim.clone();
    let first = claim.step_async("a", async move { Ok::<_, Error>(vec![b'0'; other.lock().await?.steps().len()]) });
    let second = claim.step_async("b", async { Ok::<_, Error>(b"b".to_vec()) });
    let (first, second) = tokio::join!(first, second);
    Ok(format!("{} {}", first.map_err(failed)?.len(), second.map_err(failed)?.len()))
}

#[test]
fn h14_the_claim_is_free_while_a_step_runs() {
    let (server, _) = server(Effect::Repeatable, post(two_at_once));
    assert_eq!(server.post("/x", "k"), (200, "0 1".to_owned()));
}
