//! The ledger: opening, and asking for keys.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

use js_sys::{Function, Promise};
use keyledger::{Begin, ErrorMeans, Ledger};
use send_wrapper::SendWrapper;
use wasm_bindgen::prelude::*;

use crate::argument::{count, effect, key, scope, span};
use crate::decision;
use crate::disk::{JsDisk, Store};
use crate::error::{Told, failed, invalid_argument};
use crate::fingerprint::JsFingerprint;
use crate::host::{Host, JsHost};
use crate::object::list;
use crate::operation::JsOperation;
use crate::promise::{boxed, promise_until, telling};

/// A ledger on a store.
#[wasm_bindgen(js_name = NativeLedger)]
pub struct JsLedger(pub(crate) AssertUnwindSafe<Ledger>, pub(crate) Commit);

/// What the host is told to call, which has the ledger: as long as the ledger has it, too, neither is ever freed.
#[derive(Clone)]
pub(crate) struct Commit(Arc<SendWrapper<RefCell<Option<Function>>>>);

// A panic leaves it as it was: it is set once, and forgotten once.
impl UnwindSafe for Commit {}
impl RefUnwindSafe for Commit {}

impl Commit {
    fn new() -> Self {
        Self(Arc::new(SendWrapper::new(RefCell::new(None))))
    }

    /// The ledger is closed: nothing is committed any more.
    pub(crate) fn forget(&self) {
        self.0.replace(None);
    }
}

/// What a `begin` asks.
#[wasm_bindgen(js_name = NativeBegin)]
pub struct JsBegin(Begin);

#[wasm_bindgen(js_class = NativeBegin)]
impl JsBegin {
    #[wasm_bindgen(constructor)]
    pub fn new(
        operation: &JsOperation,
        scope_text: &str,
        key_text: &str,
        fingerprint: &JsFingerprint,
        memo: Option<Vec<u8>>,
        wait_ms: Option<f64>,
    ) -> Told<JsBegin> {
        let begin = Begin::new(&operation.0, &scope(scope_text)?, &key(key_text)?, fingerprint.0);
        let wait = wait_ms.map_or(Ok(Duration::ZERO), span)?;
        Ok(JsBegin(begin.memo(memo.unwrap_or_default()).wait(wait)))
    }
}

#[wasm_bindgen(js_class = NativeLedger)]
impl JsLedger {
    /// Opens the ledger on `store`, or makes it there. What is kept in memory is kept in a store, too.
    #[wasm_bindgen(constructor)]
    pub fn new(store: Store, host: &Host, max_response_bytes: Option<f64>, cache_bytes: Option<f64>) -> Told<JsLedger> {
        let commit = Commit::new();
        let (told, host_of_commits) = (commit.clone(), JsHost::new(host));
        let mut builder =
            Ledger::builder().clock(JsHost::new(host)).entropy(JsHost::new(host)).commit_by_host(move || {
                let commit = told.0.borrow().clone();
                if let Some(commit) = commit {
                    host_of_commits.call_soon(&commit);
                }
            });
        let timer = JsHost::new(host);
        builder = builder.wake_by_host(move |span, waker| timer.wake_after(span, waker));
        if let Some(bytes) = max_response_bytes {
            builder = builder.max_response_bytes(count("a longest response", bytes)?);
        }
        if let Some(bytes) = cache_bytes {
            builder = builder.cache_bytes(count("a cache", bytes)?);
        }
        let ledger = builder.open_disk(Arc::new(JsDisk::new(store))).map_err(failed)?;
        let for_commit = AssertUnwindSafe(ledger.clone());
        let call = Closure::<dyn FnMut()>::new(move || for_commit.commit_queued());
        commit.0.replace(Some(call.into_js_value().unchecked_into()));
        Ok(JsLedger(AssertUnwindSafe(ledger), commit))
    }

    /// `begin`, blocking. It cannot wait for another owner: there is one thread.
    #[wasm_bindgen(js_name = beginSync)]
    pub fn begin_sync(&self, asked: &JsBegin) -> Told<JsValue> {
        self.0.begin_with(&asked.0.clone().wait(Duration::ZERO)).map(decision::told).map_err(failed)
    }

    /// `begin` as a promise: what is begun in one turn of the event loop shares one sync. It is given up when `until` is settled.
    pub fn begin(&self, asked: &JsBegin, until: Option<Promise>) -> Promise {
        let decided = self.0.begin_with_async(asked.0.clone());
        promise_until(telling(decided, decision::told), until)
    }

    /// All in one commit.
    #[wasm_bindgen(js_name = beginManySync)]
    pub fn begin_many_sync(&self, asked: Vec<JsBegin>) -> Told<JsValue> {
        let begins: Vec<_> = asked.into_iter().map(|begin| begin.0).collect();
        Ok(list(self.0.begin_many(&begins).map_err(failed)?, decision::told))
    }

    /// As a promise.
    #[wasm_bindgen(js_name = beginMany)]
    pub fn begin_many(&self, asked: Vec<JsBegin>) -> Promise {
        let decided = self.0.begin_many_async(asked.into_iter().map(|begin| begin.0).collect());
        boxed(telling(decided, |decisions: Vec<_>| list(decisions, decision::told)))
    }

    /// As `begin` would answer now, save that nothing is granted (S9).
    pub fn ask(&self, asked: &JsBegin) -> Told<JsValue> {
        self.0.ask(&asked.0).map(decision::told).map_err(failed)
    }

    /// Commits what promises have queued.
    #[wasm_bindgen(js_name = commitQueued)]
    pub fn commit_queued(&self) {
        self.0.commit_queued();
    }

    #[wasm_bindgen(js_name = newKey)]
    pub fn new_key(&self) -> String {
        self.0.new_key().as_str().to_owned()
    }

    /// Whether an operation is one that `begin` would take.
    pub fn declare(&self, operation: &JsOperation) -> Told<()> {
        self.0.declare(&operation.0).map_err(failed)
    }
}

/// How a claim with this effect is settled when its handler has thrown, where that is no final no (S8): `release`, or `park` and a reason.
#[wasm_bindgen(js_name = settlementOfError)]
pub fn settlement_of_error(means: &str, effect_name: &str) -> Told<Vec<String>> {
    let means = match means {
        "by_effect" => ErrorMeans::ByEffect,
        "not_done" => ErrorMeans::NotDone,
        _ => return Err(invalid_argument(format!("an error does not mean {means}"))),
    };
    Ok(match means.settlement(effect(effect_name)?) {
        keyledger::Settlement::Park(reason) => vec!["park".to_owned(), reason],
        _ => vec!["release".to_owned(), String::new()],
    })
}
