//! The service: from a request to a decision, and to whoever runs the handler.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::{Either, Full};
use keyledger::{HttpRequest, Key, Operation, Scope};
use tower_service::Service;

use super::body::{BoxError, Read, RequestBody, ResponseBody, read, whole};
use super::claim::RequestClaim;
use super::layer::Guard;
use super::run::Run;
use crate::answers::Ruling;
use crate::message::{Answer, Fields};
use crate::route::{Passage, Route};

const KEY_FIELD: HeaderName = HeaderName::from_static("idempotency-key");

/// What [`IdempotencyLayer`](super::IdempotencyLayer) makes of a service.
#[derive(Clone)]
pub struct Idempotency<S> {
    pub(super) inner: S,
    pub(super) guard: Arc<Guard>,
}

type Answered<R, E> = Pin<Box<dyn Future<Output = Result<Response<ResponseBody<R>>, E>> + Send>>;

impl<S, B, R> Service<Request<B>> for Idempotency<S>
where
    S: Service<Request<RequestBody<B>>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
    R: Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Response = Response<ResponseBody<R>>;
    type Error = S::Error;
    type Future = Answered<R, S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The one that was polled ready is the one to call.
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        let (parts, body) = request.into_parts();
        let route = self.guard.route_of(&parts);
        let passage = route.as_ref().map_or(Passage::Inert, |route| {
            route.receive(parts.method.as_str(), parts.headers.get_all(KEY_FIELD).iter().map(HeaderValue::as_bytes))
        });
        match (passage, route) {
            (Passage::Keyed(key), Some(route)) => {
                let asked = Asked { guard: self.guard.clone(), route, key };
                Box::pin(asked.answer(inner, parts, body))
            }
            (Passage::Refused(answer), _) => Box::pin(std::future::ready(Ok(response(answer)))),
            (Passage::Inert | Passage::Keyed(_), _) => {
                let passed = inner.call(Request::from_parts(parts, Either::Left(body)));
                Box::pin(async { Ok(passed.await?.map(Either::Left)) })
            }
        }
    }
}

/// A request with a key, on a route that takes one.
struct Asked {
    guard: Arc<Guard>,
    route: Arc<Route>,
    key: Key,
}

impl Asked {
    async fn answer<S, B, R>(self, mut inner: S, parts: Parts, body: B) -> Result<Response<ResponseBody<R>>, S::Error>
    where
        S: Service<Request<RequestBody<B>>, Response = Response<R>> + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
        R: Body<Data = Bytes> + Send + 'static,
        R::Error: Into<BoxError>,
    {
        let Self { guard, route, key } = self;
        let Some(scope) = guard.scope_of(&parts) else { return Ok(response(route.no_principal())) };
        if was_emptied(&parts, &body) {
            return Ok(response(route.body_consumed()));
        }
        let body = match read(body, route.request_bytes_max()).await {
            Read::Whole(body) => body,
            Read::TooLarge => return Ok(response(route.too_large())),
            Read::Broken => return Ok(response(route.unreadable())),
        };
        let announced = parts.headers.get(header::CONTENT_LENGTH).map(HeaderValue::as_bytes);
        if !Route::is_whole(announced, body.len()) {
            return Ok(response(route.body_consumed()));
        }
        if is_guarded(&parts, &scope, &key, || route.operation_of(&as_asked(&parts, &body))) {
            let passed = inner.call(Request::from_parts(parts, Either::Right(Full::new(body))));
            return Ok(passed.await?.map(Either::Left));
        }
        let begin = route.begin(&scope, &key, &as_asked(&parts, &body));
        // From the grant to the handler's own task nothing waits: a request that is dropped here has run nothing.
        match route.rule(guard.ledger.begin_with_async(begin.clone()).await) {
            Ruling::Answer(answer) => Ok(response(answer)),
            Ruling::Run(claim) => {
                let run = Run::new(&guard, route.clone(), begin, claim, parts.method == Method::HEAD);
                let request = Request::from_parts(parts, Either::Right(Full::new(body)));
                run.start(inner, request).await.unwrap_or_else(|_| Ok(response(route.not_available())))
            }
        }
    }
}

/// Whether a layer around this one holds the claim for the same key id: to ask the ledger once more would be to wait for oneself.
fn is_guarded(parts: &Parts, scope: &Scope, key: &Key, operation: impl FnOnce() -> Operation) -> bool {
    parts.extensions.get::<RequestClaim>().is_some_and(|claim| {
        let id = claim.key_id();
        id.scope() == scope && id.key() == key && id.operation().as_str() == operation().name()
    })
}

/// Whether a body of any length is at its end before anybody here has asked for it: somebody else has (H17).
fn was_emptied<B: Body>(parts: &Parts, body: &B) -> bool {
    parts.headers.contains_key(header::TRANSFER_ENCODING) && body.is_end_stream()
}

fn as_asked<'a>(parts: &'a Parts, body: &'a [u8]) -> HttpRequest<'a> {
    let uri = as_received(parts);
    HttpRequest {
        method: parts.method.as_str().as_bytes(),
        path: uri.path().as_bytes(),
        query: uri.query().unwrap_or_default().as_bytes(),
        content_type: parts.headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes),
        body,
    }
}

/// Inside a nested router axum cuts off the path's beginning; the operation is named by the whole of it (H3).
#[cfg(feature = "axum")]
fn as_received(parts: &Parts) -> &http::Uri {
    parts.extensions.get::<axum::extract::OriginalUri>().map_or(&parts.uri, |original| &original.0)
}

#[cfg(not(feature = "axum"))]
fn as_received(parts: &Parts) -> &http::Uri {
    &parts.uri
}

/// An answer of the layer's own, or a replay.
pub(super) fn response<R>(answer: Answer) -> Response<ResponseBody<R>> {
    let mut response = Response::new(whole(Bytes::from(answer.body)));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    add(&mut response, answer.fields);
    response
}

/// Adds field lines; what no HTTP library would send was not stored either.
pub(super) fn add<R>(response: &mut Response<R>, fields: Fields) {
    for (name, value) in fields {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
}

impl<S> std::fmt::Debug for Idempotency<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Idempotency").finish_non_exhaustive()
    }
}
