//! What WebAssembly has not by itself, and the host gives: time and randomness.

use js_sys::Function;
use keyledger::{Clock, Entropy};
use send_wrapper::SendWrapper;
use wasm_bindgen::prelude::*;

/// Where the types that JavaScript brings are declared.
#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"import type { Host, NativeClosure, Store } from "../store.js";"#;

#[wasm_bindgen]
extern "C" {
    /// Time and randomness, as the package's glue has them of the platform, or a test of its own.
    #[wasm_bindgen(typescript_type = "Host")]
    pub type Host;

    /// Milliseconds since 1970-01-01 UTC.
    #[wasm_bindgen(method, js_name = wallMs)]
    fn wall_ms(this: &Host) -> f64;

    /// Milliseconds since some instant; never falls.
    #[wasm_bindgen(method, js_name = monotonicMs)]
    fn monotonic_ms(this: &Host) -> f64;

    #[wasm_bindgen(method, js_name = fillRandom)]
    fn fill_random(this: &Host, bytes: &mut [u8]);

    /// Sees to it that `commitQueued` is called soon.
    #[wasm_bindgen(method, js_name = callSoon)]
    fn call_soon(this: &Host, commit: &Function);
}

/// The host as clock, entropy and caller of commits.
pub(crate) struct JsHost(SendWrapper<Host>);

impl JsHost {
    pub(crate) fn new(host: &Host) -> Self {
        Self(SendWrapper::new(host.unchecked_ref::<JsValue>().clone().unchecked_into()))
    }

    pub(crate) fn call_soon(&self, commit: &Function) {
        self.0.call_soon(commit);
    }
}

impl Clock for JsHost {
    fn wall_ms(&self) -> u64 {
        whole(self.0.wall_ms())
    }

    fn monotonic_ms(&self) -> u64 {
        whole(self.0.monotonic_ms())
    }
}

impl Entropy for JsHost {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.fill_random(bytes);
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times are small and never negative")]
fn whole(ms: f64) -> u64 {
    ms as u64
}
