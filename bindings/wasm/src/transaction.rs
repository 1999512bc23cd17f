//! The caller's own tables: closures inside a transaction, and batches.
//!
//! A transaction lives as long as its closure. JavaScript has it as a function that is good until the closure returns.

use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use js_sys::{Array, Uint8Array};
use keyledger::{Batch, Error, Response, Transaction};
use send_wrapper::SendWrapper;
use wasm_bindgen::convert::TryFromJsValue;
use wasm_bindgen::prelude::*;

use crate::argument::{count, fence, key_id, response};
use crate::error::{Told, failed, invalid_argument, thrown};
use crate::object::{bytes, bytes_or_null, list};
use crate::outbox::{JsEnqueue, enqueued};

#[wasm_bindgen]
extern "C" {
    /// A closure of the caller's: `run(call)` with a `call` of `[name, ...arguments]`.
    #[wasm_bindgen(typescript_type = "NativeClosure")]
    pub type Closure;

    #[wasm_bindgen(method, catch, js_name = run)]
    fn run_with(this: &Closure, call: &mut dyn FnMut(JsValue) -> Result<JsValue, JsValue>) -> Result<JsValue, JsValue>;
}

impl Closure {
    pub(crate) fn run(self) -> Run {
        Run { closure: Arc::new(SendWrapper::new(self)), raised: Arc::default() }
    }
}

/// A closure, and what it has thrown: the core hands on an error of its own for it.
#[derive(Clone)]
pub(crate) struct Run {
    closure: Arc<SendWrapper<Closure>>,
    raised: Arc<Mutex<Option<SendWrapper<JsValue>>>>,
}

impl Run {
    fn inside(&self, tx: &mut Transaction<'_, '_>) -> Result<JsValue, Error> {
        let tx = AssertUnwindSafe(RefCell::new(tx));
        let mut call = |words: JsValue| match tx.try_borrow_mut() {
            Ok(mut tx) => called(&mut tx, &Array::from(&words)),
            Err(_) => Err(thrown(&Error::Reentrant)),
        };
        self.closure.run_with(&mut call).map_err(|raised| {
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(SendWrapper::new(raised));
            Error::InvalidArgument("the closure has thrown".into())
        })
    }

    /// What the closure has thrown, else the core's error.
    pub(crate) fn told(&self, outcome: Result<JsValue, Error>) -> Told<JsValue> {
        outcome.map_err(|error| {
            let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
            raised.map_or_else(|| thrown(&error), SendWrapper::take)
        })
    }
}

/// For `transaction`: what the closure returns.
pub(crate) fn plain(run: &Run, tx: &mut Transaction<'_, '_>) -> Result<SendWrapper<JsValue>, Error> {
    run.inside(tx).map(SendWrapper::new)
}

/// For `completeWith`: the closure returns `[media type, body]`.
pub(crate) fn answer(run: &Run, tx: &mut Transaction<'_, '_>) -> Result<Response, Error> {
    let told = Array::from(&run.inside(tx)?);
    let media_type = told.get(0).as_string().unwrap_or_default();
    Ok(response(&media_type, &Uint8Array::new(&told.get(1)).to_vec()))
}

/// One call of a transaction.
fn called(tx: &mut Transaction<'_, '_>, words: &Array) -> Told<JsValue> {
    let text = |at: u32| words.get(at).as_string().unwrap_or_default();
    let blob = |at: u32| Uint8Array::new(&words.get(at)).to_vec();
    let maybe = |at: u32| (!words.get(at).is_null()).then(|| blob(at));
    let number = |at: u32| words.get(at).as_f64().unwrap_or(f64::NAN);
    match text(0).as_str() {
        "get" => {
            let found = tx.get(&text(1), &blob(2)).map_err(failed)?;
            return Ok(bytes_or_null(found.as_deref()));
        }
        "scan" => {
            let limit = count("a limit", number(4))?;
            return Ok(rows(&tx.scan(&text(1), &blob(2), maybe(3).as_deref(), limit).map_err(failed)?));
        }
        "enqueue" => {
            let asked = JsEnqueue::try_from_js_value(words.get(1))?;
            return tx.enqueue(asked.outbox(), asked.get()).map(|answer| enqueued(&answer)).map_err(failed);
        }
        "put" => tx.put(&text(1), &blob(2), blob(3)),
        "delete" => tx.delete(&text(1), &blob(2)),
        "insertUnique" => tx.insert_unique(&text(1), &blob(2), blob(3)),
        "compareAndSet" => tx.compare_and_set(&text(1), &blob(2), maybe(3).as_deref(), maybe(4).as_deref()),
        "complete" => {
            let id = key_id(&text(1), &text(2), &text(3))?;
            tx.complete(&id, fence(number(4)), response(&text(5), &blob(6)))
        }
        name => return Err(invalid_argument(format!("a transaction has no call {name}"))),
    }
    .map(|()| JsValue::UNDEFINED)
    .map_err(failed)
}

/// Rows as pairs.
pub(crate) fn rows(rows: &[keyledger::Row]) -> JsValue {
    list(rows, |(key, value)| Array::of2(&bytes(key), &bytes(value)).into())
}

/// Changes of rows as a value.
#[wasm_bindgen(js_name = NativeBatch)]
pub struct JsBatch(AssertUnwindSafe<RefCell<Batch>>);

impl JsBatch {
    pub(crate) fn get(&self) -> Batch {
        self.0.borrow().clone()
    }

    fn with(&self, add: impl FnOnce(Batch) -> Batch) {
        let batch = self.0.take();
        self.0.replace(add(batch));
    }
}

#[wasm_bindgen(js_class = NativeBatch)]
impl JsBatch {
    #[wasm_bindgen(constructor)]
    pub fn new() -> JsBatch {
        JsBatch(AssertUnwindSafe(RefCell::default()))
    }

    pub fn put(&self, table: &str, key: &[u8], value: &[u8]) {
        self.with(|batch| batch.put(table, key, value));
    }

    pub fn delete(&self, table: &str, key: &[u8]) {
        self.with(|batch| batch.delete(table, key));
    }

    #[wasm_bindgen(js_name = insertUnique)]
    pub fn insert_unique(&self, table: &str, key: &[u8], value: &[u8]) {
        self.with(|batch| batch.insert_unique(table, key, value));
    }

    /// A request to be sent once the batch is on disk.
    pub fn enqueue(&self, asked: &JsEnqueue) {
        self.with(|batch| batch.enqueue(asked.outbox(), asked.get()));
    }

    #[wasm_bindgen(js_name = compareAndSet)]
    pub fn compare_and_set(&self, table: &str, key: &[u8], expected: Option<Vec<u8>>, value: Option<Vec<u8>>) {
        self.with(|batch| batch.compare_and_set(table, key, expected, value));
    }
}
