//! The ledger.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use js_sys::{Object, Promise, Reflect};
use keyledger::{Begin, Decision, Effect, Fingerprint, Key, Ledger, Operation, Response, Scope};
use send_wrapper::SendWrapper;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use crate::disk::{JsDisk, Store, bytes};
use crate::error::{Told, thrown};
use crate::host::{Host, JsHost};

/// A ledger on a store, or in memory.
#[wasm_bindgen(js_name = NativeLedger)]
pub struct JsLedger(AssertUnwindSafe<Ledger>);

#[wasm_bindgen(js_class = NativeLedger)]
impl JsLedger {
    /// Opens the ledger on `store`, or makes it there; in memory where there is no store.
    #[wasm_bindgen(constructor)]
    pub fn new(store: Option<Store>, host: &Host) -> Told<JsLedger> {
        let spoken_for = Arc::new(SendWrapper::new(std::cell::OnceCell::<js_sys::Function>::new()));
        let (commit, caller) = (spoken_for.clone(), JsHost::new(host));
        let builder = Ledger::builder().clock(JsHost::new(host)).entropy(JsHost::new(host)).commit_by_host(move || {
            if let Some(commit) = commit.get() {
                caller.call_soon(commit);
            }
        });
        let opened = match store {
            Some(store) => builder.open_disk(Arc::new(JsDisk::new(store))),
            None => builder.in_memory(),
        };
        let ledger = opened.map_err(|error| thrown(&error))?;
        let for_commit = AssertUnwindSafe(ledger.clone());
        let commit = Closure::<dyn FnMut()>::new(move || for_commit.commit_queued());
        let _ = spoken_for.set(commit.into_js_value().unchecked_into());
        Ok(JsLedger(AssertUnwindSafe(ledger)))
    }

    /// `begin`, blocking.
    #[wasm_bindgen(js_name = beginSync)]
    pub fn begin_sync(&self, operation: &str, scope: &str, key: &str) -> Told<JsValue> {
        let begin = asked(operation, scope, key)?;
        self.0.begin_with(&begin).map(told).map_err(|error| thrown(&error))
    }

    /// `begin` as a promise: what is begun in one turn of the event loop shares one sync.
    pub fn begin(&self, operation: &str, scope: &str, key: &str) -> Told<Promise> {
        let decided = self.0.begin_with_async(asked(operation, scope, key)?);
        Ok(promise(async move { decided.await.map(told).map_err(|error| thrown(&error)) }))
    }

    /// Lets go of the store.
    pub fn close(&self) -> Told<()> {
        self.0.close().map_err(|error| thrown(&error))
    }
}

/// A claim.
#[wasm_bindgen(js_name = NativeClaim)]
pub struct JsClaim(AssertUnwindSafe<Option<keyledger::Claim>>);

#[wasm_bindgen(js_class = NativeClaim)]
impl JsClaim {
    /// Completes, as a promise.
    pub fn complete(&mut self, media_type: &str, body: &[u8]) -> Told<Promise> {
        let claim = self.0.take().ok_or_else(|| thrown(&keyledger::Error::ClaimSettled))?;
        let settled = claim.complete_async(Response::new(media_type, body));
        Ok(promise(async move { settled.await.map(|()| JsValue::UNDEFINED).map_err(|failed| thrown(&failed.source)) }))
    }
}

fn asked(operation: &str, scope: &str, key: &str) -> Told<Begin> {
    let operation = Operation::new(Effect::Repeatable, operation.to_owned()).lease(Duration::from_secs(30));
    let refused = |error: keyledger::KeyError| thrown(&error.into());
    let (scope, key) = (Scope::new(scope).map_err(refused)?, Key::new(key).map_err(refused)?);
    Ok(Begin::new(&operation, &scope, &key, Fingerprint::unchecked()))
}

fn told(decision: Decision) -> JsValue {
    let object = Object::new();
    let set = |name: &str, value: JsValue| drop(Reflect::set(&object, &name.into(), &value));
    set("kind", decision.as_str().into());
    match decision {
        Decision::Acquired(claim) => set("claim", JsClaim(AssertUnwindSafe(Some(claim))).into()),
        Decision::Replay(replay) => set("body", replay.response.stored_bytes().map(bytes).into()),
        _ => {}
    }
    object.into()
}

/// A promise of what the core's future tells. A panic in it rejects the promise; the core keeps its own locks from harm.
fn promise(future: impl Future<Output = Told<JsValue>> + 'static) -> Promise {
    future_to_promise(AssertUnwindSafe(future))
}
