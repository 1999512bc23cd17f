//! JavaScript's own reading and writing of doubles, for the core: they are what RFC 8785 asks for, and need no tables in the module.

use js_sys::Number;
use wasm_bindgen::prelude::*;

/// Runs when the module is loaded.
#[wasm_bindgen(start)]
fn numbers() {
    #[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
    keyledger::numbers_by_host(keyledger::HostNumbers { of_text: Number::parse_float, shortest, digits });
}

/// As JavaScript writes it.
pub(crate) fn shortest(number: f64) -> String {
    Number::from(number).to_string_with_radix(10).map(String::from).unwrap_or_default()
}

/// All digits of an integer.
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
fn digits(number: f64) -> String {
    let integer = js_sys::BigInt::new(&JsValue::from_f64(number)).and_then(|integer| Ok(integer.to_string(10)?));
    integer.map(String::from).unwrap_or_default()
}
