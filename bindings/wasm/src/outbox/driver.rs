//! Who keeps an outbox going, on futures.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use js_sys::{Function, Promise, Reflect};
use keyledger::{
    AsyncDriver, AsyncTransport, Delivery, DeliveryOutcome, DrainProgress, DriverError, Scope, Sending, Stop,
};
use send_wrapper::SendWrapper;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::JsOutbox;
use super::delivery::{JsDelivery, Slot};
use super::looking::counts;
use super::outcome::JsReport;
use crate::argument::{count, scope, span};
use crate::error::{Told, thrown};
use crate::object::{list, number, object};
use crate::promise::promise;

#[wasm_bindgen]
extern "C" {
    /// Who sends. `send` tells the delivery its outcome before its promise is kept.
    #[wasm_bindgen(typescript_type = "NativeTransport")]
    pub type JsTransport;

    #[wasm_bindgen(method, catch)]
    fn send(this: &JsTransport, delivery: JsDelivery) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch, js_name = hasOtherCredentials)]
    fn has_other_credentials(this: &JsTransport, scope: &str) -> Result<bool, JsValue>;
}

struct Sender(SendWrapper<JsTransport>);

impl AsyncTransport for Sender {
    fn send<'a>(&'a self, delivery: &'a Delivery) -> Sending<'a> {
        Box::pin(OneThread(SendWrapper::new(Box::pin(async move {
            let told = Slot::default();
            if let Ok(sent) = self.0.send(JsDelivery::lent(delivery, &told)) {
                let _ = JsFuture::from(sent).await;
            }
            let outcome = told.take();
            outcome.unwrap_or_else(|| DeliveryOutcome::retry("the transport told no outcome"))
        }))))
    }

    fn has_other_credentials(&self, scope: &Scope) -> bool {
        self.0.has_other_credentials(scope.as_str()).unwrap_or(false)
    }
}

/// A future of JavaScript's: it never leaves the one thread that there is.
struct OneThread<F>(SendWrapper<Pin<Box<F>>>);

impl<F: Future> Future for OneThread<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.0.as_mut().poll(context)
    }
}

/// Sends what is due in one scope, over a transport. It works once: to its end, or until it is stopped.
#[wasm_bindgen(js_name = NativeDriver)]
pub struct JsDriver(AssertUnwindSafe<(AsyncDriver, Stop)>);

#[wasm_bindgen(js_class = NativeDriver)]
impl JsDriver {
    /// `on_error` is called when a call of the outbox fails.
    #[wasm_bindgen(constructor)]
    pub fn new(
        outbox: &JsOutbox,
        scope_text: &str,
        transport: JsTransport,
        in_flight: Option<f64>,
        on_error: Option<Function>,
    ) -> Told<JsDriver> {
        let (stop, sender) = (Stop::new(), Sender(SendWrapper::new(transport)));
        let mut driver = AsyncDriver::new(outbox.outbox(), &scope(scope_text)?, sender).stop_on(&stop);
        if let Some(number) = in_flight {
            driver = driver.in_flight(count("in flight", number)?);
        }
        if let Some(call) = on_error.map(SendWrapper::new) {
            driver = driver.on_error(move |error| {
                let _ = call.call1(&JsValue::NULL, &thrown(error));
            });
        }
        Ok(JsDriver(AssertUnwindSafe((driver, stop))))
    }

    /// Leases nothing more, and finishes what is in flight.
    pub fn stop(&self) {
        self.0.1.stop();
    }

    /// Works until it is stopped.
    pub fn run(&self) -> Promise {
        let driver = self.0.0.0.clone();
        promise(async move { driver.run(std::future::pending()).await.map(|()| JsValue::UNDEFINED).map_err(ended) })
    }

    /// Sends until nothing is due within that time; `progress` is called as it goes.
    pub fn drain(&self, until_ms: f64, progress: Function) -> Told<Promise> {
        let (driver, until) = (self.0.0.0.clone(), span(until_ms)?);
        Ok(promise(async move {
            let tell = |DrainProgress { sent, settled, remaining }: &DrainProgress| {
                let told = [("sent", number(*sent)), ("settled", number(*settled)), ("remaining", number(*remaining))];
                let _ = progress.call1(&JsValue::NULL, &object(&told));
            };
            let drained = driver.drain(until, tell).await.map_err(ended)?;
            Ok(object(&[
                ("sent", number(drained.sent)),
                ("settled", number(drained.settled)),
                ("wasStopped", drained.was_stopped.into()),
                ("unsettled", number(drained.unsettled())),
                ("counts", counts(|state| drained.count(state))),
            ]))
        }))
    }
}

/// The error of a driver that could not go on; the outcomes that it could not store are its `reports`.
fn ended(error: DriverError) -> JsValue {
    let raised = thrown(&error.source);
    let reports = list(error.reports, |report| JsReport(report).into());
    let _ = Reflect::set(&raised, &"reports".into(), &reports);
    raised
}
