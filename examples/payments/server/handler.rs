//! The handler of all three routes. The layer around it sees to it that it runs once for each key.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::{Extension, Json};
use keyledger_http::tower::RequestClaim;
use serde_json::Value;

use crate::door::{User, origin};
use crate::orders::Order;
use crate::shop::Shop;

/// Fulfils an order, on a thread of its own: it waits for the bank, and for disks.
///
/// A failure is a 503: the layer releases the claim then, or parks it where nobody can tell what has happened.
pub(crate) async fn fulfil<T: Order>(
    State(shop): State<Arc<Shop>>,
    Extension(user): Extension<User>,
    claim: Option<Extension<RequestClaim>>,
    headers: HeaderMap,
    Json(order): Json<T>,
) -> Result<Json<Value>, StatusCode> {
    let origin = origin(user, &headers).ok_or(StatusCode::BAD_REQUEST)?;
    let work = tokio::task::spawn_blocking(move || {
        shop.note_run(T::operation().name(), &origin)?;
        match claim {
            Some(Extension(claim)) => order.fulfil(&shop, &origin, &claim),
            None => order.fulfil_without_claim(&shop, &origin),
        }
    });
    match work.await {
        Ok(Ok(outcome)) => Ok(Json(outcome)),
        Ok(Err(_)) | Err(_) => Err(StatusCode::SERVICE_UNAVAILABLE),
    }
}
