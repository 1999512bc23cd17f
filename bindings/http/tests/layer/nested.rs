//! Inside nested routers the operation is named by the whole path.

use axum::Router;
use axum::extract::Extension;
use axum::routing::post;
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
