//! A tower layer for axum and plain hyper. It needs a tokio runtime with time.
//!
//! Put it on a route, after authentication (H13): the scope comes from a credential that has been verified. In axum that is
//! `post(handler).layer(..)` within a router whose own layer authenticates; for plain hyper see the guide, `docs/http.md`.
//!
//! ```
//! # async fn pay() {}
//! use axum::{Router, routing::post};
//! use keyledger::{Effect, Ledger, Scope};
//! use keyledger_http::{Route, tower::IdempotencyLayer};
//!
//! #[derive(Clone)]
//! struct User(String); // put into the request by the layer that checks credentials
//!
//! # let ledger = Ledger::in_memory().unwrap();
//! let layer = IdempotencyLayer::new(ledger, Route::required(Effect::Repeatable), |request| {
//!     Scope::new(&request.extensions.get::<User>()?.0).ok()
//! });
//! let app: Router = Router::new().route("/charges", post(pay).layer(layer));
//! # drop(app);
//! ```

mod body;
mod claim;
mod heart;
mod layer;
mod run;
mod service;

pub use body::{BoxError, RequestBody, ResponseBody};
pub use claim::{ClaimGuard, RequestClaim};
pub use layer::IdempotencyLayer;
pub use service::Idempotency;
