//! Looking into an outbox. None of it commits.

use keyledger::{EntryFilter, EntryStateName, LaneState};
use wasm_bindgen::prelude::*;

use super::{JsOutbox, entry_id, view};
use crate::argument::{count, scope, span};
use crate::error::{Told, failed, invalid_argument};
use crate::object::{bytes, list, number, number_or_null, object};

#[wasm_bindgen(js_class = NativeOutbox)]
impl JsOutbox {
    #[wasm_bindgen(js_name = nextWakeup)]
    pub fn next_wakeup(&self, scope_text: &str) -> Told<JsValue> {
        Ok(number_or_null(self.outbox().next_wakeup(&scope(scope_text)?).map_err(failed)?))
    }

    /// An entry, or null.
    pub fn get(&self, id: f64) -> Told<JsValue> {
        Ok(self.outbox().get(entry_id(id)).map_err(failed)?.as_ref().map_or(JsValue::NULL, view))
    }

    /// An entry's request: `[media type, bytes]`, or null.
    pub fn request(&self, id: f64) -> Told<JsValue> {
        let found = self.outbox().request(entry_id(id)).map_err(failed)?;
        let told = |(media_type, body): (String, Vec<u8>)| js_sys::Array::of2(&media_type.into(), &bytes(&body)).into();
        Ok(found.map_or(JsValue::NULL, told))
    }

    /// The entry of a purpose, or null.
    pub fn find(&self, scope_text: &str, lane: &str, purpose: &str) -> Told<JsValue> {
        let found = self.outbox().find(&scope(scope_text)?, lane, purpose).map_err(failed)?;
        Ok(found.as_ref().map_or(JsValue::NULL, view))
    }

    /// A page: `{ entries, next }`.
    #[expect(clippy::too_many_arguments, reason = "JavaScript names them, in an object of the package's")]
    pub fn list(
        &self,
        scope_text: Option<String>,
        lane: Option<String>,
        operation: Option<String>,
        state_name: Option<String>,
        older_than_ms: Option<f64>,
        limit: Option<f64>,
        after: Option<f64>,
    ) -> Told<JsValue> {
        let mut filter = EntryFilter::all();
        if let Some(text) = scope_text {
            filter = filter.scope(&scope(&text)?);
        }
        if let Some(lane) = lane {
            filter = filter.lane(lane);
        }
        if let Some(operation) = operation {
            filter = filter.operation(operation);
        }
        if let Some(name) = state_name {
            filter = filter.state(state(&name)?);
        }
        if let Some(ms) = older_than_ms {
            filter = filter.older_than(span(ms)?);
        }
        if let Some(number) = limit {
            filter = filter.limit(count("a limit", number)?);
        }
        if let Some(id) = after {
            filter = filter.after(entry_id(id));
        }
        let page = self.outbox().list(&filter).map_err(failed)?;
        let next = number_or_null(page.next.map(keyledger::EntryId::get));
        Ok(object(&[("entries", list(&page.entries, view)), ("next", next)]))
    }

    #[wasm_bindgen(js_name = stats)]
    pub fn stats(&self) -> Told<JsValue> {
        let stats = self.outbox().stats().map_err(failed)?;
        Ok(object(&[
            ("counts", counts(|state| stats.count(state))),
            ("unsettled", number(stats.unsettled)),
            ("unsettledBytes", number(stats.unsettled_bytes)),
            ("budget", stats.budget.into()),
            ("lanes", list(&stats.lanes, lane)),
            ("heldLanes", number(stats.held_lanes() as u64)),
            ("lastChange", number(stats.last_change)),
        ]))
    }
}

/// How many entries are in each state, by its name.
pub(super) fn counts(of: impl Fn(EntryStateName) -> u64) -> JsValue {
    object(&EntryStateName::ALL.map(|state| (state.as_str(), number(of(state)))))
}

fn lane(state: &LaneState) -> JsValue {
    let held = state.held.as_ref();
    object(&[
        ("scope", state.scope.as_str().into()),
        ("lane", state.lane.as_str().into()),
        ("heldReason", held.map_or(JsValue::NULL, |(why, _)| why.as_str().into())),
        ("heldSinceMs", number_or_null(held.map(|(_, since)| *since))),
        ("pausedUntilMs", number_or_null(state.paused_until_ms)),
    ])
}

fn state(name: &str) -> Told<EntryStateName> {
    let found = EntryStateName::ALL.into_iter().find(|state| state.as_str() == name);
    found.ok_or_else(|| invalid_argument(format!("there is no state {name}")))
}
