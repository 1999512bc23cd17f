//! One leased try at sending an entry.

use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use keyledger::{Delivery, DeliveryLease, DeliveryOutcome, Error, Outbox, Report};
use wasm_bindgen::prelude::*;

use super::entry::view;
use super::outcome::{JsOutcome, JsReport};
use crate::error::{Told, thrown};
use crate::object::{bytes, object};

/// A delivery, and what a transport tells its driver of it.
#[wasm_bindgen(js_name = NativeDelivery)]
pub struct JsDelivery(AssertUnwindSafe<Facts>);

struct Facts {
    look: JsValue,
    lease: DeliveryLease,
    /// None where it is a driver's, while a call has it, and after it was settled.
    own: Rc<RefCell<Option<Delivery>>>,
    told: Slot,
}

/// Where a transport leaves an outcome for its driver.
pub(super) type Slot = Rc<RefCell<Option<DeliveryOutcome>>>;

impl JsDelivery {
    fn new(delivery: &Delivery, told: Slot) -> Self {
        let look = object(&[
            ("entry", view(delivery.entry())),
            ("request", bytes(delivery.request())),
            ("mediaType", delivery.media_type().into()),
            ("isInDoubt", delivery.is_in_doubt().into()),
        ]);
        let lease = delivery.lease();
        JsDelivery(AssertUnwindSafe(Facts { look, lease, own: Rc::default(), told }))
    }

    /// One that is JavaScript's to settle.
    pub(super) fn own(delivery: Delivery) -> Self {
        let made = Self::new(&delivery, Slot::default());
        made.0.own.replace(Some(delivery));
        made
    }

    /// One that its driver settles, by what is told.
    pub(super) fn lent(delivery: &Delivery, told: &Slot) -> Self {
        Self::new(delivery, told.clone())
    }

    fn take(&self) -> Told<Delivery> {
        self.0.own.borrow_mut().take().ok_or_else(|| thrown(&Error::ClaimSettled))
    }

    /// Queued when this returns: whatever becomes of the object, the delivery is not dropped.
    pub(super) fn settle(
        &self,
        outbox: &Outbox,
        outcome: &DeliveryOutcome,
    ) -> Told<impl Future<Output = Told<JsValue>> + use<>> {
        let delivery = self.take()?;
        let report = Report { id: delivery.id(), fence: delivery.fence(), outcome: outcome.clone() };
        let (settled, own) = (outbox.settle_async(&report), self.0.own.clone());
        Ok(async move {
            match settled.await {
                Ok(()) => {
                    let _ = delivery.report(report.outcome);
                    Ok(JsValue::UNDEFINED)
                }
                Err(error) => {
                    own.replace(Some(delivery));
                    Err(thrown(&error))
                }
            }
        })
    }
}

#[wasm_bindgen(js_class = NativeDelivery)]
impl JsDelivery {
    /// All that does not change: entry, request, media type, whether an earlier try may have taken effect.
    pub fn look(&self) -> JsValue {
        self.0.look.clone()
    }

    #[wasm_bindgen(js_name = leaseLeftMs)]
    pub fn lease_left_ms(&self) -> f64 {
        self.0.lease.left().as_secs_f64() * 1000.0
    }

    /// Whether it is used up, or a driver's.
    #[wasm_bindgen(js_name = isSettled)]
    pub fn is_settled(&self) -> bool {
        self.0.own.borrow().is_none()
    }

    /// For a transport: what its driver is to settle it by.
    pub fn tell(&self, outcome: &JsOutcome) {
        self.0.told.replace(Some(outcome.0.clone()));
    }

    /// What came of it, as a value. The delivery is over then.
    pub fn report(&self, outcome: &JsOutcome) -> Told<JsReport> {
        Ok(JsReport(self.take()?.report(outcome.0.clone())))
    }

    /// Lets it go: a try whose outcome is unknown, due after its backoff (O6).
    #[wasm_bindgen(js_name = letGo)]
    pub fn let_go(&self) {
        self.0.own.take();
    }
}
