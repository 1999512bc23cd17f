//! Services that fail without a response, as plain ones may: what was stored is the answer all the same (H14, H15).

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use keyledger::{Effect, Error, Filter, Ledger};
use keyledger_http::tower::{IdempotencyLayer, RequestClaim};
use keyledger_http::{Answer, Route};
use tower::{Layer, ServiceExt};

use crate::stage::one_user;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Completing,
    Losing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Broken;

async fn fail<B>(request: Request<B>, before: Before, ledger: Ledger) -> Result<Response<Full<Bytes>>, Broken> {
    let claim = request.extensions().get::<RequestClaim>().expect("the claim");
    match before {
        Before::Nothing => {}
        Before::Completing => {
            let mut claim = claim.lock().await.expect("the claim");
            let stored = Answer::of_status(201).with_body("mine").to_stored();
            claim.complete_with(|_| Ok::<_, Error>(stored)).expect("it is completed");
        }
        Before::Losing => {
            ledger.forget(claim.key_id(), true).expect("it is forgotten");
        }
    }
    Err(Broken)
}

async fn ask(before: Before) -> (Result<(u16, String), Broken>, Ledger) {
    let ledger = Ledger::in_memory().expect("a ledger");
    let layer = IdempotencyLayer::new(ledger.clone(), Route::required(Effect::AtMostOnce), one_user);
    let inner = ledger.clone();
    let service = layer.layer(tower::service_fn(move |request| fail(request, before, inner.clone())));
    let request = Request::post("/x").header("Idempotency-Key", "k").body(Full::from("a")).expect("a request");
    let told = match service.oneshot(request).await {
        Ok(answer) => Ok((answer.status().as_u16(), text(answer.into_body()).await)),
        Err(error) => Err(error),
    };
    (told, ledger)
}

async fn text<B: Body<Error: std::fmt::Debug>>(body: B) -> String {
    String::from_utf8_lossy(&body.collect().await.expect("a body").to_bytes()).into_owned()
}

#[tokio::test]
async fn s8_an_error_goes_on_to_whoever_maps_it_and_is_settled_by_the_effect() {
    let (told, ledger) = ask(Before::Nothing).await;
    assert_eq!(told, Err(Broken));
    let record = ledger.list(&Filter::all()).expect("a list").records.remove(0);
    assert_eq!(record.state().as_str(), "parked");
}

#[tokio::test]
async fn h14_what_was_stored_before_an_error_is_told() {
    assert_eq!(ask(Before::Completing).await.0, Ok((201, "mine".to_owned())));
}

#[tokio::test]
async fn h15_who_has_lost_the_claim_is_told_so_and_not_the_error() {
    let (told, _) = ask(Before::Losing).await;
    let (status, problem) = told.expect("an answer");
    assert!(status == 409 && problem.contains("#in-progress"), "{status} {problem}");
}
