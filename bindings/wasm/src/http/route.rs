//! What a route says of itself, and what it makes of a request's head.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use js_sys::Array;
use keyledger::HttpRequest;
use keyledger_http::{Passage, Route, RouteOperation};
use wasm_bindgen::prelude::*;

use super::answer::{latin_1, lines, shown};
use super::asked::JsAsked;
use super::setting::with_all;
use crate::argument::{effect, key, scope};
use crate::error::{Told, invalid_argument};
use crate::ledger::JsLedger;
use crate::operation::JsOperation;

/// A route that takes idempotency keys.
#[wasm_bindgen(js_name = NativeRoute)]
pub struct JsRoute(AssertUnwindSafe<Arc<Route>>);

impl JsRoute {
    fn new(is_required: bool, operation: RouteOperation, settings: &Array) -> Told<JsRoute> {
        let route = if is_required { Route::required(operation) } else { Route::optional(operation) };
        Ok(JsRoute(AssertUnwindSafe(Arc::new(with_all(route, settings)?))))
    }
}

#[wasm_bindgen(js_class = NativeRoute)]
impl JsRoute {
    /// A route whose operation is named by method and path.
    #[wasm_bindgen(js_name = ofEffect)]
    pub fn of_effect(is_required: bool, name: &str, settings: &Array) -> Told<JsRoute> {
        Self::new(is_required, effect(name)?.into(), settings)
    }

    /// A route whose operation has one name on whatever path.
    #[wasm_bindgen(js_name = ofOperation)]
    pub fn of_operation(is_required: bool, operation: &JsOperation, settings: &Array) -> Told<JsRoute> {
        Self::new(is_required, operation.0.clone().into(), settings)
    }

    #[wasm_bindgen(getter, js_name = isStream)]
    pub fn is_stream(&self) -> bool {
        self.0.is_stream()
    }

    #[wasm_bindgen(getter, js_name = maxBodyBytes)]
    pub fn max_body_bytes(&self) -> usize {
        self.0.body_bytes_max()
    }

    #[wasm_bindgen(getter, js_name = maxRequestBytes)]
    pub fn max_request_bytes(&self) -> usize {
        self.0.request_bytes_max()
    }

    #[wasm_bindgen(getter, js_name = waitMs)]
    pub fn wait_ms(&self) -> f64 {
        self.0.wait_time().as_secs_f64() * 1000.0
    }

    #[wasm_bindgen(getter, js_name = heartbeatMs)]
    pub fn heartbeat_ms(&self) -> f64 {
        self.0.heartbeat_interval().as_secs_f64() * 1000.0
    }

    /// The request's key; the answer that refuses it; null, if it passes as if there were no ledger (H2).
    pub fn receive(&self, method: &str, key_line: Option<String>) -> Told<JsValue> {
        let line = key_line.map(|line| latin_1(&line)).transpose()?;
        Ok(match self.0.receive(method, line.iter().map(Vec::as_slice)) {
            Passage::Inert => JsValue::NULL,
            Passage::Keyed(key) => key.as_str().into(),
            Passage::Refused(answer) => shown(&answer),
        })
    }

    /// What to ask the ledger for a request. `path` is the concrete one as received.
    #[expect(clippy::too_many_arguments, reason = "they are a request's parts")]
    pub fn begin(
        &self,
        ledger: &JsLedger,
        scope_text: &str,
        key_text: &str,
        method: &str,
        path: &str,
        query: &str,
        content_type: Option<String>,
        body: &[u8],
    ) -> Told<JsAsked> {
        let content_type = content_type.map(|value| latin_1(&value)).transpose()?;
        let request = HttpRequest {
            method: method.as_bytes(),
            path: path.as_bytes(),
            query: query.as_bytes(),
            content_type: content_type.as_deref(),
            body,
        };
        let begin = self.0.begin(&scope(scope_text)?, &key(key_text)?, &request);
        let operation = self.0.operation_of(&request).name().to_owned();
        Ok(JsAsked::new(ledger.0.clone(), self.0.clone(), begin, operation))
    }

    /// Whether `length` bytes are the body that was announced; if not, somebody else has read of it (H17).
    #[wasm_bindgen(js_name = isWhole)]
    pub fn is_whole(content_length: &str, length: usize) -> bool {
        Route::is_whole(Some(content_length.as_bytes()), length)
    }

    /// The answer in one of the cases that are not the ledger's.
    pub fn refusal(&self, case: &str) -> Told<JsValue> {
        Ok(shown(&match case {
            "no-principal" => self.0.no_principal(),
            "too-large" => self.0.too_large(),
            "body-consumed" => self.0.body_consumed(),
            "unreadable" => self.0.unreadable(),
            "not-available" => self.0.not_available(),
            _ => return Err(invalid_argument(format!("no request is refused as {case}"))),
        }))
    }

    /// The fields to add to a response that leaves before it is settled.
    pub fn exposed() -> JsValue {
        lines(&Route::exposed())
    }
}
