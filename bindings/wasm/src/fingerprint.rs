//! What was asked, as 32 bytes (section 8).

use js_sys::{Array, Uint8Array};
use keyledger::{Fingerprint, HttpRequest, Key, KeyId, Members};
use wasm_bindgen::prelude::*;

use crate::argument::key_id;
use crate::error::{Told, invalid_argument};

/// The hash of a request, or said on purpose: unchecked.
#[wasm_bindgen(js_name = NativeFingerprint)]
pub struct JsFingerprint(pub(crate) Fingerprint);

#[wasm_bindgen(js_class = NativeFingerprint)]
impl JsFingerprint {
    pub fn unchecked() -> JsFingerprint {
        JsFingerprint(Fingerprint::unchecked())
    }

    /// The one that told these digits, on another thread or in another tab.
    #[wasm_bindgen(js_name = ofHex)]
    pub fn of_hex(digits: &str) -> Told<JsFingerprint> {
        let made = Fingerprint::of_hex(digits).map(JsFingerprint);
        made.ok_or_else(|| invalid_argument("a fingerprint has 64 lower-case hexadecimal digits"))
    }

    /// Of byte strings (F2).
    #[wasm_bindgen(js_name = ofBytes)]
    pub fn of_bytes(parts: &Array) -> JsFingerprint {
        let parts = owned(parts);
        JsFingerprint(Fingerprint::of_bytes(&slices(&parts)))
    }

    /// Of JSON text (F1), of the members that count (F4).
    #[wasm_bindgen(js_name = ofJsonText)]
    pub fn of_json_text(text: &[u8], leave_out: Option<Vec<String>>, only: Option<Vec<String>>) -> Told<JsFingerprint> {
        let made = Fingerprint::of_json_text_with(text, &members(leave_out, only)?);
        made.map(JsFingerprint).map_err(|error| invalid_argument(error.to_string()))
    }

    /// Of an HTTP request as it was received (F3).
    #[wasm_bindgen(js_name = ofHttp)]
    pub fn of_http(
        method: &str,
        path: &str,
        query: &str,
        content_type: Option<String>,
        body: &[u8],
        leave_out: Option<Vec<String>>,
        only: Option<Vec<String>>,
    ) -> Told<JsFingerprint> {
        let request = HttpRequest {
            method: method.as_bytes(),
            path: path.as_bytes(),
            query: query.as_bytes(),
            content_type: content_type.as_deref().map(str::as_bytes),
            body,
        };
        Ok(JsFingerprint(Fingerprint::of_http(&request, &members(leave_out, only)?)))
    }

    /// 64 hexadecimal digits; nothing for the one that is unchecked.
    #[wasm_bindgen(getter)]
    pub fn hex(&self) -> Option<String> {
        self.0.hex()
    }
}

/// A key made of a namespace and parts: equal everywhere (F6).
#[wasm_bindgen(js_name = deriveKey)]
pub fn derive_key(namespace: &str, parts: &Array) -> String {
    let parts = owned(parts);
    Key::derive(namespace, &slices(&parts)).as_str().to_owned()
}

/// A key for a call that an operation makes (E3).
#[wasm_bindgen(js_name = deriveKeyOf)]
pub fn derive_key_of(scope: &str, operation: &str, key: &str, name: &str) -> Told<String> {
    let id: KeyId = key_id(scope, operation, key)?;
    Ok(id.derive_key(name).as_str().to_owned())
}

fn members(leave_out: Option<Vec<String>>, only: Option<Vec<String>>) -> Told<Members> {
    let made = match (leave_out, only) {
        (Some(_), Some(_)) => return Err(invalid_argument("members are left out, or are the only ones; not both")),
        (Some(pointers), None) => Members::leave_out(pointers.iter().map(String::as_str)),
        (None, Some(pointers)) => Members::only(pointers.iter().map(String::as_str)),
        (None, None) => return Ok(Members::All),
    };
    made.map_err(|error| invalid_argument(error.to_string()))
}

fn owned(parts: &Array) -> Vec<Vec<u8>> {
    parts.iter().map(|part| Uint8Array::new(&part).to_vec()).collect()
}

fn slices(parts: &[Vec<u8>]) -> Vec<&[u8]> {
    parts.iter().map(Vec::as_slice).collect()
}
