//! The handler's run, in a task of its own (S3): a client that goes away stops neither it nor the storing (H9).

use std::pin::{Pin, pin};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::{Request, Response, header, response::Parts};
use http_body::Body;
use keyledger::{Begin, Claim, Ledger, Settlement};
use tokio::sync::oneshot;
use tower_service::Service;

use super::body::{BoxError, RequestBody, ResponseBody, flow, next, whole};
use super::claim::RequestClaim;
use super::heart::Heart;
use super::layer::{Guard, Running};
use super::service::{add, response};
use crate::answers::{Conclusion, OWN_FIELDS, Settled};
use crate::keep::fitting;
use crate::message::Answer;
use crate::route::Route;

/// Everything that a granted request needs until it is answered.
pub(super) struct Run {
    ledger: Ledger,
    route: Arc<Route>,
    begin: Begin,
    claim: RequestClaim,
    /// Whether the response is to end with its head.
    is_head: bool,
    _heart: Heart,
    _running: Running,
}

type Tell<R, E> = oneshot::Sender<Result<Response<ResponseBody<R>>, E>>;

/// How reading a response ended.
enum Held {
    Whole(Bytes),
    PastLimit(BytesMut),
    Broken,
}

impl Run {
    pub(super) fn new(guard: &Guard, route: Arc<Route>, begin: Begin, claim: Claim, is_head: bool) -> Self {
        let ledger = guard.ledger.clone();
        let claim = RequestClaim::new(claim);
        let heart = Heart::start(ledger.clone(), claim.clone(), route.lease_time(), route.heartbeat_interval());
        Self { ledger, route, begin, claim, is_head, _heart: heart, _running: guard.running() }
    }

    /// Starts the task; what is returned only listens to it.
    pub(super) fn start<S, B, R>(
        self,
        mut inner: S,
        mut request: Request<RequestBody<B>>,
    ) -> oneshot::Receiver<Result<Response<ResponseBody<R>>, S::Error>>
    where
        S: Service<Request<RequestBody<B>>, Response = Response<R>> + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Send + 'static,
        B: Send + 'static,
        R: Body<Data = Bytes> + Send + 'static,
        R::Error: Into<BoxError>,
    {
        let (tell, told) = oneshot::channel();
        request.extensions_mut().insert(self.claim.clone());
        // A task within the task: its panic is an error raised by the handler.
        let handler = tokio::spawn(async move { inner.call(request).await });
        tokio::spawn(async move {
            match handler.await {
                Ok(Ok(response)) => self.answer(response, tell).await,
                Ok(Err(error)) => {
                    // What was stored, or who has won, is the answer all the same (H14, H15).
                    let settled = self.settle_failure().await;
                    let instead = self.route.conclude_error(&settled, self.ledger.ask(&self.begin));
                    let _ = tell.send(instead.map(response).ok_or(error));
                }
                Err(_) => drop(tell.send(Ok(self.failed().await))),
            }
        });
        told
    }

    async fn answer<R, E>(self, handled: Response<R>, tell: Tell<R, E>)
    where
        R: Body<Data = Bytes>,
        R::Error: Into<BoxError>,
    {
        let (head, body) = handled.into_parts();
        let mut body = pin!(body);
        // What the handler has stored is the answer, and has an end (H14).
        if self.route.is_stream() && !self.claim.is_settled().await {
            return self.stream(head, body, tell).await;
        }
        match self.hold(body.as_mut()).await {
            Held::Broken => drop(tell.send(Ok(self.failed().await))),
            Held::Whole(bytes) => {
                let settlement = self.route.settlement(self.claim.effect(), &captured(&head, &bytes));
                let conclusion = self.settle(&head, settlement).await;
                let _ = tell.send(Ok(match conclusion {
                    Conclusion::Own(fields) => with(fields, Response::from_parts(self.framed(head), whole(bytes))),
                    Conclusion::Instead(answer) => response(answer),
                }));
            }
            Held::PastLimit(beginning) => {
                let settlement = self.route.settlement_past_limit(self.claim.effect(), &captured(&head, b""));
                match self.settle(&head, settlement).await {
                    Conclusion::Own(fields) => {
                        let (pour, flowing) = flow();
                        let _ = tell.send(Ok(with(fields, Response::from_parts(head, flowing))));
                        pour.pour(Ok(beginning.freeze())).await;
                        pour.pour_all(body).await;
                    }
                    Conclusion::Instead(answer) => drop(tell.send(Ok(response(answer)))),
                }
            }
        }
    }

