//! What answers mean, read off a real wire.

use keyledger::{DeliveryOutcome, EntryStateName, Outcome};
use keyledger_http::client::Anonymous;
use keyledger_http::message::{Stored, StoredBody};

use crate::server::{Server, answer};
use crate::stage::{NOW_MS, Stage, impatient};

const SERVERS_DATE: &str = "Tue, 08 Nov 1994 08:49:37 GMT";

/// How long the entry waits after a 429 with that Retry-After, from a server whose clock is two days ahead. Milliseconds.
fn wait_ms(retry_after: Option<&str>) -> u64 {
    let mut fields = vec![("Date", SERVERS_DATE)];
    fields.extend(retry_after.map(|value| ("Retry-After", value)));
    let server = Server::start(vec![answer(429, &fields, "")]);
    let (stage, http) = (Stage::in_memory(), impatient().build(Anonymous));
    stage.enqueue(&http, &server.url("/"));
    let (_, entry) = stage.try_once(&http);
    assert_eq!((entry.state(), entry.may_have_taken_effect()), (EntryStateName::Pending, false));
    entry.due_at_ms().unwrap() - NOW_MS
}

#[test]
fn o6_retry_after_is_digits_or_a_date_by_the_servers_own_clock() {
    for (value, expected_ms) in [
        ("120", 120_000),
        ("Tue, 08 Nov 1994 08:51:07 GMT", 90_000),
        ("1000000000000", 3_600_000),
        ("99999999999999999999999999", 3_600_000),
    ] {
        assert_eq!(wait_ms(Some(value)), expected_ms, "{value}");
    }
}

#[test]
fn o6_any_other_retry_after_leaves_the_wait_to_the_backoff() {
    for value in ["0", "-1", "1.5", "+3", "Sun, 06 Nov 1994 08:49:37 GMT", "tomorrow", "", "12 0"] {
        assert!(wait_ms(Some(value)) <= 1, "{value}");
    }
    assert!(wait_ms(None) <= 1);
}

#[test]
fn o8_a_520_with_an_html_body_is_a_retry_in_doubt() {
    let html = "<html><h1>Web server is returning an unknown error</h1></html>";
    let server = Server::start(vec![answer(520, &[("Content-Type", "text/html")], html)]);
    let (stage, http) = (Stage::in_memory(), impatient().build(Anonymous));
    stage.enqueue(&http, &server.url("/"));
    let (outcome, entry) = stage.try_once(&http);
    assert_eq!(outcome, DeliveryOutcome::retry("the server answered 520"));
    assert!(entry.may_have_taken_effect());
}

#[test]
fn o8_the_caller_can_say_otherwise_and_a_classifier_that_panics_counts_as_a_retry() {
    let server = Server::start(vec![answer(404, &[], ""), answer(418, &[], ""), answer(200, &[], "done")]);
    let http = impatient().classify(|answer, usual| match answer.status {
        404 => DeliveryOutcome::retry("not there yet").not_taken(),
        418 => panic!("a fault of the classifier"),
        _ => usual,
    });
    let (stage, http) = (Stage::in_memory(), http.build(Anonymous));
    stage.enqueue(&http, &server.url("/"));
    assert!(!stage.try_once(&http).1.may_have_taken_effect());
    let (outcome, entry) = stage.try_once(&http);
    assert_eq!((outcome.as_str(), entry.may_have_taken_effect()), ("retry", true));
    assert!(stage.try_once(&http).1.is_yes());
}

#[test]
fn s4_of_an_answer_that_is_too_long_status_and_fields_are_stored() {
    let server = Server::start(vec![answer(201, &[("X-Id", "7")], &"x".repeat(1001))]);
    let (stage, http) = (Stage::in_memory(), impatient().answer_bytes_max(1000).build(Anonymous));
    stage.enqueue(&http, &server.url("/"));
    let (_, entry) = stage.try_once(&http);
    let stored = Stored::of_response(entry.response().unwrap(), Outcome::Completed);
    assert_eq!((stored.status, stored.body), (201, StoredBody::Omitted(None)));
    assert_eq!(stored.fields, [("x-id".to_owned(), b"7".to_vec())]);
}

#[test]
fn c2_a_redirect_keeps_method_key_and_body_and_is_not_followed_elsewhere() {
    let elsewhere = Server::start(vec![]);
    let server = Server::start(vec![
        answer(308, &[("Location", "/v2/charges")], ""),
        answer(200, &[], "done"),
        answer(303, &[("Location", "/v2/charges")], ""),
        answer(308, &[("Location", &elsewhere.url("/"))], ""),
    ]);
    let (stage, http) = (Stage::in_memory(), impatient().build(Anonymous));
    let id = stage.enqueue(&http, &server.url("/charges"));
    assert!(stage.try_once(&http).1.is_yes());
    let key = format!("\"{}\"", stage.outbox.get(id).unwrap().unwrap().key().as_str());
    let [first, second] = server.seen().try_into().unwrap();
    assert_eq!((second.head[0].as_str(), &second.body), ("POST /v2/charges HTTP/1.1", &first.body));
    assert_eq!(second.values("Idempotency-Key"), [&key]);
    for _ in 0..2 {
        stage.enqueue(&http, &server.url("/charges"));
        assert_eq!(stage.try_once(&http).0.as_str(), "no");
    }
    assert!(elsewhere.seen().is_empty());
}

#[test]
fn c2_a_server_that_redirects_in_a_circle_is_left_after_five_times() {
    let circle = || answer(308, &[("Location", "/")], "");
    let server = Server::start((0..6).map(|_| circle()).collect());
    let (stage, http) = (Stage::in_memory(), impatient().build(Anonymous));
    stage.enqueue(&http, &server.url("/"));
    assert_eq!(stage.try_once(&http).0.as_str(), "no");
    assert_eq!(server.seen().len(), 6);
}
