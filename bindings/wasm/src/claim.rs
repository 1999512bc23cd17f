//! The right to run an operation.

use std::cell::{Ref, RefCell};
use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use js_sys::Promise;
use keyledger::{Claim, Error, Settlement};
use wasm_bindgen::prelude::*;

use crate::argument::{response, span};
use crate::decision::{milliseconds, response as shown_response};
use crate::error::{Told, failed, invalid_argument, thrown};
use crate::object::{bytes, bytes_or_null, list, number, object};
use crate::promise::promise;
use crate::transaction::{Closure, JsBatch, answer};

/// Where a claim is.
#[derive(Default)]
struct Place {
    /// None while a call has it, and after it was settled.
    held: RefCell<Option<Claim>>,
    /// One that was settled by its own call, and knows with what.
    settled: RefCell<Option<Claim>>,
}

impl Place {
    fn put_back(&self, claim: Claim) {
        let place = if claim.settled().is_some() { &self.settled } else { &self.held };
        place.replace(Some(claim));
    }
}

/// A claim. It is settled once; a second time throws `claim_settled`.
#[wasm_bindgen(js_name = NativeClaim)]
pub struct JsClaim(AssertUnwindSafe<Rc<Place>>);

/// A settlement by name: `complete`, `fail` with a response, `release`, `park` with a reason.
pub(crate) fn settlement(verb: &str, text: &str, body: &[u8]) -> Told<Settlement> {
    Ok(match verb {
        "complete" => Settlement::Complete(response(text, body)),
        "fail" => Settlement::Fail(response(text, body)),
        "release" => Settlement::Release,
        "park" => Settlement::Park(text.to_owned()),
        _ => return Err(invalid_argument(format!("there is no settlement {verb}"))),
    })
}

impl JsClaim {
    pub(crate) fn new(claim: Claim) -> Self {
        let place = Place::default();
        place.put_back(claim);
        Self(AssertUnwindSafe(Rc::new(place)))
    }

    fn take(&self) -> Told<Claim> {
        self.0.held.borrow_mut().take().ok_or_else(|| thrown(&Error::ClaimSettled))
    }

    /// The claim, for who settles it in its holder's stead; or the settled one, where it knows with what.
    pub(crate) fn surrender(&self) -> Option<Claim> {
        self.0.held.take().or_else(|| self.0.settled.take())
    }

    pub(crate) fn held(&self) -> Told<Ref<'_, Claim>> {
        Ref::filter_map(self.0.held.borrow(), Option::as_ref).map_err(|_| thrown(&Error::ClaimSettled))
    }

    /// Runs `act` on the claim outside its place, so that a closure that looks at it is told so and meets no borrow.
    fn with<T>(&self, act: impl FnOnce(&mut Claim) -> Told<T>) -> Told<T> {
        let mut claim = self.take()?;
        let told = act(&mut claim);
        self.0.put_back(claim);
        told
    }
}

#[wasm_bindgen(js_class = NativeClaim)]
impl JsClaim {
    /// All that does not change: scope, operation, key, fence, attempt, effect, memo, steps, when it was first granted.
    pub fn look(&self) -> Told<JsValue> {
        let claim = self.held()?;
        let id = claim.key_id();
        Ok(object(&[
            ("scope", id.scope().as_str().into()),
            ("operation", id.operation().as_str().into()),
            ("key", id.key().as_str().into()),
            ("fence", number(claim.fence())),
            ("attempt", claim.attempt().into()),
            ("effect", claim.effect().as_str().into()),
            ("memo", bytes(claim.memo())),
            ("firstGrantedAtMs", number(claim.first_granted_at_ms())),
        ]))
    }

    pub fn steps(&self) -> Told<JsValue> {
        Ok(list(self.held()?.steps(), |step| {
            object(&[("name", step.name.as_str().into()), ("value", bytes(&step.value))])
        }))
    }

    #[wasm_bindgen(js_name = remainingMs)]
    pub fn remaining_ms(&self) -> Told<JsValue> {
        Ok(self.held()?.remaining().map_or(JsValue::NULL, milliseconds))
    }

    #[wasm_bindgen(js_name = isLost)]
    pub fn is_lost(&self) -> Told<bool> {
        Ok(self.held()?.lost_signal().is_set())
    }

