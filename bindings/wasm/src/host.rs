//! What WebAssembly has not by itself, and the host gives: time and randomness.

use std::task::Waker;
use std::time::Duration;

use js_sys::Function;
use keyledger::{Clock, Entropy};
use send_wrapper::SendWrapper;
use wasm_bindgen::prelude::*;

/// Where the types that JavaScript brings are declared.
#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"import type { Host, NativeClosure, NativeTransport, Store } from "../store.js";"#;

#[wasm_bindgen]
extern "C" {
    /// Time and randomness, as the package's glue has them of the platform, or a test of its own.
    #[wasm_bindgen(typescript_type = "Host")]
    pub type Host;

    /// Milliseconds since 1970-01-01 UTC.
    #[wasm_bindgen(method, catch, js_name = wallMs)]
    fn wall_ms(this: &Host) -> Result<f64, JsValue>;

    /// Milliseconds since some instant; never falls.
    #[wasm_bindgen(method, catch, js_name = monotonicMs)]
    fn monotonic_ms(this: &Host) -> Result<f64, JsValue>;

    #[wasm_bindgen(method, catch, js_name = fillRandom)]
    fn fill_random(this: &Host, bytes: &mut [u8]) -> Result<(), JsValue>;

    /// Sees to it that `commitQueued` is called soon.
    /// Calls `wake` once, when the time has passed.
    #[wasm_bindgen(method, js_name = callAfter)]
    fn call_after(this: &Host, ms: f64, wake: &Function) -> JsValue;

    /// Calls that off.
    #[wasm_bindgen(method, js_name = callOff)]
    fn call_off(this: &Host, timer: &JsValue);

    /// How long to wait for a span of its clock to pass.
    #[wasm_bindgen(method, catch, js_name = sleepMs)]
    fn sleep_ms(this: &Host, span: f64) -> Result<f64, JsValue>;

    #[wasm_bindgen(method, js_name = callSoon)]
    fn call_soon(this: &Host, commit: &Function);
}

/// The host as clock, entropy, caller of commits and timer.
pub(crate) struct JsHost(SendWrapper<Host>);

impl JsHost {
    pub(crate) fn new(host: &Host) -> Self {
        Self(SendWrapper::new(host.unchecked_ref::<JsValue>().clone().unchecked_into()))
    }

    /// Wakes after a while, unless what this returns is dropped before.
    pub(crate) fn wake_after(&self, span: Duration, waker: Waker) -> Box<dyn Send> {
        let mut waker = Some(waker);
        let wake = Closure::<dyn FnMut()>::new(move || {
            if let Some(waker) = waker.take() {
                waker.wake();
            }
        });
        let timer = self.0.call_after(span.as_secs_f64() * 1000.0, wake.as_ref().unchecked_ref());
        Box::new(Timer(SendWrapper::new(Waking { host: JsHost::new(&self.0), timer, _wake: wake })))
    }

    pub(crate) fn call_soon(&self, commit: &Function) {
        self.0.call_soon(commit);
    }
}

/// A timer of the host's. Dropped, it is called off.
struct Timer(SendWrapper<Waking>);

struct Waking {
    host: JsHost,
    timer: JsValue,
    _wake: Closure<dyn FnMut()>,
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.0.host.0.call_off(&self.0.timer);
    }
}

impl Clock for JsHost {
    fn sleep_for(&self, span: Duration) -> Duration {
        let told = self.0.sleep_ms(span.as_secs_f64() * 1000.0);
        told.ok().and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok()).unwrap_or(span)
    }

    fn wall_ms(&self) -> u64 {
        instant(self.0.wall_ms())
    }

    fn monotonic_ms(&self) -> u64 {
        instant(self.0.monotonic_ms())
    }
}

impl Entropy for JsHost {
    fn fill(&self, bytes: &mut [u8]) {
        assert!(self.0.fill_random(bytes).is_ok(), "the host has no randomness");
    }
}

/// What a clock told. One that throws (as the package's does where it has no number) has no time to go on with: a panic of ours ends the
/// call in good order, and an exception that passes through would not.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times are small and never negative")]
fn instant(told: Result<f64, JsValue>) -> u64 {
    told.unwrap_or_else(|_| panic!("the host's clock tells no number of milliseconds")) as u64
}
