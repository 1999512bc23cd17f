//! Queued work as a future: written out, because one of the compiler's would be compiled with all around it for each kind of answer.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::engine::{Engine, EngineError, Ticket};
use crate::error::{Error, Result};

/// What work in the queue answers, or why it was refused at the door.
pub(crate) struct Queued<T> {
    engine: Arc<Engine>,
    /// None when it has been told.
    ticket: Option<Result<Ticket<T, EngineError>>>,
}

impl<T> Queued<T> {
    pub(crate) fn new(engine: &Arc<Engine>, ticket: Result<Ticket<T, EngineError>>) -> Self {
        Self { engine: engine.clone(), ticket: Some(ticket) }
    }
}

impl<T> Future for Queued<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let ticket = match self.ticket.take().expect("a future is polled until it has ended") {
            Ok(ticket) => ticket,
            Err(refused) => return Poll::Ready(Err(refused)),
        };
        match ticket.poll(&self.engine, context) {
            Poll::Pending => {
                self.ticket = Some(Ok(ticket));
                Poll::Pending
            }
            Poll::Ready(told) => Poll::Ready(told.and_then(|told| told).map_err(Error::from)),
        }
    }
}
