//! The core's errors as errors of JavaScript's, with `code`.

use std::cell::RefCell;

use js_sys::Function;
use keyledger::{Error, KeyError};
use wasm_bindgen::prelude::*;

use crate::outbox::view;

/// What the methods return.
pub(crate) type Told<T> = Result<T, JsValue>;

thread_local! {
    /// Makes an error of a code and a message: the package brings its own class.
    static MAKE: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Takes what makes an error of the package's class: `(code, message, entry) => Error`, with the entry of a conflict.
#[wasm_bindgen(js_name = registerErrors)]
pub fn register_errors(make: Function) {
    MAKE.replace(Some(make));
}

/// The error with its stable code: `error.code`.
pub(crate) fn thrown(error: &Error) -> JsValue {
    let entry = match error {
        Error::PurposeConflict(entry) | Error::KeyConflict(entry) => view(entry),
        _ => JsValue::UNDEFINED,
    };
    of_code(error.code().as_str(), &error.to_string(), &entry)
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
pub(crate) fn failed(error: Error) -> JsValue {
    thrown(&error)
}

pub(crate) fn refused(error: KeyError) -> JsValue {
    thrown(&error.into())
}

pub(crate) fn invalid_argument(message: impl Into<String>) -> JsValue {
    thrown(&Error::InvalidArgument(message.into()))
}

fn of_code(code: &str, message: &str, entry: &JsValue) -> JsValue {
    let maker = MAKE.with_borrow(Clone::clone);
    let made = maker.and_then(|maker| maker.call3(&JsValue::NULL, &code.into(), &message.into(), entry).ok());
    made.unwrap_or_else(|| js_sys::Error::new(message).into())
}
