//! The right to run an operation.

use std::cell::{Cell, Ref, RefCell};
use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use js_sys::Promise;
use keyledger::{Claim, Error, KeyId, Ledger, Settlement, Step};
use wasm_bindgen::prelude::*;

use crate::argument::{response, span};
use crate::decision::{milliseconds, response as shown_response};
use crate::error::{Told, failed, invalid_argument, thrown};
use crate::object::{bytes, bytes_or_null, list, number, object};
use crate::promise::promise;
use crate::transaction::{Closure, JsBatch, answer};

/// Where a claim is.
struct Place {
    /// While a call that settles it has the claim, and after it, what stays behind: it can still be looked at.
    claim: RefCell<Claim>,
    stands: Cell<Stands>,
}

/// How a claim stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    Held,
    /// A call has it that settles it.
    Away,
    /// Nothing more can be done with it.
    Settled,
}

impl Place {
    /// Whoever was too late has taken what another had left behind, and puts nothing in the place of the claim itself. Steps that were
    /// recorded meanwhile stay known.
    fn give_back(&self, mut claim: Claim) {
        let stands = if claim.settled().is_some() { Stands::Settled } else { Stands::Held };
        let mut held = self.claim.borrow_mut();
        if !held.is_open() {
            held.steps().iter().for_each(|step| claim.remember_step(step.clone()));
            *held = claim;
        }
        self.stands.set(stands);
    }

    fn remember_step(&self, name: &str, value: Vec<u8>) {
        self.claim.borrow_mut().remember_step(Step { name: name.to_owned(), value });
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
        Self(AssertUnwindSafe(Rc::new(Place { claim: RefCell::new(claim), stands: Cell::new(Stands::Held) })))
    }

    /// Throws where it was settled, or a call has it that settles it.
    fn check_held(&self) -> Told<()> {
        if self.0.stands.get() == Stands::Held { Ok(()) } else { Err(thrown(&Error::ClaimSettled)) }
    }

    fn taken(&self) -> Told<Claim> {
        self.check_held()?;
        Ok(self.0.claim.borrow_mut().take())
    }

    /// The claim, for who settles it in its holder's stead; or the settled one, where it knows with what.
    pub(crate) fn surrender(&self) -> Option<Claim> {
        let is_here = match self.0.stands.get() {
            Stands::Held => true,
            Stands::Away => false,
            Stands::Settled => self.0.claim.borrow().settled().is_some(),
        };
        is_here.then(|| {
            self.0.stands.set(Stands::Settled);
            self.0.claim.borrow_mut().take()
        })
    }

    /// The claim, to be looked at until it is settled.
    fn looked_at(&self) -> Told<Ref<'_, Claim>> {
        if self.0.stands.get() == Stands::Settled {
            Err(thrown(&Error::ClaimSettled))
        } else {
            Ok(self.0.claim.borrow())
        }
    }

    fn address(&self) -> Told<(Ledger, KeyId, u64)> {
        self.check_held()?;
        let claim = self.0.claim.borrow();
        Ok((claim.ledger(), claim.key_id().clone(), claim.fence()))
    }

    /// Runs `act` on the claim outside its place, so that a closure that looks at it meets no borrow.
    fn with<T>(&self, act: impl FnOnce(&mut Claim) -> Told<T>) -> Told<T> {
        let mut claim = self.taken()?;
        let told = act(&mut claim);
        self.0.give_back(claim);
        told
    }
}

#[wasm_bindgen(js_class = NativeClaim)]
impl JsClaim {
    /// All that does not change: scope, operation, key, fence, attempt, effect, memo, steps, when it was first granted.
    pub fn look(&self) -> Told<JsValue> {
        let claim = self.looked_at()?;
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
        Ok(list(self.looked_at()?.steps(), |step| {
            object(&[("name", step.name.as_str().into()), ("value", bytes(&step.value))])
        }))
    }

    #[wasm_bindgen(js_name = remainingMs)]
    pub fn remaining_ms(&self) -> Told<JsValue> {
        Ok(self.looked_at()?.remaining().map_or(JsValue::NULL, milliseconds))
    }

    #[wasm_bindgen(js_name = isLost)]
    pub fn is_lost(&self) -> Told<bool> {
        Ok(self.looked_at()?.lost_signal().is_set())
    }

