//! Futures of the core as promises.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::task::Poll;

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use crate::error::Told;

/// A promise of what the core's future tells. A panic in it rejects the promise; the core keeps its own locks from harm.
pub(crate) fn promise(future: impl Future<Output = Told<JsValue>> + 'static) -> Promise {
    boxed(Box::pin(future))
}

/// Compiled once, and not for each kind of future.
fn boxed(future: Pin<Box<dyn Future<Output = Told<JsValue>>>>) -> Promise {
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
