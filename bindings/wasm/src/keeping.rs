//! Settling by key id and fence, recovery, resolving, forgetting, sweeping, and the life of a handle.

use js_sys::Promise;
use keyledger::{Forgotten, Resolution};
use wasm_bindgen::prelude::*;

use crate::argument::{count, fence, key_id, response, scope, span};
use crate::claim::{JsClaim, settlement};
use crate::error::{Told, failed, invalid_argument};
use crate::ledger::JsLedger;
use crate::looking::{JsListing, swept};
use crate::object::{list, number, object};
use crate::operation::JsOperation;
use crate::promise::{boxed, promise, telling};
use crate::transaction::{Closure, JsBatch, plain};

#[wasm_bindgen(js_class = NativeLedger)]
#[expect(clippy::too_many_arguments, reason = "JavaScript names them, in an object of the package's")]
impl JsLedger {
    #[wasm_bindgen(js_name = settleSync)]
    pub fn settle_sync(
        &self,
        scope: &str,
        operation: &str,
        key: &str,
        fence_number: f64,
        verb: &str,
        text: &str,
        body: &[u8],
    ) -> Told<()> {
        let id = key_id(scope, operation, key)?;
        self.0.settle(&id, fence(fence_number), settlement(verb, text, body)?).map_err(failed)
    }

    #[wasm_bindgen(js_name = heartbeatSync)]
    pub fn heartbeat_sync(
        &self,
        scope: &str,
        operation: &str,
        key: &str,
        fence_number: f64,
        lease_ms: f64,
    ) -> Told<()> {
        let id = key_id(scope, operation, key)?;
        self.0.heartbeat(&id, fence(fence_number), span(lease_ms)?).map_err(failed)
    }

    #[wasm_bindgen(js_name = recordStepSync)]
    pub fn record_step_sync(
        &self,
        scope: &str,
        operation: &str,
        key: &str,
        fence_number: f64,
        name: &str,
        value: &[u8],
    ) -> Told<()> {
        let id = key_id(scope, operation, key)?;
        self.0.record_step(&id, fence(fence_number), name, value).map_err(failed)
    }

    /// Claims on records whose owners were lost.
    #[wasm_bindgen(js_name = recoverSync)]
    pub fn recover_sync(&self, operation: &JsOperation, limit: f64) -> Told<JsValue> {
        let claims = self.0.recover(&operation.0, count("a limit", limit)?).map_err(failed)?;
        Ok(list(claims, |claim| JsClaim::new(claim).into()))
    }

    /// As a promise.
    pub fn recover(&self, operation: &JsOperation, limit: f64) -> Told<Promise> {
        let recovered = self.0.recover_async(&operation.0, count("a limit", limit)?);
        Ok(boxed(telling(recovered, |claims: Vec<_>| list(claims, |claim| JsClaim::new(claim).into()))))
    }

    #[wasm_bindgen(js_name = resolveSync)]
    pub fn resolve_sync(
        &self,
        scope: &str,
        operation: &str,
        key: &str,
        fence_number: f64,
        verdict: &str,
        media_type: &str,
        body: &[u8],
        who: &str,
        note: &str,
    ) -> Told<()> {
        let (id, resolution) = (key_id(scope, operation, key)?, resolution(verdict, media_type, body)?);
        self.0.resolve(&id, fence(fence_number), resolution, who, note).map_err(failed)
    }

    #[wasm_bindgen(js_name = resolveManySync)]
    pub fn resolve_many_sync(
        &self,
        listing: &JsListing,
        verdict: &str,
        media_type: &str,
        body: &[u8],
        who: &str,
        note: &str,
    ) -> Told<JsValue> {
        let resolution = resolution(verdict, media_type, body)?;
        self.0.resolve_many(&listing.filter(), &resolution, who, note).map(number).map_err(failed)
    }

