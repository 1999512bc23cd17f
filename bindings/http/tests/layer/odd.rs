//! Requests as no client library sends them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use http_body_util::{BodyExt, Full};
use keyledger::{Effect, Filter, Ledger};
use keyledger_http::Route;
use keyledger_http::tower::IdempotencyLayer;

use crate::stage::{Server, one_user};

type Runs = Arc<AtomicUsize>;

async fn count(State(runs): State<Runs>, body: String) -> String {
    format!("run {} of {body}", runs.fetch_add(1, Ordering::SeqCst) + 1)
}

fn server() -> (Server, Ledger) {
    let ledger = Ledger::in_memory().expect("a ledger");
    let route = Route::required(Effect::Repeatable).max_request_bytes(1000);
    let layer = IdempotencyLayer::new(ledger.clone(), route, one_user);
    (Server::of(Router::new().route("/x", post(count).layer(layer)).with_state(Runs::default())), ledger)
}

fn records(ledger: &Ledger) -> usize {
    ledger.list(&Filter::all()).expect("a list").records.len()
}

const HEAD: &str = "POST /x HTTP/1.1\r\nHost: x\r\nIdempotency-Key: \"k\"\r\n";
const CLOSE: &str = "Connection: close\r\n";

#[test]
fn f3_chunks_with_extensions_and_trailers_are_the_bytes_that_they_carry() {
    let (server, _) = server();
    let chunked = "Transfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nX-T: 1\r\n\r\n";
    let first = server.raw(&format!("{HEAD}{CLOSE}{chunked}"));
    assert!(first.ends_with("run 1 of hello"), "{first}");
    let again = server.raw(&format!("{HEAD}{CLOSE}Content-Length: 5\r\n\r\nhello"));
    assert!(again.contains("idempotent-replayed: true") && again.ends_with("run 1 of hello"), "{again}");
}

#[test]
fn h5_an_old_client_is_told_the_same() {
    let (server, _) = server();
    let old = HEAD.replace("HTTP/1.1", "HTTP/1.0");
    let tell = || server.raw(&format!("{old}Content-Length: 1\r\n\r\na"));
    let (first, again) = (tell(), tell());
    assert!(first.starts_with("HTTP/1.0 200") && first.ends_with("run 1 of a"), "{first}");
    assert!(again.starts_with("HTTP/1.0 200") && again.ends_with("run 1 of a"), "{again}");
}

#[test]
fn h5_requests_sent_one_behind_the_other_are_answered_in_order() {
    let (server, _) = server();
    let one = format!("{HEAD}Content-Length: 1\r\n\r\na");
    let last = format!("{HEAD}{CLOSE}Content-Length: 1\r\n\r\nb");
    let answers = server.raw(&format!("{one}{one}{last}"));
    let statuses: Vec<&str> = answers.match_indices("HTTP/1.1 ").map(|(at, _)| &answers[at + 9..at + 12]).collect();
    assert_eq!(statuses, ["200", "200", "422"], "{answers}");
    assert_eq!(answers.matches("run 1 of a").count(), 2, "{answers}");
}

#[test]
fn h7_a_client_that_asks_before_it_sends_is_told_to_only_where_its_body_is_wanted() {
    let (server, ledger) = server();
    let expecting = |length: usize, body: &str| {
        server.raw(&format!("{HEAD}{CLOSE}Expect: 100-continue\r\nContent-Length: {length}\r\n\r\n{body}"))
    };
    let refused = expecting(1001, "");
    assert!(refused.starts_with("HTTP/1.1 413") && refused.contains("#too-large"), "{refused}");
    assert_eq!(records(&ledger), 0);
    let taken = expecting(1, "a");
    assert!(taken.starts_with("HTTP/1.1 100") && taken.ends_with("run 1 of a"), "{taken}");
    let malformed = server.raw("POST /x HTTP/1.1\r\nHost: x\r\nIdempotency-Key: \"\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n");
    assert!(malformed.starts_with("HTTP/1.1 400"), "{malformed}");
}