    #[wasm_bindgen(js_name = isSettled)]
    pub fn is_settled(&self) -> bool {
        self.0.stands.get() != Stands::Held
    }

    /// Ends the lease at once, unless it was settled. No I/O (S2).
    #[wasm_bindgen(js_name = letGo)]
    pub fn let_go(&self) {
        if self.check_held().is_ok() {
            self.0.stands.set(Stands::Settled);
            drop(self.0.claim.borrow_mut().take());
        }
    }

    #[wasm_bindgen(js_name = deriveKey)]
    pub fn derive_key(&self, name: &str) -> Told<String> {
        Ok(self.looked_at()?.derive_key(name).as_str().to_owned())
    }

    /// Renews the lease, by its own length where `lease_ms` is absent.
    #[wasm_bindgen(js_name = heartbeatSync)]
    pub fn heartbeat_sync(&self, lease_ms: Option<f64>) -> Told<()> {
        self.check_held()?;
        let pulse = self.0.claim.borrow().pulse();
        match lease_ms {
            Some(ms) => pulse.heartbeat_for(span(ms)?),
            None => pulse.heartbeat(),
        }
        .map_err(failed)
    }

    #[wasm_bindgen(js_name = settleSync)]
    pub fn settle_sync(&self, verb: &str, text: &str, body: &[u8]) -> Told<()> {
        let settlement = settlement(verb, text, body)?;
        match self.taken()?.settle(settlement) {
            Ok(()) => self.0.stands.set(Stands::Settled),
            Err(refused) => {
                self.0.give_back(*refused.claim);
                return Err(thrown(&refused.source));
            }
        }
        Ok(())
    }

    /// The same as a promise. It is queued when this returns, and stored whether or not anybody waits (S3).
    pub fn settle(&self, verb: &str, text: &str, body: &[u8]) -> Told<Promise> {
        let settlement = settlement(verb, text, body)?;
        let (settled, place) = (self.taken()?.settle_async(settlement), self.0.clone());
        place.stands.set(Stands::Away);
        Ok(promise(async move {
            match settled.await {
                Ok(()) => place.stands.set(Stands::Settled),
                Err(refused) => {
                    place.give_back(*refused.claim);
                    return Err(thrown(&refused.source));
                }
            }
            Ok(JsValue::UNDEFINED)
        }))
    }

    /// A step's recorded value, or nothing; throws what recording it would throw.
    #[wasm_bindgen(js_name = recordedStep)]
    pub fn recorded_step(&self, name: &str) -> Told<JsValue> {
        Ok(bytes_or_null(self.looked_at()?.recorded_step(name).map_err(failed)?))
    }

    /// Recorded by key id and fence, so that the claim stays where it is.
    #[wasm_bindgen(js_name = recordStepSync)]
    pub fn record_step_sync(&self, name: &str, value: &[u8]) -> Told<()> {
        let (ledger, id, fence) = self.address()?;
        ledger.record_step(&id, fence, name, value).map_err(failed)?;
        self.0.remember_step(name, value.to_vec());
        Ok(())
    }

    /// As a promise.
    #[wasm_bindgen(js_name = recordStep)]
    pub fn record_step(&self, name: String, value: Vec<u8>) -> Told<Promise> {
        let (ledger, id, fence) = self.address()?;
        let (recorded, place) = (ledger.record_step_async(&id, fence, &name, value.clone()), self.0.clone());
        Ok(promise(async move {
            recorded.await.map_err(failed)?;
            place.remember_step(&name, value);
            Ok(JsValue::UNDEFINED)
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
        let (mut claim, place, run) = (self.taken()?, self.0.clone(), closure.run());
        let inside = run.clone();
        place.stands.set(Stands::Away);
        Ok(promise(async move {
            let completed = claim.complete_with_async(move |tx| answer(&inside, tx)).await;
            place.give_back(claim);
            run.told(completed.map(|response| shown_response(&response)))
        }))
    }

    #[wasm_bindgen(js_name = completeBatchSync)]
    pub fn complete_batch_sync(&self, batch: &JsBatch, media_type: &str, body: &[u8]) -> Told<JsValue> {
        let stored = self.with(|claim| claim.complete_batch(&batch.get(), response(media_type, body)).map_err(failed));
        stored.map(|response| shown_response(&response))
    }
}
