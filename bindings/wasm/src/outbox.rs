//! The outbox: requests persisted with their keys before they are sent (contract section 9).
//!
//! A call that commits is one method for both of its forms: `at_once`, and it answers; else it answers a promise, and what is called
//! in one turn of the event loop shares one sync.

mod asking;
mod delivery;
mod driver;
mod entry;
mod http;
mod looking;
mod outcome;
mod settings;
mod waiting;

use std::panic::AssertUnwindSafe;
use std::task::{Context, Poll, Waker};

use keyledger::{
    Cancel, Delivery, Enqueued, EntryId, EntryResolution, EntryView, Error, Ledger, Outbox, Resumed, Turn,
};
use wasm_bindgen::prelude::*;

use crate::argument::{count, response, scope};
use crate::error::{Told, failed, invalid_argument, thrown};
use crate::ledger::JsLedger;
use crate::object::{list, number, object};
use crate::promise::{Telling, boxed, telling};

pub(crate) use asking::JsEnqueue;
pub(crate) use entry::{audited, enqueued, view};

use delivery::JsDelivery;
use outcome::JsReport;

/// A commit can hold a thousand calls: so many are waited for before one that is made at once.
const COMMITS_MAX: usize = 1000;

/// The outbox of a ledger.
#[wasm_bindgen(js_name = NativeOutbox)]
pub struct JsOutbox(AssertUnwindSafe<(Outbox, Ledger)>);

/// The entry of that number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as saturates, and no entry has such a number"
)]
pub(crate) fn entry_id(number: f64) -> EntryId {
    EntryId::new(number as u64)
}

impl JsOutbox {
    pub(crate) fn outbox(&self) -> &Outbox {
        &self.0.0.0
    }

    /// The answer, or a promise of it. What is made at once was queued, is committed with all that was queued before it, and has its answer.
    fn told(&self, at_once: bool, mut call: Telling) -> Told<JsValue> {
        if !at_once {
            return Ok(boxed(call).into());
        }
        for _ in 0..COMMITS_MAX {
            self.0.1.commit_queued();
            if let Poll::Ready(told) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                return told;
            }
        }
        Err(thrown(&Error::Unavailable("too many calls are waiting; close the ledger, and open it again".into())))
    }
}

#[wasm_bindgen(js_class = NativeOutbox)]
impl JsOutbox {
    /// Opens the outbox of `ledger`. A setting is `[name, ...numbers]`, a lane `["ordered", name, what a stuck head does]` or
    /// `["unordered", name]`.
    #[wasm_bindgen(constructor)]
    pub fn new(ledger: &JsLedger, settings: &js_sys::Array) -> Told<JsOutbox> {
        let ledger = ledger.0.0.clone();
        let outbox = settings::open(&ledger, settings)?;
        Ok(JsOutbox(AssertUnwindSafe((outbox, ledger))))
    }

    /// `{ entry, created }`.
    pub fn enqueue(&self, at_once: bool, asked: &JsEnqueue) -> Told<JsValue> {
        self.told(at_once, telling(self.outbox().enqueue_async(asked.get()), |answer: Enqueued| enqueued(&answer)))
    }

    #[wasm_bindgen(js_name = enqueueMany)]
    pub fn enqueue_many(&self, at_once: bool, asked: Vec<JsEnqueue>) -> Told<JsValue> {
        let asked: Vec<_> = asked.iter().map(|one| one.get().clone()).collect();
        let all = self.outbox().enqueue_many_async(&asked);
        self.told(at_once, telling(all, |all: Vec<Enqueued>| list(&all, enqueued)))
    }

    #[wasm_bindgen(js_name = leaseDue)]
    pub fn lease_due(&self, at_once: bool, scope_text: &str, limit: f64) -> Told<JsValue> {
        let leased = self.outbox().lease_due_async(&scope(scope_text)?, count("a limit", limit)?);
        self.told(at_once, telling(leased, deliveries))
    }

    /// Settles a delivery of which there is no object any more, or whose object has been reported.
    pub fn settle(&self, at_once: bool, report: &JsReport) -> Told<JsValue> {
        self.told(at_once, telling(self.outbox().settle_async(&report.0), nothing))
    }

