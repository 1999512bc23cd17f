//! One request under a key: from what the ledger says of it to what its client is told.

use js_sys::Promise;
use keyledger::{Begin, Decision, Effect, Error, Ledger, Settlement};
use keyledger_http::{Answer, Conclusion, Route, Ruling, Settled, fitting};
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use wasm_bindgen::prelude::*;

use super::answer::{answer, lines, shown};
use crate::claim::JsClaim;
use crate::decision::milliseconds;
use crate::error::{Told, thrown};
use crate::object::object;
use crate::promise::{promise, promise_until};

/// A request under a key, as the ledger is asked about it.
#[wasm_bindgen(js_name = NativeAsked)]
pub struct JsAsked(AssertUnwindSafe<Rc<Question>>);

struct Question {
    ledger: Ledger,
    route: Arc<Route>,
    begin: Begin,
    operation: String,
}

impl JsAsked {
    pub(crate) fn new(ledger: Ledger, route: Arc<Route>, begin: Begin, operation: String) -> Self {
        Self(AssertUnwindSafe(Rc::new(Question { ledger, route, begin, operation })))
    }
}

#[wasm_bindgen(js_class = NativeAsked)]
impl JsAsked {
    /// What the operation is called: with scope and key, whose record it is.
    #[wasm_bindgen(getter)]
    pub fn operation(&self) -> String {
        self.0.operation.clone()
    }

    /// What to do: `{ claim }` to run the handler under, or `{ answer, retryAfterMs, error }` to send. It is given up when `until` is
    /// settled.
    pub fn rule(&self, until: Option<Promise>) -> Promise {
        let asked = self.0.0.clone();
        let told = asked.ledger.begin_with_async(asked.begin.clone());
        promise_until(async move { Ok(asked.ruled(told.await)) }, until)
    }

    /// Settles the claim by a response that has come to its end, or has passed the limit and goes on (H8): `{ fields }` to add to it, or
    /// `{ answer }` to send in its place. What is settled is queued when the call is made.
    pub fn conclude(
        &self,
        claim: &JsClaim,
        status: u16,
        fields: Vec<String>,
        body: Vec<u8>,
        is_past_limit: bool,
    ) -> Told<Promise> {
        let (response, asked, claim) = (answer(status, fields, body)?, self.0.0.clone(), claim.surrender());
        Ok(promise(async move {
            let settled = Settled::of_async(claim, |effect| asked.settlement(effect, &response, is_past_limit)).await;
            let conclusion = asked.route.conclude(response.status, &settled, asked.now());
            Ok(asked.told(conclusion, &settled))
        }))
    }

    /// Settles the claim of a handler that threw, or whose response broke off, by the effect (S8): the `{ answer }`.
    #[wasm_bindgen(js_name = concludeFailure)]
    pub fn conclude_failure(&self, claim: &JsClaim) -> Promise {
        let (asked, claim) = (self.0.0.clone(), claim.surrender());
        promise(async move {
            let settled = Settled::of_async(claim, |effect| asked.failure(effect)).await;
            let answer = asked.route.conclude_failure(&settled, asked.now());
            Ok(asked.told(Conclusion::Instead(answer), &settled))
        })
    }
}

impl Question {
    fn ruled(&self, told: keyledger::Result<Decision>) -> JsValue {
        let error = told.as_ref().err().map_or(JsValue::NULL, thrown);
        let retry_after = match &told {
            Ok(Decision::InProgress(running)) => milliseconds(running.retry_after),
            Ok(_) | Err(_) => JsValue::NULL,
        };
        match self.route.rule(told) {
            Ruling::Run(claim) => object(&[("claim", JsClaim::new(claim).into())]),
            Ruling::Answer(answer) => {
                let answer = shown(&self.route.fetched(answer));
                object(&[("answer", answer), ("retryAfterMs", retry_after), ("error", error)])
            }
        }
    }

    fn settlement(&self, effect: Effect, response: &Answer, is_past_limit: bool) -> Settlement {
        let settlement = if is_past_limit {
            self.route.settlement_past_limit(effect, response)
        } else {
            self.route.settlement(effect, response)
        };
        fitting(settlement, self.ledger.max_response_bytes())
    }

    fn failure(&self, effect: Effect) -> Settlement {
        fitting(self.route.settlement_of_failure(effect), self.ledger.max_response_bytes())
    }

    fn now(&self) -> Result<Decision, Error> {
        self.ledger.ask(&self.begin)
    }

    /// Clients are told no more than 503: why, the package tells whoever runs the server.
    fn told(&self, conclusion: Conclusion, settled: &Settled) -> JsValue {
        let error = match settled {
            Settled::Not(Error::ClaimLost) | Settled::ByAdapter | Settled::ByHandler(_) => JsValue::NULL,
            Settled::Not(error) => thrown(error),
        };
        let what = match conclusion {
            Conclusion::Own(fields) => ("fields", lines(&fields)),
            Conclusion::Instead(answer) => ("answer", shown(&self.route.fetched(answer))),
        };
        object(&[what, ("error", error)])
    }
}
