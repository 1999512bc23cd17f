//! How a scenario's outbox is opened.

use std::time::Duration;

use keyledger::{Error, Lane, Ledger, OnStuckHead, Outbox, OutboxBuilder};
use serde::Deserialize;
use serde_json::Value;

use super::super::values::text;

#[derive(Deserialize)]
struct Settings {
    #[serde(default)]
    lanes: Vec<Declared>,
    lease_ms: Option<u64>,
    backoff: Option<Backoff>,
    max_tries: Option<u32>,
    max_age_ms: Option<u64>,
    resend_window_ms: Option<u64>,
    purpose_retention_ms: Option<u64>,
    retention_ms: Option<u64>,
    retry_after_max_ms: Option<u64>,
    retry_budget: Option<Budget>,
    bounds: Option<Bounds>,
    max_request_bytes: Option<usize>,
}

#[derive(Deserialize)]
struct Declared {
    name: Value,
    ordered: bool,
    on_stuck_head: Option<String>,
}

#[derive(Deserialize)]
struct Backoff {
    base_ms: u64,
    cap_ms: u64,
    multiplier: u32,
}

#[derive(Deserialize)]
struct Budget {
    retries: u32,
    refill_ms: u64,
}

#[derive(Deserialize)]
struct Bounds {
    entries: u64,
    bytes: u64,
}

/// Opens an outbox with these settings; what they do not say has the default of section 12.
pub(in super::super) fn open(ledger: &Ledger, settings: &Value) -> Result<Outbox, Error> {
    let settings: Settings =
        serde_json::from_value(settings.clone()).unwrap_or_else(|error| panic!("settings of the outbox: {error}"));
    let lanes: Vec<Lane> = settings.lanes.iter().map(lane).collect();
    lanes.into_iter().fold(built(ledger, &settings), OutboxBuilder::lane).open()
}

fn built(ledger: &Ledger, settings: &Settings) -> OutboxBuilder {
    let builder = ledger.outbox();
    let ms = Duration::from_millis;
    let builder = given(builder, settings.lease_ms, |builder, lease| builder.lease(ms(lease)));
    let builder = given(builder, settings.backoff.as_ref(), |builder, backoff| {
        builder.backoff(ms(backoff.base_ms), ms(backoff.cap_ms), backoff.multiplier)
    });
    let builder = given(builder, settings.max_tries, OutboxBuilder::max_tries);
    let builder = given(builder, settings.max_age_ms, |builder, age| builder.max_age(ms(age)));
    let builder = given(builder, settings.resend_window_ms, |builder, window| builder.resend_window(ms(window)));
    let builder = given(builder, settings.purpose_retention_ms, |builder, span| builder.purpose_retention(ms(span)));
    let builder = given(builder, settings.retention_ms, |builder, span| builder.retention(ms(span)));
    let builder = given(builder, settings.retry_after_max_ms, |builder, span| builder.retry_after_max(ms(span)));
    let builder = given(builder, settings.retry_budget.as_ref(), |builder, budget| {
        builder.retry_budget(budget.retries, ms(budget.refill_ms))
    });
    let builder =
        given(builder, settings.bounds.as_ref(), |builder, bounds| builder.bounds(bounds.entries, bounds.bytes));
    given(builder, settings.max_request_bytes, OutboxBuilder::max_request_bytes)
}

fn given<T>(
    builder: OutboxBuilder,
    setting: Option<T>,
    set: impl FnOnce(OutboxBuilder, T) -> OutboxBuilder,
) -> OutboxBuilder {
    match setting {
        Some(setting) => set(builder, setting),
        None => builder,
    }
}

fn lane(declared: &Declared) -> Lane {
    let name = text(&declared.name);
    let lane = if declared.ordered { Lane::ordered(name) } else { Lane::unordered(name) };
    match declared.on_stuck_head.as_deref() {
        None => lane,
        Some("block") => lane.on_stuck_head(OnStuckHead::Block),
        Some("skip") => lane.on_stuck_head(OnStuckHead::Skip),
        Some(other) => panic!("nothing a lane does is called {other}"),
    }
}
