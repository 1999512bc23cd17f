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

fn server(till: &Till) -> (Server, Ledger) {
    let ledger = Ledger::builder().open_disk(Arc::new(till.disk.clone())).expect("a ledger");
    (server_on(&ledger, till), ledger)
}

fn server_on(ledger: &Ledger, till: &Till) -> Server {
    let layer = IdempotencyLayer::new(ledger.clone(), Route::required(Effect::Repeatable), one_user);
    Server::of(Router::new().route("/charges", post(handler).layer(layer)).with_state(till.clone()))
}

#[test]
fn h4_a_disk_that_is_full_is_a_503_and_no_handler_runs() {
    for fault in [Fault::NoSpace, Fault::ShortWrite, Fault::Io] {
        let till = Till::default();
        let (server, _ledger) = server(&till);
        assert_eq!(server.post("/charges", "a"), (200, "done".to_owned()));
        till.disk.fail_call_with(1, fault);
        let (status, problem) = server.post("/charges", "b");
        assert_eq!(status, 503, "{fault:?}: {problem}");
        assert!(problem.contains("#not-available") && problem.contains("\"reuse\""), "{problem}");
        assert_eq!(till.runs.load(Ordering::SeqCst), 1, "{fault:?}");
    }
}

/// An answer that fills many pages of the file.
async fn long(State(till): State<Till>) -> String {
    till.runs.fetch_add(1, Ordering::SeqCst);
    "done".repeat(50_000)
}

/// A server of long answers, on a ledger that keeps no page in memory.
fn server_of_long(till: &Till) -> (Server, Ledger) {
    let builder = Ledger::builder().cache_bytes(0);
    let ledger = builder.open_disk(Arc::new(till.disk.clone())).expect("a ledger");
    let layer = IdempotencyLayer::new(ledger.clone(), Route::required(Effect::Repeatable), one_user);
    let router = Router::new().route("/charges", post(long).layer(layer)).with_state(till.clone());
    (Server::of(router), ledger)
}

/// What `post` is told where the `number`-th call of a freshly opened ledger's disk fails, and whether it did.
fn told_over(image: &[u8], number: u64, fault: Fault) -> ((u16, String), bool, usize) {
    let till = Till { disk: FakeDisk::of(image.to_vec()), ..Till::default() };
    let (server, ledger) = server_of_long(&till);
    till.disk.fail_call_with(number, fault);
    let told = server.post("/charges", "a");
    let has_failed = till.disk.has_failed();
    till.disk.heal();
    ledger.reopen().expect("it is opened again");
    assert_eq!(server.post("/charges", "a"), (200, "done".repeat(50_000)), "after call {number} failed with {fault:?}");
    (told, has_failed, till.runs.load(Ordering::SeqCst))
}

#[test]
fn h4_a_replay_whose_reading_fails_is_a_503_and_no_handler_runs() {
    let till = Till::default();
    let (server, ledger) = server_of_long(&till);
    assert_eq!(server.post("/charges", "a").0, 200);
    // From the log, which is kept in memory, into the tree.
    ledger.compact(true).expect("it is compacted");
    ledger.close().expect("it is closed");
    let image = till.disk.shown();
    for fault in [Fault::Io, Fault::ShortRead] {
        let failed = (1..100).take_while(|number| {
            let ((status, text), has_failed, runs) = told_over(&image, *number, fault);
            assert_eq!(runs, 0, "call {number} failed with {fault:?}");
            let wanted = if has_failed { (503, "#not-available") } else { (200, "done") };
            assert!(status == wanted.0 && text.contains(wanted.1), "call {number}, {fault:?}: {status} {text:.300}");
            has_failed
        });
        assert!(failed.count() > 0, "a replay reads: {fault:?}");
    }
}

#[test]
fn h4_a_ledger_whose_file_cannot_be_opened_again_is_a_503() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, away) = (folder.path().join("a.kl"), folder.path().join("b.kl"));
    let (till, ledger) = (Till::default(), Ledger::open(&path).expect("a ledger"));
    let server = server_on(&ledger, &till);
    assert_eq!(server.post("/charges", "a").0, 200);
    ledger.suspend().expect("it is suspended");
    std::fs::rename(&path, &away).expect("the file is moved away");
    for stranger in [&b""[..], b"no ledger at all"] {
        std::fs::write(&path, stranger).expect("another file is there");
        ledger.resume().expect_err("it is refused");
        assert_eq!((server.post("/charges", "a").0, server.post("/charges", "b").0), (503, 503));
    }
    assert_eq!(till.runs.load(Ordering::SeqCst), 1);
    std::fs::rename(&away, &path).expect("the file is back");
    ledger.resume().expect("it is resumed");
    assert_eq!(server.post("/charges", "a"), (200, "done".to_owned()));
}

#[test]
fn h9_s3_an_outcome_that_could_not_be_stored_is_not_told_until_it_is() {
    let till = Till { fills_up: true, ..Till::default() };
    let (server, ledger) = server(&till);
    let (status, problem) = server.post("/charges", "a");
    assert_eq!(status, 503, "{problem}");
    assert!(!problem.contains("done"), "{problem}");
    till.disk.heal();
    ledger.reopen().expect("it is opened again");
    assert_eq!(server.post("/charges", "a"), (200, "done".to_owned()));
    assert_eq!(till.runs.load(Ordering::SeqCst), 1);
}

#[test]
fn h4_a_ledger_that_is_suspended_is_a_503_until_it_is_resumed() {
    let till = Till::default();
    let (server, ledger) = server(&till);
    assert_eq!(server.post("/charges", "a").0, 200);
    ledger.suspend().expect("it is suspended");
    assert_eq!((server.post("/charges", "a").0, server.post("/charges", "b").0), (503, 503));
    assert_eq!(till.runs.load(Ordering::SeqCst), 1);
    ledger.resume().expect("it is resumed");
    assert_eq!((server.post("/charges", "a").0, server.post("/charges", "b").0), (200, 200));
    assert_eq!(till.runs.load(Ordering::SeqCst), 2);
}
