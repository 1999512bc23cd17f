//! Waiting for outcomes, and for changes.

use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use js_sys::{Function, Promise};
use keyledger::Changes;
use send_wrapper::SendWrapper;
use wasm_bindgen::prelude::*;

use super::{JsOutbox, entry_id, view};
use crate::argument::{fence, span};
use crate::error::{Told, failed, invalid_argument};
use crate::promise::{promise_until, telling};

#[wasm_bindgen(js_class = NativeOutbox)]
impl JsOutbox {
    /// A promise of the entry as it is when `is_enough(entry)` says so, it is settled, or the time is up. Given up when `until` is
    /// settled.
    #[wasm_bindgen(js_name = waitUntil)]
    pub fn wait_until(&self, id: f64, timeout_ms: f64, is_enough: Function, until: Option<Promise>) -> Told<Promise> {
        let is_enough = SendWrapper::new(is_enough);
        let waited = self.outbox().wait_until_async(entry_id(id), span(timeout_ms)?, move |entry| {
            is_enough.call1(&JsValue::NULL, &view(entry)).is_ok_and(|told| told.is_truthy())
        });
        Ok(promise_until(telling(waited, super::one), until))
    }

    /// Every entry that changes after that change.
    pub fn changes(&self, after: f64) -> JsChanges {
        JsChanges(AssertUnwindSafe(Rc::new(RefCell::new(Some(self.outbox().changes(fence(after)))))))
    }
}

/// The changes of an outbox; none while a call has them.
#[wasm_bindgen(js_name = NativeChanges)]
pub struct JsChanges(AssertUnwindSafe<Place>);

type Place = Rc<RefCell<Option<Changes>>>;

/// The changes, while a call has them: they go back also where the call is given up.
struct Lent {
    place: Place,
    changes: Option<Changes>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.place.replace(self.changes.take());
    }
}

#[wasm_bindgen(js_class = NativeChanges)]
impl JsChanges {
    /// A promise of the next entry that changes.
    pub fn next(&self, until: Option<Promise>) -> Told<Promise> {
        let changes = self.0.borrow_mut().take();
        let Some(changes) = changes else {
            return Err(invalid_argument("these changes are being waited for by another call"));
        };
        let mut lent = Lent { place: self.0.clone(), changes: Some(changes) };
        let next = async move {
            match &mut lent.changes {
                Some(changes) => changes.next_async().await,
                None => Err(keyledger::Error::Closed),
            }
        };
        Ok(promise_until(telling(next, super::one), until))
    }

    /// An entry that has changed already, or null.
    #[wasm_bindgen(js_name = nextSync)]
    pub fn next_sync(&self) -> Told<JsValue> {
        let mut place = self.0.borrow_mut();
        let found = place.as_mut().map_or(Ok(None), |changes| changes.next(std::time::Duration::ZERO));
        Ok(found.map_err(failed)?.as_ref().map_or(JsValue::NULL, view))
    }
}
