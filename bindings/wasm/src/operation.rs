//! What is being done, declared once.

use keyledger::Operation;
use wasm_bindgen::prelude::*;

use crate::argument::{count, effect, span};
use crate::error::{Told, failed};

/// An operation: its name, its effect, and for how long it matters.
#[wasm_bindgen(js_name = NativeOperation)]
pub struct JsOperation(pub(crate) Operation);

#[wasm_bindgen(js_class = NativeOperation)]
impl JsOperation {
    /// Spans in milliseconds. Throws what `begin` would throw for it.
    #[wasm_bindgen(constructor)]
    pub fn new(
        name: String,
        effect_name: &str,
        lease_ms: Option<f64>,
        retention_ms: Option<f64>,
        tombstone_ms: Option<f64>,
        remembered_for_ms: Option<f64>,
        max_attempts: Option<f64>,
    ) -> Told<JsOperation> {
        let mut operation = Operation::new(effect(effect_name)?, name);
        operation = with(operation, lease_ms, |operation, ms| Ok(operation.lease(span(ms)?)))?;
        operation = with(operation, retention_ms, |operation, ms| Ok(operation.retention(span(ms)?)))?;
        operation = with(operation, tombstone_ms, |operation, ms| Ok(operation.tombstone(span(ms)?)))?;
        operation = with(operation, remembered_for_ms, |operation, ms| Ok(operation.remembered_for(span(ms)?)))?;
        operation = with(operation, max_attempts, |operation, number| {
            let attempts = u32::try_from(count("max attempts", number)?).unwrap_or(u32::MAX);
            Ok(operation.max_attempts(attempts))
        })?;
        operation.check().map_err(failed)?;
        Ok(JsOperation(operation))
    }

    /// How long a claim's lease is.
    #[wasm_bindgen(getter, js_name = leaseMs)]
    pub fn lease_ms(&self) -> f64 {
        self.0.lease_time().as_secs_f64() * 1000.0
    }
}

/// The declaration, with a setting if there is one.
fn with(
    operation: Operation,
    setting: Option<f64>,
    set: impl FnOnce(Operation, f64) -> Told<Operation>,
) -> Told<Operation> {
    match setting {
        Some(setting) => set(operation, setting),
        None => Ok(operation),
    }
}