    /// Settles a delivery by its object, which is used up unless that is refused.
    #[wasm_bindgen(js_name = settleDelivery)]
    pub fn settle_delivery(&self, at_once: bool, delivery: &JsDelivery, outcome: &outcome::JsOutcome) -> Told<JsValue> {
        let settled = delivery.settle(self.outbox(), &outcome.0)?;
        self.told(at_once, Box::pin(settled))
    }

    /// `{ settled, deliveries }`: of each report nothing, or the error.
    #[wasm_bindgen(js_name = settleAndLease)]
    pub fn settle_and_lease(
        &self,
        at_once: bool,
        reports: Vec<JsReport>,
        scope_text: &str,
        limit: f64,
    ) -> Told<JsValue> {
        let reports: Vec<_> = reports.into_iter().map(|JsReport(report)| report).collect();
        let turn = self.outbox().settle_and_lease_async(&reports, &scope(scope_text)?, count("a limit", limit)?);
        self.told(at_once, telling(turn, turned))
    }

    /// `{ isCancelled, entry }`.
    pub fn cancel(&self, at_once: bool, id: f64) -> Told<JsValue> {
        self.told(at_once, telling(self.outbox().cancel_async(entry_id(id)), cancelled))
    }

    /// `{ lanes, entries }`.
    pub fn resume(&self, at_once: bool, scope_text: &str) -> Told<JsValue> {
        let resumed = self.outbox().resume_async(&scope(scope_text)?);
        self.told(
            at_once,
            telling(resumed, |Resumed { lanes, entries }| {
                object(&[("lanes", number(lanes)), ("entries", number(entries))])
            }),
        )
    }

    /// The network is back: how many entries are due earlier now.
    pub fn online(&self, at_once: bool, scope_text: &str) -> Told<JsValue> {
        self.told(at_once, telling(self.outbox().online_async(&scope(scope_text)?), number))
    }

    #[wasm_bindgen(js_name = resumeEntry)]
    pub fn resume_entry(&self, at_once: bool, id: f64) -> Told<JsValue> {
        self.told(at_once, telling(self.outbox().resume_entry_async(entry_id(id)), one))
    }

    pub fn requeue(&self, at_once: bool, id: f64) -> Told<JsValue> {
        self.told(at_once, telling(self.outbox().requeue_async(entry_id(id)), one))
    }

    pub fn dismiss(&self, at_once: bool, id: f64, who: &str, note: &str) -> Told<JsValue> {
        self.told(at_once, telling(self.outbox().dismiss_async(entry_id(id), who, note), one))
    }

    /// `answered_yes` and `answered_no` with a response, `dead` and `resend` without.
    #[expect(clippy::too_many_arguments, reason = "JavaScript names them, in an object of the package's")]
    pub fn resolve(
        &self,
        at_once: bool,
        id: f64,
        verdict: &str,
        media_type: &str,
        body: &[u8],
        who: &str,
        note: &str,
    ) -> Told<JsValue> {
        let resolution = match verdict {
            "answered_yes" => EntryResolution::Yes(response(media_type, body)),
            "answered_no" => EntryResolution::No(response(media_type, body)),
            "dead" => EntryResolution::Dead,
            "resend" => EntryResolution::Resend,
            _ => return Err(invalid_argument(format!("there is no verdict {verdict}"))),
        };
        self.told(at_once, telling(self.outbox().resolve_async(entry_id(id), resolution, who, note), one))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "one of the functions that tell an answer")]
fn one(entry: EntryView) -> JsValue {
    view(&entry)
}

fn nothing((): ()) -> JsValue {
    JsValue::UNDEFINED
}

fn deliveries(leased: Vec<Delivery>) -> JsValue {
    list(leased, |delivery| JsDelivery::own(delivery).into())
}

fn turned(Turn { settled, deliveries: leased }: Turn) -> JsValue {
    let settled = list(settled, |one| one.map_or_else(failed, |()| JsValue::UNDEFINED));
    object(&[("settled", settled), ("deliveries", deliveries(leased))])
}

fn cancelled(cancel: Cancel) -> JsValue {
    let is_cancelled = cancel.is_cancelled();
    let (Cancel::Cancelled(entry) | Cancel::TooLate(entry)) = cancel;
    object(&[("isCancelled", is_cancelled.into()), ("entry", view(&entry))])
}
