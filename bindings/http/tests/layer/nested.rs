//! What stands around the layer: nested routers, and middleware that reads what is not for it.

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Request};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::post;
use http_body_util::Limited;
use keyledger::{Effect, Ledger};
use keyledger_http::Route;
use keyledger_http::tower::{IdempotencyLayer, RequestClaim};

use crate::stage::{Server, one_user};

async fn operation(Extension(claim): Extension<RequestClaim>) -> String {
    claim.key_id().operation().as_str().to_owned()
}

#[test]
fn h3_a_nested_route_is_named_by_the_path_as_it_was_received() {
    let layer =
        IdempotencyLayer::new(Ledger::in_memory().expect("a ledger"), Route::required(Effect::Repeatable), one_user);
    let inner = Router::new().route("/charges", post(operation).layer(layer));
    let server = Server::of(Router::new().nest("/v1", inner.clone()).nest("/v2", inner));
    assert_eq!(server.post("/v1/charges", "k"), (200, "POST /v1/charges".to_owned()));
    assert_eq!(server.post("/v2/charges", "k"), (200, "POST /v2/charges".to_owned()));
    assert_eq!(server.post("/v1/charges", "k"), (200, "POST /v1/charges".to_owned()));
}

#[test]
fn s9_a_layer_within_a_layer_lets_pass_what_the_outer_one_guards() {
    let ledger = Ledger::in_memory().expect("a ledger");
    let layer = || IdempotencyLayer::new(ledger.clone(), Route::required(Effect::Repeatable), one_user);
    let server = Server::of(Router::new().route("/charges", post(operation).layer(layer())).layer(layer()));
    for _ in 0..2 {
        assert_eq!(server.post("/charges", "k"), (200, "POST /charges".to_owned()));
    }
    assert_eq!(ledger.list(&keyledger::Filter::all()).expect("a list").records.len(), 1);
}

/// Middleware that reads the body, and passes on none.
async fn greedy(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    axum::body::to_bytes(body, usize::MAX).await.expect("a body");
    next.run(Request::from_parts(parts, Body::empty())).await
}

#[test]
fn h17_a_body_that_was_read_before_the_layer_is_an_error_that_says_how_to_order_things() {
    let ledger = Ledger::in_memory().expect("a ledger");
    let layer = IdempotencyLayer::new(ledger.clone(), Route::required(Effect::Repeatable), one_user);
    let server = Server::of(Router::new().route("/charges", post(operation).layer(layer)).layer(from_fn(greedy)));
    let (status, problem) = server.post("/charges", "k");
    assert_eq!(status, 500, "{problem}");
    assert!(problem.contains("#body-consumed") && problem.contains("put the idempotency layer before"), "{problem}");
    let chunked = "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n0\r\n\r\n";
    let answer = server.raw(&format!("POST /charges HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\n{chunked}"));
    assert!(answer.starts_with("HTTP/1.1 500") && answer.contains("#body-consumed"), "{answer}");
    assert!(ledger.list(&keyledger::Filter::all()).expect("a list").records.is_empty());
}

/// A limit on bodies, as tower-http's `RequestBodyLimitLayer` sets it: the error comes while the body is read.
async fn at_most_ten_bytes(request: Request, next: Next) -> Response {
    next.run(request.map(|body| Body::new(Limited::new(body, 10)))).await
}

#[test]
fn h4_a_body_past_a_limit_around_the_layer_is_too_large_and_not_unreadable() {
    let ledger = Ledger::in_memory().expect("a ledger");
    let layer = IdempotencyLayer::new(ledger.clone(), Route::required(Effect::Repeatable), one_user);
    let router = Router::new().route("/x", post(operation).layer(layer)).layer(from_fn(at_most_ten_bytes));
    let server = Server::of(router);
    let chunked = |body: &str| {
        let head = "POST /x HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\nConnection: close\r\n";
        server.raw(&format!("{head}Transfer-Encoding: chunked\r\n\r\n{body}"))
    };
    let answer = chunked("8\r\n12345678\r\nc\r\n123456789012\r\n0\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("#too-large"), "{answer}");
    assert!(ledger.list(&keyledger::Filter::all()).expect("a list").records.is_empty());
    assert!(chunked("a\r\n1234567890\r\n0\r\n\r\n").starts_with("HTTP/1.1 200"));
}
