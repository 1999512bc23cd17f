//! One key and the same bytes on every try, and what silence means.

use std::net::TcpListener;
use std::time::Duration;

use keyledger::{EntryStateName, Outcome};
use keyledger_http::client::{Anonymous, HttpTransport, KeyField, Request, RequestError};
use keyledger_http::message::{Stored, StoredBody};

use crate::server::{Act, Server, answer};
use crate::stage::{Stage, impatient};

#[test]
fn c1_c4_a_timeout_a_409_in_progress_and_a_200_have_one_key_on_the_wire() {
    let in_progress = r#"{"key_advice":"reuse"}"#;
    let problem = [("Content-Type", "application/problem+json")];
    let server =
        Server::start(vec![Act::Silence, answer(409, &problem, in_progress), answer(200, &[("X-Id", "7")], "done")]);
    let (stage, http) = (Stage::in_memory(), impatient().build(Anonymous));
    let id = stage.enqueue(&http, &server.url("/charges"));
    let (outcome, entry) = stage.try_once(&http);
    assert_eq!((outcome.as_str(), entry.tries(), entry.may_have_taken_effect()), ("retry", 1, true));
    let (_, entry) = stage.try_once(&http);
    assert_eq!((entry.tries(), entry.given_back()), (1, 1));
    let (_, entry) = stage.try_once(&http);
    assert!(entry.is_yes());
    let stored = Stored::of_response(entry.response().unwrap(), Outcome::Completed);
    assert_eq!((stored.status, stored.body), (200, StoredBody::Kept(b"done".to_vec())));
    assert_eq!(stored.fields, [("x-id".to_owned(), b"7".to_vec())]);
    let quoted = format!("\"{}\"", stage.outbox.get(id).unwrap().unwrap().key().as_str());
    let seen = server.seen();
    assert_eq!(seen.len(), 3);
    assert!(seen.iter().all(|seen| seen.values("Idempotency-Key") == [&quoted]), "{seen:?}");
}

#[test]
fn c1_the_key_goes_bare_and_under_another_name_where_it_is_wanted_so() {
    let server = Server::start(vec![answer(200, &[], "")]);
    let field = KeyField::default().named("X-Request-Key").unwrap().bare();
    let (stage, http) = (Stage::in_memory(), impatient().key_field(field).build(Anonymous));
    let id = stage.enqueue(&http, &server.url("/"));
    stage.try_once(&http);
    let key = stage.outbox.get(id).unwrap().unwrap().key().as_str().to_owned();
    assert_eq!(server.seen()[0].values("X-Request-Key"), [&key]);
    assert!(server.seen()[0].values("Idempotency-Key").is_empty());
}

#[test]
fn o2_the_same_bytes_go_out_on_three_tries_and_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.kl");
    let down = || answer(503, &[], "");
    let server = Server::start(vec![down(), down(), down(), answer(201, &[], "done")]);
    let http = impatient().build(Anonymous);
    let open = || Stage::of(|ledger| ledger.open(&path).unwrap());
    let stage = open();
    let id = stage.enqueue(&http, &server.url("/x?a=1"));
    (0..3).for_each(|_| assert_eq!(stage.try_once(&http).0.as_str(), "retry"));
    drop(stage);
    let (_, entry) = open().try_once(&http);
    assert_eq!((entry.id(), entry.is_yes()), (id, true));
    let seen = server.seen();
    assert_eq!(seen[0].body, b"\x00\r\n\xff ten euros");
    assert_eq!(seen[0].head[0], "POST /x?a=1 HTTP/1.1");
    assert!(seen.iter().all(|other| *other == seen[0]), "{seen:?}");
    assert_eq!(seen.len(), 4);
}

#[test]
fn o9_what_cannot_have_left_is_not_in_doubt_and_what_may_have_is() {
    let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let (stage, http) = (Stage::in_memory(), impatient().build(Anonymous));
    for url in [format!("http://127.0.0.1:{closed}/"), "http://no-such-host.invalid/".to_owned()] {
        let id = stage.enqueue(&http, &url);
        let (outcome, entry) = stage.try_once(&http);
        assert_eq!((outcome.as_str(), entry.may_have_taken_effect()), ("retry", false), "{url}");
        assert!(stage.outbox.cancel(id).unwrap().is_cancelled());
    }
    let broken = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbroken".to_vec();
    for act in [Act::Cut, Act::Answer(broken.clone()), Act::Stall(broken)] {
        let server = Server::start(vec![act]);
        let stage = Stage::in_memory();
        stage.enqueue(&http, &server.url("/"));
        let (outcome, entry) = stage.try_once(&http);
        assert_eq!((outcome.as_str(), entry.may_have_taken_effect()), ("retry", true));
    }
}

#[test]
fn c4_nothing_is_sent_when_the_lease_is_over() {
    let server = Server::start(vec![]);
    let (stage, http) = (Stage::in_memory(), impatient().build(Anonymous));
    stage.enqueue(&http, &server.url("/"));
    let delivery = stage.outbox.lease_due(&stage.scope, 1).unwrap().pop().unwrap();
    stage.clock.advance(Duration::from_secs(30));
    let outcome = keyledger::Transport::send(&http, &delivery);
    assert_eq!(outcome, keyledger::DeliveryOutcome::retry("the time for this try is over").unanswered().not_taken());
}

#[test]
fn c1_o14_the_callers_own_key_field_and_credentials_are_refused_before_anything_is_stored() {
    let (stage, http) = (Stage::in_memory(), HttpTransport::builder().secret("X-Api-Token").build(Anonymous));
    for (name, error) in [
        ("idempotency-KEY", RequestError::OwnKey("idempotency-KEY".to_owned())),
        ("authorization", RequestError::Credentials("authorization".to_owned())),
        ("x-api-token", RequestError::Credentials("x-api-token".to_owned())),
    ] {
        let request = Request::post("https://pay.example/").with_field(name, "s");
        assert_eq!(http.enqueue(&stage.scope, "charge", &request).unwrap_err(), error);
    }
}

#[test]
fn o9_what_is_no_request_is_dead_without_being_sent() {
    let (stage, http) = (Stage::in_memory(), impatient().build(Anonymous));
    for media_type in ["text/plain", "application/http"] {
        let enqueue = keyledger::Enqueue::new(&stage.scope, "charge", media_type, "rubbish");
        stage.outbox.enqueue(&enqueue).unwrap();
        assert_eq!(stage.try_once(&http).1.state(), EntryStateName::Dead, "{media_type}");
    }
}

#[cfg(not(feature = "tls"))]
#[test]
fn o9_without_tls_nothing_of_a_request_for_https_leaves_in_the_open() {
    let server = Server::start(vec![Act::Cut]);
    let (stage, http) = (Stage::in_memory(), impatient().build(Anonymous));
    stage.enqueue(&http, &server.url("/").replace("http:", "https:"));
    let (outcome, entry) = stage.try_once(&http);
    assert_eq!((outcome.as_str(), entry.may_have_taken_effect()), ("retry", false));
}
