//! A layer around a route of axum: a request that comes twice charges once, and both are told the same answer.

use axum::extract::{Extension, Request};
use axum::http::{StatusCode, request::Parts};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Router, routing::post};
use keyledger::{Ledger, Operation, Scope};
use keyledger_http::Route;
use keyledger_http::tower::{IdempotencyLayer, RequestClaim};

static CHARGE: Operation = Operation::repeatable("charge");

#[derive(Clone)]
struct User(&'static str);

/// Comes before the layer, which answers retries without asking anybody else.
async fn authenticate(mut request: Request, next: Next) -> Response {
    let credential = request.headers().get("Authorization");
    if credential.is_none_or(|credential| credential != "Bearer ada-credential") {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    request.extensions_mut().insert(User("ada"));
    next.run(request).await
}

/// Whose key it is: another user's equal key is another key.
fn scope(request: &Parts) -> Option<Scope> {
    Scope::new(request.extensions.get::<User>()?.0).ok()
}

/// Knows nothing of retries, but that the bank is given the same key on each of them.
async fn charge(Extension(claim): Extension<RequestClaim>, cents: String) -> (StatusCode, String) {
    println!("the handler runs: the bank is asked for {cents} cents");
    (StatusCode::CREATED, format!("charged {cents} cents under {}", claim.derive_key("bank")))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let ledger = Ledger::open(folder.path().join("payments.kl"))?;
    let once = IdempotencyLayer::new(ledger.clone(), Route::required(&CHARGE), scope);
    let app = Router::new().route("/charges", post(charge).layer(once)).layer(middleware::from_fn(authenticate));

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/charges", listener.local_addr()?);
    tokio::spawn(async { axum::serve(listener, app).await });
    tokio::task::spawn_blocking(move || ask(&url)).await??;
    Ok(ledger.close()?)
}

fn ask(url: &str) -> anyhow::Result<()> {
    let agent = ureq::Agent::config_builder().http_status_as_error(false).build().new_agent();
    let send = |key: &str, cents: &str| -> anyhow::Result<(u16, String)> {
        let request = agent.post(url).header("Authorization", "Bearer ada-credential").header("Idempotency-Key", key);
        let mut answer = request.send(cents)?;
        Ok((answer.status().as_u16(), answer.body_mut().read_to_string()?))
    };
    let first = send("\"order-1034\"", "1999")?;
    assert_eq!(first.0, 201);
    assert_eq!(send("\"order-1034\"", "1999")?, first);
    println!("the retry ran nothing, and was told the same");
    assert_eq!(send("\"order-1034\"", "2999")?.0, 422);
    println!("another amount under the same key was refused");
    assert_eq!(send("\"order-1035\"", "1999")?.0, 201);
    println!("another key is another charge");
    Ok(())
}
