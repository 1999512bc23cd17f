//! The core's errors as errors of JavaScript's, with `code`.

use js_sys::Reflect;
use keyledger::Error;
use wasm_bindgen::prelude::*;

/// What the methods return.
pub(crate) type Told<T> = Result<T, JsValue>;

/// The error with its stable code: `error.code`.
pub(crate) fn thrown(error: &Error) -> JsValue {
    of_code(error.code().as_str(), &error.to_string())
}

pub(crate) fn of_code(code: &str, message: &str) -> JsValue {
    let error = js_sys::Error::new(message);
    error.set_name("KeyledgerError");
    let _ = Reflect::set(&error, &"code".into(), &code.into());
    error.into()
}
