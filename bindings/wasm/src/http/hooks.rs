//! Functions of JavaScript's that a route calls.

use js_sys::Function;
use keyledger::Effect;
use keyledger_http::message::Stored;
use keyledger_http::{Keep, by_status};
use send_wrapper::SendWrapper;
use wasm_bindgen::prelude::*;

use super::answer::{shown_stored, stored};

/// H6: a function that throws, or says no word of ours, decides nothing. The package tells of it.
pub(crate) fn keep(function: Function) -> impl Fn(u16, Effect) -> Keep + Send + Sync + 'static {
    let function = SendWrapper::new(function);
    move |status, effect| {
        let told = function.call2(&JsValue::NULL, &status.into(), &effect.as_str().into());
        let word = told.ok().and_then(|told| told.as_string());
        word.and_then(|word| Keep::named(&word)).unwrap_or_else(|| by_status(status, effect))
    }
}

/// H5: one that throws, or returns nothing, has failed, and the body is omitted.
pub(crate) fn redact(function: Function) -> impl Fn(Stored) -> Option<Stored> + Send + Sync + 'static {
    let function = SendWrapper::new(function);
    move |kept| function.call1(&JsValue::NULL, &shown_stored(&kept)).ok().and_then(|told| stored(&told))
}