    #[wasm_bindgen(js_name = isSettled)]
    pub fn is_settled(&self) -> bool {
        self.0.held.borrow().is_none()
    }

    /// Ends the lease at once, unless it was settled. No I/O (S2).
    #[wasm_bindgen(js_name = letGo)]
    pub fn let_go(&self) {
        self.0.held.take();
    }

    #[wasm_bindgen(js_name = deriveKey)]
    pub fn derive_key(&self, name: &str) -> Told<String> {
        Ok(self.held()?.derive_key(name).as_str().to_owned())
    }

    /// Renews the lease, by its own length where `lease_ms` is absent.
    #[wasm_bindgen(js_name = heartbeatSync)]
    pub fn heartbeat_sync(&self, lease_ms: Option<f64>) -> Told<()> {
        let claim = self.held()?;
        match lease_ms {
            Some(ms) => claim.heartbeat_for(span(ms)?),
            None => claim.heartbeat(),
        }
        .map_err(failed)
    }

    #[wasm_bindgen(js_name = settleSync)]
    pub fn settle_sync(&self, verb: &str, text: &str, body: &[u8]) -> Told<()> {
        let settlement = settlement(verb, text, body)?;
        match self.take()?.settle(settlement) {
            Ok(()) => Ok(()),
            Err(refused) => {
                self.0.put_back(*refused.claim);
                Err(thrown(&refused.source))
            }
        }
    }

    /// The same as a promise. It is queued when this returns, and stored whether or not anybody waits (S3).
    pub fn settle(&self, verb: &str, text: &str, body: &[u8]) -> Told<Promise> {
        let settlement = settlement(verb, text, body)?;
        let (settled, place) = (self.take()?.settle_async(settlement), self.0.clone());
        Ok(promise(async move {
            match settled.await {
                Ok(()) => Ok(JsValue::UNDEFINED),
                Err(refused) => {
                    place.put_back(*refused.claim);
                    Err(thrown(&refused.source))
                }
            }
        }))
    }

    /// A step's recorded value, or nothing; throws what recording it would throw.
    #[wasm_bindgen(js_name = recordedStep)]
    pub fn recorded_step(&self, name: &str) -> Told<JsValue> {
        Ok(bytes_or_null(self.held()?.recorded_step(name).map_err(failed)?))
    }

    #[wasm_bindgen(js_name = recordStepSync)]
    pub fn record_step_sync(&self, name: &str, value: &[u8]) -> Told<()> {
        self.with(|claim| claim.record_step(name, value).map_err(failed))
    }

    /// As a promise.
    #[wasm_bindgen(js_name = recordStep)]
    pub fn record_step(&self, name: String, value: Vec<u8>) -> Told<Promise> {
        let (mut claim, place) = (self.take()?, self.0.clone());
        Ok(promise(async move {
            let recorded = claim.record_step_async(&name, value).await;
            place.put_back(claim);
            recorded.map(|()| JsValue::UNDEFINED).map_err(failed)
        }))
    }

    /// Rows and the response that `closure` answers, in one transaction.
    #[wasm_bindgen(js_name = completeWithSync)]
    pub fn complete_with_sync(&self, closure: Closure) -> Told<JsValue> {
        let run = closure.run();
        self.with(|claim| {
            run.told(claim.complete_with(|tx| answer(&run, tx)).map(|response| shown_response(&response)))
        })
    }

    /// As a promise.
    #[wasm_bindgen(js_name = completeWith)]
    pub fn complete_with(&self, closure: Closure) -> Told<Promise> {
        let (mut claim, place, run) = (self.take()?, self.0.clone(), closure.run());
        let inside = run.clone();
        Ok(promise(async move {
            let completed = claim.complete_with_async(move |tx| answer(&inside, tx)).await;
            place.put_back(claim);
            run.told(completed.map(|response| shown_response(&response)))
        }))
    }

    #[wasm_bindgen(js_name = completeBatchSync)]
    pub fn complete_batch_sync(&self, batch: &JsBatch, media_type: &str, body: &[u8]) -> Told<JsValue> {
        let stored = self.with(|claim| claim.complete_batch(&batch.get(), response(media_type, body)).map_err(failed));
        stored.map(|response| shown_response(&response))
    }
}
