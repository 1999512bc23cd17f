//! Plain objects for JavaScript.

use js_sys::{Array, Object, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

/// An object with these members.
pub(crate) fn object(members: &[(&str, JsValue)]) -> JsValue {
    let object = Object::new();
    for (name, value) in members {
        let _ = Reflect::set(&object, &(*name).into(), value);
    }
    object.into()
}

/// A count, an instant in milliseconds or a fence as a number of JavaScript's: exact to 2^53.
#[expect(clippy::cast_precision_loss, reason = "no count and no instant is above 2^53")]
pub(crate) fn number(count: u64) -> JsValue {
    JsValue::from_f64(count as f64)
}

/// The same, or null.
pub(crate) fn number_or_null(count: Option<u64>) -> JsValue {
    count.map_or(JsValue::NULL, number)
}

/// A copy of the bytes.
pub(crate) fn bytes(of: &[u8]) -> JsValue {
    Uint8Array::from(of).into()
}

/// The same, or null.
pub(crate) fn bytes_or_null(of: Option<&[u8]>) -> JsValue {
    of.map_or(JsValue::NULL, bytes)
}

/// A list of what `show` makes of each.
pub(crate) fn list<T>(items: impl IntoIterator<Item = T>, show: impl FnMut(T) -> JsValue) -> JsValue {
    items.into_iter().map(show).collect::<Array>().into()
}
