//! Credentials are asked for at each send, and stored nowhere (O8, O14).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use keyledger::{EntryStateName, Transport};
use keyledger_http::client::{NoCredentials, Request};

use crate::server::{Server, answer};
use crate::stage::{Stage, bearer, impatient};

#[test]
fn o8_o14_a_401_holds_the_lane_until_there_are_other_credentials_and_none_is_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.kl");
    let server = Server::start(vec![answer(401, &[], ""), answer(200, &[], "done")]);
    let token = Arc::new(Mutex::new("old-token"));
    let current = Arc::clone(&token);
    let http = impatient().build(move |_: &_, _: &Request| Ok(bearer(*current.lock().unwrap())));
    let stage = Stage::of(|ledger| ledger.open(&path).unwrap());
    stage.enqueue(&http, &server.url("/"));
    stage.enqueue(&http, &server.url("/"));
    let (_, entry) = stage.try_once(&http);
    assert_eq!((entry.held(), entry.tries()), (Some(("the server answered 401", true)), 0));
    assert!(stage.outbox.lease_due(&stage.scope, 9).unwrap().is_empty(), "the lane is held");
    assert!(!http.has_other_credentials(&stage.scope));
    *token.lock().unwrap() = "new-token";
    assert!(http.has_other_credentials(&stage.scope));
    stage.outbox.resume(&stage.scope).unwrap();
    assert!(stage.try_once(&http).1.is_yes());
    let tokens: Vec<_> = server.seen().iter().map(|seen| seen.values("Authorization").join(" ")).collect();
    assert_eq!(tokens, ["Bearer old-token", "Bearer new-token"]);
    drop(stage);
    let bytes = std::fs::read(&path).unwrap();
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("ten euros") && !holds("old-token") && !holds("new-token"));
}

#[test]
fn o8_a_403_holds_that_entry_alone() {
    let server = Server::start(vec![answer(403, &[], ""), answer(200, &[], "done")]);
    let (stage, http) = (Stage::in_memory(), impatient().build(|_: &_, _: &Request| Ok(bearer("token"))));
    stage.enqueue(&http, &server.url("/"));
    stage.enqueue(&http, &server.url("/"));
    let (_, entry) = stage.try_once(&http);
    assert_eq!((entry.held(), entry.tries()), (Some(("the server answered 403", false)), 0));
    assert!(stage.try_once(&http).1.is_yes());
}

#[test]
fn o8_while_nobody_is_signed_in_nothing_is_sent_and_nothing_spins() {
    let server = Server::start(vec![]);
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let http = impatient().build(move |_: &_, _: &Request| {
        count.fetch_add(1, Ordering::Relaxed);
        Err(NoCredentials::SignedOut)
    });
    let stage = Stage::in_memory();
    stage.enqueue(&http, &server.url("/"));
    let (_, entry) = stage.try_once(&http);
    assert_eq!((entry.state(), entry.tries(), entry.may_have_taken_effect()), (EntryStateName::Held, 0, false));
    assert!(!http.has_other_credentials(&stage.scope));
    assert!(stage.outbox.lease_due(&stage.scope, 9).unwrap().is_empty());
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    assert!(server.seen().is_empty());
}

#[test]
fn o9_credentials_that_cannot_be_had_now_leave_nothing_in_doubt() {
    let stage = Stage::in_memory();
    let not_now = |_: &_, _: &Request| Err(NoCredentials::NotNow("the token service is down".to_owned()));
    let second_key = |_: &_, _: &Request| Ok(vec![("idempotency-key".to_owned(), b"mine".to_vec())]);
    let panics = |_: &_, _: &Request| -> Result<_, NoCredentials> { panic!("a fault of authorize") };
    for http in [impatient().build(not_now), impatient().build(second_key), impatient().build(panics)] {
        let id = stage.enqueue(&http, "http://127.0.0.1:9/");
        let (outcome, entry) = stage.try_once(&http);
        assert_eq!((outcome.as_str(), entry.may_have_taken_effect()), ("retry", false));
        assert!(stage.outbox.cancel(id).unwrap().is_cancelled());
    }
}

#[test]
fn o8_a_new_process_knows_of_no_refused_credentials_and_lets_one_send_tell() {
    let http = impatient().build(|_: &_, _: &Request| Ok(bearer("token")));
    assert!(http.has_other_credentials(&Stage::in_memory().scope));
}
