//! The guard: asks the ledger before anything happens, and turns its decision into an answer.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use keyledger::Decision;

use crate::answer::Answer;
use crate::door::Visit;
use crate::orders::Order;
use crate::shop::Shop;

/// Answers a request for a `T`.
///
/// The work is done on a thread of its own: a client that goes away stops neither the handler nor the settling (S3).
pub(crate) async fn answer<T: Order>(State(shop): State<Arc<Shop>>, headers: HeaderMap, body: Bytes) -> Answer {
    let visit = match Visit::<T>::read(&headers, &body) {
        Ok(visit) => visit,
        Err(turned_away) => return turned_away,
    };
    let work =
        tokio::task::spawn_blocking(move || if shop.claims { guarded(&shop, &visit) } else { bare(&shop, &visit) });
    match work.await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => Answer::not_available(&error),
        Err(panic) => Answer::not_available(&panic.into()),
    }
}

fn guarded<T: Order>(shop: &Shop, visit: &Visit<T>) -> anyhow::Result<Answer> {
    let origin = visit.origin();
    match shop.ledger.begin(T::operation(), &visit.scope, &visit.key, visit.fingerprint)? {
        Decision::Acquired(claim) => {
            shop.note_run(T::operation().name(), &origin)?;
            Ok(Answer::fresh(&visit.order.fulfil(shop, &origin, claim)?))
        }
        Decision::Replay(replay) => Ok(Answer::replay(&replay)),
        Decision::InProgress(running) => Ok(Answer::in_progress(&running)),
        Decision::Mismatch => Ok(Answer::mismatch()),
        Decision::Parked(parked) => Ok(Answer::parked(&parked)),
        Decision::Gone => Ok(Answer::gone()),
    }
}

/// What a server without a ledger does: it does as it is told, as often as it is told.
fn bare<T: Order>(shop: &Shop, visit: &Visit<T>) -> anyhow::Result<Answer> {
    let origin = visit.origin();
    shop.note_run(T::operation().name(), &origin)?;
    Ok(Answer::fresh(&visit.order.fulfil_without_claim(shop, &origin)?))
}
