//! Futures of the core as promises.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use crate::error::{Told, failed};

/// A promise of what the core's future tells. A panic in it rejects the promise; the core keeps its own locks from harm.
pub(crate) fn promise(future: impl Future<Output = Told<JsValue>> + 'static) -> Promise {
    boxed(Box::pin(future))
}

/// What a call comes to, as JavaScript is told it.
pub(crate) type Telling = Pin<Box<dyn Future<Output = Told<JsValue>>>>;

/// A call of the core's, and how its answer is told: written out, because one of the compiler's is three times its size.
struct Tell<T> {
    call: Pin<Box<dyn Future<Output = keyledger::Result<T>>>>,
    tell: fn(T) -> JsValue,
}

impl<T> Future for Tell<T> {
    type Output = Told<JsValue>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Told<JsValue>> {
        self.call.as_mut().poll(context).map(|answer| answer.map(self.tell).map_err(failed))
    }
}

/// The call's answer as JavaScript has it.
pub(crate) fn telling<T: 'static>(
    call: impl Future<Output = keyledger::Result<T>> + 'static,
    tell: fn(T) -> JsValue,
) -> Telling {
    Box::pin(Tell { call: Box::pin(call), tell })
}

/// Compiled once, and not for each kind of future.
pub(crate) fn boxed(future: Telling) -> Promise {
    future_to_promise(AssertUnwindSafe(future))
}

/// The same, given up when `until` is settled: its value is then the answer, or its reason the error. What was given up is dropped,
/// and so has granted nothing.
pub(crate) fn promise_until(future: impl Future<Output = Told<JsValue>> + 'static, until: Option<Promise>) -> Promise {
    let Some(until) = until else { return promise(future) };
    promise(async move {
        let (mut future, mut until) = (pin!(future), pin!(JsFuture::from(until)));
        poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(told) => Poll::Ready(told),
            Poll::Pending => until.as_mut().poll(context),
        })
        .await
    })
}
