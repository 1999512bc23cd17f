//! Records, rows and counts, as they stand.

use keyledger::{Filter, OperationName, RecordView, StateName, Stats};
use wasm_bindgen::prelude::*;

use crate::argument::{count, key, key_id, scope, span};
use crate::decision::{milliseconds, response};
use crate::error::{Told, failed, invalid_argument, refused};
use crate::ledger::JsLedger;
use crate::object::{bytes, bytes_or_null, list, number, number_or_null, object};
use crate::outbox::audited;
use crate::transaction::rows;

#[wasm_bindgen(js_class = NativeLedger)]
impl JsLedger {
    /// The record of a key id, or null.
    pub fn inspect(&self, scope: &str, operation: &str, key: &str) -> Told<JsValue> {
        let found = self.0.inspect(&key_id(scope, operation, key)?).map_err(failed)?;
        Ok(found.as_ref().map_or(JsValue::NULL, record))
    }

    /// The stored response of a key id, or null.
    pub fn lookup(&self, scope: &str, operation: &str, key: &str) -> Told<JsValue> {
        let found = self.0.inspect(&key_id(scope, operation, key)?).map_err(failed)?;
        Ok(found.as_ref().and_then(RecordView::response).map_or(JsValue::NULL, response))
    }

    /// Makes a listing, which `JsListing::page` reads page by page.
    #[expect(clippy::too_many_arguments, reason = "JavaScript names them, in an object of the package's")]
    pub fn listing(
        &self,
        state_name: Option<String>,
        scope_text: Option<String>,
        operation: Option<String>,
        key_text: Option<String>,
        newer_than_ms: Option<f64>,
        older_than_ms: Option<f64>,
        limit: Option<f64>,
    ) -> Told<JsListing> {
        let mut filter = Filter::all();
        if let Some(name) = state_name {
            filter = filter.state(state(&name)?);
        }
        if let Some(text) = scope_text {
            filter = filter.scope(scope(&text)?);
        }
        if let Some(name) = operation {
            filter = filter.operation(OperationName::new(name).map_err(refused)?);
        }
        if let Some(text) = key_text {
            filter = filter.key(key(&text)?);
        }
        if let Some(ms) = newer_than_ms {
            filter = filter.newer_than(span(ms)?);
        }
        if let Some(ms) = older_than_ms {
            filter = filter.older_than(span(ms)?);
        }
        if let Some(number) = limit {
            filter = filter.limit(count("a limit", number)?);
        }
        Ok(JsListing(Some(filter)))
    }

    /// The next page of a listing: a list of records, or null at its end.
    pub fn page(&self, listing: &mut JsListing) -> Told<JsValue> {
        let Some(filter) = listing.0.take() else { return Ok(JsValue::NULL) };
        let page = self.0.list(&filter).map_err(failed)?;
        listing.0 = page.next.map(|next| filter.after(next));
        Ok(list(&page.records, record))
    }

    /// A row of the caller's own tables, or null.
    pub fn get(&self, table: &str, key: &[u8]) -> Told<JsValue> {
        Ok(bytes_or_null(self.0.get(table, key).map_err(failed)?.as_deref()))
    }

    /// Rows as pairs.
    pub fn scan(&self, table: &str, from: &[u8], to: Option<Vec<u8>>, limit: f64) -> Told<JsValue> {
        let limit = count("a limit", limit)?;
        Ok(rows(&self.0.scan(table, from, to.as_deref(), limit).map_err(failed)?))
    }

    pub fn stats(&self) -> Told<JsValue> {
        Ok(stats(&self.0.stats().map_err(failed)?))
    }

    /// Walks the whole file; faults are told in the answer.
    pub fn check(&self) -> Told<JsValue> {
        let found = self.0.check().map_err(failed)?;
        Ok(object(&[
            ("isWell", found.is_well().into()),
            ("records", number(found.records)),
            ("rows", number(found.rows)),
            ("entries", number(found.entries)),
            ("faults", list(&found.faults, |fault| fault.as_str().into())),
            ("faultCount", number(found.fault_count)),
        ]))
    }
}

/// A listing under way.
#[wasm_bindgen(js_name = NativeListing)]
pub struct JsListing(Option<Filter>);

impl JsListing {
    /// The filter, as long as no page was read.
    pub(crate) fn filter(&self) -> Filter {
        self.0.clone().unwrap_or_default()
    }
}

fn state(name: &str) -> Told<StateName> {
    StateName::named(name).ok_or_else(|| invalid_argument(format!("there is no state {name}")))
}

fn record(view: &RecordView) -> JsValue {
    let id = view.key_id();
    object(&[
        ("scope", id.scope().as_str().into()),
        ("operation", id.operation().as_str().into()),
        ("key", id.key().as_str().into()),
        ("state", view.state().as_str().into()),
        ("isLapsed", view.is_lapsed().into()),
        ("isVolatile", view.is_volatile().into()),
        ("fence", number(view.fence())),
        ("attempt", view.attempt().into()),
        ("effect", view.effect().as_str().into()),
        ("fingerprint", view.fingerprint().hex().map_or(JsValue::NULL, Into::into)),
        ("memo", bytes(view.memo())),
        (
            "steps",
            list(view.steps(), |step| object(&[("name", step.name.as_str().into()), ("value", bytes(&step.value))])),
        ),
        ("firstGrantedAtMs", number(view.first_granted_at_ms())),
        ("leaseEndAtMs", number_or_null(view.lease_end_ms())),
        ("settledAtMs", number_or_null(view.settled_at_ms())),
        ("retainedUntilMs", number_or_null(view.retained_until_ms())),
        ("goneAtMs", number_or_null(view.gone_at_ms())),
        ("response", view.response().map_or(JsValue::NULL, response)),
        ("parkedReason", view.parked().map_or(JsValue::NULL, |(reason, _)| reason.as_str().into())),
        ("parkedSinceMs", number_or_null(view.parked().map(|(_, since)| since))),
        ("audit", list(view.audit(), audited)),
    ])
}

fn stats(stats: &Stats) -> JsValue {
    object(&[
        ("inProgress", number(stats.in_progress)),
        ("released", number(stats.released)),
        ("completed", number(stats.completed)),
        ("failed", number(stats.failed)),
        ("parked", number(stats.parked)),
        ("tombstones", number(stats.tombstones)),
        ("fileBytes", number(stats.file_bytes)),
        ("lapsed", number(stats.lapsed.count)),
        ("due", number(stats.due.count)),
        ("oldestUnsettledAtMs", number_or_null(stats.oldest_unsettled_at_ms)),
        ("lastSweep", stats.last_sweep.as_ref().map_or(JsValue::NULL, swept)),
    ])
}

pub(crate) fn swept(swept: &keyledger::Swept) -> JsValue {
    object(&[
        ("atMs", number(swept.at_ms)),
        ("tombstoned", number(swept.tombstoned)),
        ("removed", number(swept.removed)),
        ("entriesRemoved", number(swept.entries_removed)),
        ("more", swept.more.into()),
        ("tookMs", milliseconds(swept.took)),
    ])
}
