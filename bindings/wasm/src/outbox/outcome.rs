//! What came of a delivery.

use keyledger::{DeliveryOutcome, EntryId, Report};
use wasm_bindgen::prelude::*;

use super::entry_id;
use crate::argument::{fence, response, span};
use crate::error::{Told, invalid_argument};

/// What came of one delivery; it does not change.
#[wasm_bindgen(js_name = NativeOutcome)]
pub struct JsOutcome(pub(super) DeliveryOutcome);

/// The same with whose it is, to be told later, and again after an error.
#[wasm_bindgen(js_name = NativeReport)]
pub struct JsReport(pub(super) Report);

#[wasm_bindgen(js_class = NativeOutcome)]
impl JsOutcome {
    /// `yes` and `no` with a response; the others with an error or a reason.
    #[wasm_bindgen(constructor)]
    pub fn new(kind: &str, text: &str, body: &[u8]) -> Told<JsOutcome> {
        Ok(JsOutcome(match kind {
            "yes" => DeliveryOutcome::yes(response(text, body)),
            "no" => DeliveryOutcome::no(response(text, body)),
            "retry" => DeliveryOutcome::retry(text),
            "dead" => DeliveryOutcome::dead(text),
            "unknown" => DeliveryOutcome::unknown(text),
            "hold_lane" => DeliveryOutcome::hold_lane(text),
            "hold_entry" => DeliveryOutcome::hold_entry(text),
            _ => return Err(invalid_argument(format!("there is no outcome {kind}"))),
        }))
    }

    /// Another one, of which that holds as well. `ms` is for the two that are about time.
    pub fn with(&self, what: &str, ms: f64) -> Told<JsOutcome> {
        let outcome = self.0.clone();
        Ok(JsOutcome(match what {
            "replayed" => outcome.replayed(),
            "notTaken" => outcome.not_taken(),
            "notCounted" => outcome.not_counted(),
            "unanswered" => outcome.unanswered(),
            "pausingLane" => outcome.pausing_lane(),
            "notBefore" => outcome.not_before(span(ms)?),
            "keyExpiresAfter" => outcome.key_expires_after(span(ms)?),
            _ => return Err(invalid_argument(format!("no outcome can be {what}"))),
        }))
    }

    #[wasm_bindgen(getter)]
    pub fn kind(&self) -> String {
        self.0.as_str().to_owned()
    }
}

#[wasm_bindgen(js_class = NativeReport)]
impl JsReport {
    #[wasm_bindgen(constructor)]
    pub fn new(id: f64, fence_number: f64, outcome: &JsOutcome) -> JsReport {
        let id: EntryId = entry_id(id);
        JsReport(Report { id, fence: fence(fence_number), outcome: outcome.0.clone() })
    }

    #[wasm_bindgen(getter)]
    #[expect(clippy::cast_precision_loss, reason = "no number of an entry is above 2^53")]
    pub fn id(&self) -> f64 {
        self.0.id.get() as f64
    }

    #[wasm_bindgen(getter)]
    #[expect(clippy::cast_precision_loss, reason = "no fence is above 2^53")]
    pub fn fence(&self) -> f64 {
        self.0.fence as f64
    }

    #[wasm_bindgen(getter)]
    pub fn outcome(&self) -> JsOutcome {
        JsOutcome(self.0.outcome.clone())
    }

    /// Another one of the same: a call uses up what it is given in a list.
    pub fn copy(&self) -> JsReport {
        JsReport(self.0.clone())
    }
}
