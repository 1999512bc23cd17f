//! What is to be sent.

use std::panic::AssertUnwindSafe;

use keyledger::{Enqueue, Outbox};
use wasm_bindgen::prelude::*;

use super::JsOutbox;
use crate::argument::{fence, key, scope};
use crate::error::Told;
use crate::fingerprint::JsFingerprint;

/// One request, what is wanted of it, and whose outbox it is for.
#[wasm_bindgen(js_name = NativeEnqueue)]
pub struct JsEnqueue(AssertUnwindSafe<(Outbox, Enqueue)>);

impl JsEnqueue {
    pub(crate) fn get(&self) -> &Enqueue {
        &self.0.1
    }

    pub(crate) fn outbox(&self) -> &Outbox {
        &self.0.0.0
    }
}

#[wasm_bindgen(js_class = NativeEnqueue)]
impl JsEnqueue {
    #[wasm_bindgen(constructor)]
    #[expect(clippy::too_many_arguments, reason = "JavaScript names them, in an object of the package's")]
    pub fn new(
        outbox: &JsOutbox,
        scope_text: &str,
        operation: String,
        media_type: String,
        bytes: Vec<u8>,
        purpose: Option<String>,
        lane: Option<String>,
        key_text: Option<String>,
        send_by_at_ms: Option<f64>,
        even_if_answered: bool,
    ) -> Told<JsEnqueue> {
        let mut enqueue = Enqueue::new(&scope(scope_text)?, operation, media_type, bytes);
        if let Some(purpose) = purpose {
            enqueue = enqueue.purpose(purpose);
        }
        if let Some(lane) = lane {
            enqueue = enqueue.lane(lane);
        }
        if let Some(text) = key_text {
            enqueue = enqueue.key(&key(&text)?);
        }
        if let Some(at_ms) = send_by_at_ms {
            enqueue = enqueue.send_by_ms(fence(at_ms));
        }
        if even_if_answered {
            enqueue = enqueue.even_if_answered();
        }
        Ok(JsEnqueue(AssertUnwindSafe((outbox.outbox().clone(), enqueue))))
    }

    /// What tells this request from another under the same key or purpose.
    pub fn fingerprint(&mut self, fingerprint: &JsFingerprint) {
        self.0.1 = self.0.1.clone().fingerprint(fingerprint.0);
    }
}