    #[wasm_bindgen(js_name = forgetSync)]
    pub fn forget_sync(&self, scope: &str, operation: &str, key: &str, even_if_unknown: bool) -> Told<JsValue> {
        let id = key_id(scope, operation, key)?;
        self.0.forget(&id, even_if_unknown).map(|forgotten| forgot(&forgotten)).map_err(failed)
    }

    #[wasm_bindgen(js_name = forgetScopeSync)]
    pub fn forget_scope_sync(&self, scope_text: &str, even_if_unknown: bool) -> Told<JsValue> {
        let scope = scope(scope_text)?;
        self.0.forget_scope(&scope, even_if_unknown).map(|forgotten| forgot(&forgotten)).map_err(failed)
    }

    #[wasm_bindgen(js_name = sweepSync)]
    pub fn sweep_sync(&self, limit: f64) -> Told<JsValue> {
        self.0.sweep(count("a limit", limit)?).map(|told| swept(&told)).map_err(failed)
    }

    /// As a promise.
    pub fn sweep(&self, limit: f64) -> Told<Promise> {
        let sweep = self.0.sweep_async(count("a limit", limit)?);
        Ok(boxed(telling(sweep, |told| swept(&told))))
    }

    #[wasm_bindgen(js_name = transactionSync)]
    pub fn transaction_sync(&self, closure: Closure) -> Told<JsValue> {
        let run = closure.run();
        run.told(self.0.transaction(|tx| plain(&run, tx)).map(send_wrapper::SendWrapper::take))
    }

    /// As a promise: the closure runs when its turn comes, and shares its sync with what else is queued.
    pub fn transaction(&self, closure: Closure) -> Promise {
        let run = closure.run();
        let inside = run.clone();
        let told = self.0.transaction_async(move |tx| plain(&inside, tx));
        promise(async move { run.told(told.await.map(send_wrapper::SendWrapper::take)) })
    }

    #[wasm_bindgen(js_name = applySync)]
    pub fn apply_sync(&self, batch: &JsBatch) -> Told<()> {
        self.0.apply(&batch.get()).map_err(failed)
    }

    /// As a promise.
    pub fn apply(&self, batch: &JsBatch) -> Promise {
        let batch = batch.get();
        let told = self.0.transaction_async(move |tx| tx.apply(&batch));
        boxed(telling(told, |()| JsValue::UNDEFINED))
    }

    pub fn compact(&self, even_with_claims: bool) -> Told<JsValue> {
        let told = self.0.compact(even_with_claims).map_err(failed)?;
        Ok(object(&[("beforeBytes", number(told.before_bytes)), ("afterBytes", number(told.after_bytes))]))
    }

    pub fn suspend(&self) -> Told<()> {
        self.0.suspend().map_err(failed)
    }

    pub fn resume(&self) -> Told<()> {
        self.0.resume().map_err(failed)
    }

    pub fn reopen(&self) -> Told<()> {
        self.0.reopen().map_err(failed)
    }

    /// Lets go of the store.
    pub fn close(&self) -> Told<()> {
        self.0.close().map_err(failed)?;
        self.1.forget();
        Ok(())
    }
}

fn resolution(verdict: &str, media_type: &str, body: &[u8]) -> Told<Resolution> {
    Ok(match verdict {
        "completed" => Resolution::Completed(response(media_type, body)),
        "failed" => Resolution::Failed(response(media_type, body)),
        "not_done" => Resolution::NotDone,
        _ => return Err(invalid_argument(format!("there is no verdict {verdict}"))),
    })
}

fn forgot(forgotten: &Forgotten) -> JsValue {
    object(&[
        ("settled", number(forgotten.settled)),
        ("released", number(forgotten.released)),
        ("tombstones", number(forgotten.tombstones)),
        ("unsettled", number(forgotten.unsettled)),
        ("keptUnsettled", number(forgotten.kept_unsettled)),
        ("entries", number(forgotten.entries)),
        ("keptEntries", number(forgotten.kept_entries)),
    ])
}