#[test]
fn h1_a_key_in_a_folded_line_or_behind_a_huge_head_reaches_nothing() {
    let (server, ledger) = server();
    let folded =
        "POST /x HTTP/1.1\r\nHost: x\r\nIdempotency-Key:\r\n \"k\"\r\nConnection: close\r\nContent-Length: 1\r\n\r\na";
    let huge = format!("{HEAD}{CLOSE}X: {}\r\nContent-Length: 1\r\n\r\na", "x".repeat(1 << 20));
    let long = format!(
        "POST /x HTTP/1.1\r\nHost: x\r\nIdempotency-Key: {}\r\n{CLOSE}Content-Length: 1\r\n\r\na",
        "k".repeat(60_000)
    );
    for (request, statuses) in [(folded, ["400"; 2]), (&huge, ["400", "431"]), (&long, ["400", "431"])] {
        let answer = server.raw(request);
        assert!(statuses.iter().any(|status| answer.get(9..12) == Some(status)), "{answer}");
        assert_eq!(records(&ledger), 0);
    }
}

#[test]
fn h9_h7_a_body_that_breaks_off_or_is_no_body_begins_nothing() {
    let (server, ledger) = server();
    let framings = [
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
        "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "Content-Length: 5\r\n\r\nhel",
    ];
    for framing in framings {
        let mut connection = std::net::TcpStream::connect(("127.0.0.1", server.port)).expect("the server listens");
        let request = format!("{HEAD}{CLOSE}{framing}");
        std::io::Write::write_all(&mut connection, request.as_bytes()).expect("it is sent");
        connection.shutdown(std::net::Shutdown::Write).expect("nothing follows");
        let mut answer = Vec::new();
        let _ = std::io::Read::read_to_end(&mut connection, &mut answer);
        assert!(!String::from_utf8_lossy(&answer).contains("run "), "{framing:?}");
        assert_eq!(records(&ledger), 0, "{framing:?}");
    }
}

#[test]
fn h11_a_body_over_the_limit_that_came_at_once_is_told_with_its_length_and_hash() {
    let ledger = Ledger::in_memory().expect("a ledger");
    let route = Route::required(Effect::Repeatable).max_body_bytes(10);
    let layer = IdempotencyLayer::new(ledger, route, one_user);
    let server = Server::of(Router::new().route("/x", post(|| async { "hello world" }).layer(layer)));
    assert_eq!(server.post("/x", "k"), (200, "hello world".to_owned()));
    let (status, problem) = server.post("/x", "k");
    // printf 'hello world' | sha256sum
    let sha256 = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9";
    assert_eq!(status, 200);
    assert!(problem.contains("#body-omitted") && problem.contains("\"length\":11"), "{problem}");
    assert!(problem.contains(sha256), "{problem}");
}

/// A response with trailers.
async fn with_trailers() -> Response {
    let trailers =
        http::HeaderMap::from_iter([(http::HeaderName::from_static("x-t"), http::HeaderValue::from_static("1"))]);
    let body = Full::from("told").with_trailers(async { Some(Ok(trailers)) });
    Response::builder().header("Trailer", "X-T").body(Body::new(body)).expect("a response")
}

#[test]
fn h5_i2_trailers_are_told_neither_first_nor_again() {
    let layer =
        IdempotencyLayer::new(Ledger::in_memory().expect("a ledger"), Route::required(Effect::Repeatable), one_user);
    let server = Server::of(Router::new().route("/x", post(with_trailers).layer(layer)));
    for _ in 0..2 {
        let answer = server.raw(&format!("{HEAD}{CLOSE}TE: trailers\r\nContent-Length: 0\r\n\r\n"));
        assert!(answer.ends_with("told") && !answer.to_lowercase().contains("x-t: 1"), "{answer}");
    }
}