    /// The head of a body that is there: whoever sends it knows its length better than a handler may have said (H5).
    fn framed(&self, mut head: Parts) -> Parts {
        if !self.is_head {
            head.headers.remove(header::CONTENT_LENGTH);
        }
        head
    }

    /// H8: the response leaves as it comes, and is settled at its end.
    async fn stream<R, E>(self, head: Parts, mut body: Pin<&mut R>, tell: Tell<R, E>)
    where
        R: Body<Data = Bytes>,
        R::Error: Into<BoxError>,
    {
        let (pour, flowing) = flow();
        let mut copy = Some(BytesMut::new());
        let answer = captured(&head, b"");
        let _ = tell.send(Ok(with(Route::exposed(), Response::from_parts(head, flowing))));
        while let Some(data) = next(body.as_mut()).await {
            let Ok(data) = data else {
                self.settle_failure().await;
                return pour.pour(data).await;
            };
            copy = copy.filter(|copy| copy.len() + data.len() <= self.route.body_bytes_max());
            if let Some(copy) = &mut copy {
                copy.extend_from_slice(&data);
            }
            pour.pour(Ok(data)).await;
        }
        let settlement = match copy {
            Some(copy) => self.route.settlement(self.claim.effect(), &answer.with_body(copy)),
            None => self.route.settlement_past_limit(self.claim.effect(), &answer),
        };
        // The response has left: nobody is there to be told how this ends.
        self.store(settlement).await;
    }

    /// Holds a body back until it ends or passes the limit.
    async fn hold<R>(&self, mut body: Pin<&mut R>) -> Held
    where
        R: Body<Data = Bytes>,
        R::Error: Into<BoxError>,
    {
        let mut held = BytesMut::new();
        while let Some(data) = next(body.as_mut()).await {
            let Ok(data) = data else { return Held::Broken };
            held.extend_from_slice(&data);
            // One that has ended with this is known whole: its length and hash can be told (H11).
            if held.len() > self.route.body_bytes_max() && !body.is_end_stream() {
                return Held::PastLimit(held);
            }
        }
        Held::Whole(held.freeze())
    }

    async fn settle(&self, head: &Parts, settlement: Settlement) -> Conclusion {
        let settled = self.store(settlement).await;
        self.route.conclude(head.status.as_u16(), &settled, self.ledger.ask(&self.begin))
    }

    async fn settle_failure(&self) -> Settled {
        self.store(self.route.settlement_of_failure(self.claim.effect())).await
    }

    async fn store(&self, settlement: Settlement) -> Settled {
        self.claim.settle(fitting(settlement, self.ledger.max_response_bytes())).await
    }

    async fn failed<R>(&self) -> Response<ResponseBody<R>> {
        let settled = self.settle_failure().await;
        response(self.route.conclude_failure(&settled, self.ledger.ask(&self.begin)))
    }
}

fn captured(head: &Parts, body: &[u8]) -> Answer {
    let fields = head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()));
    Answer { status: head.status.as_u16(), fields: fields.collect(), body: body.to_vec() }
}

fn with<R>(fields: crate::message::Fields, mut response: Response<R>) -> Response<R> {
    for name in OWN_FIELDS {
        response.headers_mut().remove(name);
    }
    add(&mut response, fields);
    response
}
