//! A ledger that cannot write, or cannot be read: nothing gets through unprotected (H4), nothing is told that is not stored (H9).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::State;
use axum::routing::post;
use keyledger::{Effect, Ledger};
use keyledger_harness::disk::{FakeDisk, Fault};
use keyledger_http::Route;
use keyledger_http::tower::IdempotencyLayer;

use crate::stage::{Server, one_user};

#[derive(Clone, Default)]
struct Till {
    runs: Arc<AtomicUsize>,
    disk: FakeDisk,
    /// Whether the disk fills up while the handler runs.
    fills_up: bool,
}

async fn handler(State(till): State<Till>) -> &'static str {
    till.runs.fetch_add(1, Ordering::SeqCst);
    if till.fills_up {
        till.disk.stop_at_sync(1);
    }
    "done"
}

fn server(till: &Till) -> Server {
    let ledger = Ledger::builder().open_disk(Arc::new(till.disk.clone())).expect("a ledger");
    let layer = IdempotencyLayer::new(ledger, Route::required(Effect::Repeatable), one_user);
    Server::of(Router::new().route("/charges", post(handler).layer(layer)).with_state(till.clone()))
}

#[test]
fn h4_a_disk_that_is_full_is_a_503_and_no_handler_runs() {
    for fault in [Fault::NoSpace, Fault::ShortWrite, Fault::Io] {
        let till = Till::default();
        let server = server(&till);
        assert_eq!(server.post("/charges", "a"), (200, "done".to_owned()));
        till.disk.fail_call_with(1, fault);
        let (status, problem) = server.post("/charges", "b");
        assert_eq!(status, 503, "{fault:?}: {problem}");
        assert!(problem.contains("#not-available") && problem.contains("\"reuse\""), "{problem}");
        assert_eq!(till.runs.load(Ordering::SeqCst), 1, "{fault:?}");
    }
}

#[test]
fn h9_an_outcome_that_could_not_be_stored_is_not_told() {
    let till = Till { fills_up: true, ..Till::default() };
    let server = server(&till);
    let (status, problem) = server.post("/charges", "a");
    assert_eq!(status, 503, "{problem}");
    assert!(!problem.contains("done"), "{problem}");
    assert_eq!(till.runs.load(Ordering::SeqCst), 1);
}

#[test]
fn h4_a_ledger_that_is_suspended_is_a_503_until_it_is_resumed() {
    let till = Till::default();
    let ledger = Ledger::builder().open_disk(Arc::new(till.disk.clone())).expect("a ledger");
    let layer = IdempotencyLayer::new(ledger.clone(), Route::required(Effect::Repeatable), one_user);
    let server = Server::of(Router::new().route("/charges", post(handler).layer(layer)).with_state(till.clone()));
    assert_eq!(server.post("/charges", "a").0, 200);
    ledger.suspend().expect("it is suspended");
    assert_eq!((server.post("/charges", "a").0, server.post("/charges", "b").0), (503, 503));
    assert_eq!(till.runs.load(Ordering::SeqCst), 1);
    ledger.resume().expect("it is resumed");
    assert_eq!((server.post("/charges", "a").0, server.post("/charges", "b").0), (200, 200));
    assert_eq!(till.runs.load(Ordering::SeqCst), 2);
}
