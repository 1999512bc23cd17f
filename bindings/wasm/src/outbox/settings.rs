//! The settings of an outbox.

use js_sys::Array;
use keyledger::{Lane, Ledger, OnStuckHead, Outbox, OutboxBuilder};
use wasm_bindgen::JsValue;

use crate::argument::{count, span};
use crate::error::{Told, failed, invalid_argument};

/// Opens the outbox of a ledger with the settings that were given.
pub(super) fn open(ledger: &Ledger, settings: &Array) -> Told<Outbox> {
    let set = |builder, setting: JsValue| set(builder, &Array::from(&setting));
    settings.iter().try_fold(ledger.outbox(), set)?.open().map_err(failed)
}

fn set(builder: OutboxBuilder, words: &Array) -> Told<OutboxBuilder> {
    let text = |at: u32| words.get(at).as_string().unwrap_or_default();
    let given = |at: u32| words.get(at).as_f64().unwrap_or(f64::NAN);
    let (name, ms) = (text(0), |at| span(given(at)));
    let whole = |at| count(&name, given(at));
    let few = |at| Ok::<_, JsValue>(u32::try_from(whole(at)?).unwrap_or(u32::MAX));
    Ok(match name.as_str() {
        "ordered" => builder.lane(Lane::ordered(text(1)).on_stuck_head(on_stuck_head(&text(2))?)),
        "unordered" => builder.lane(Lane::unordered(text(1))),
        "leaseMs" => builder.lease(ms(1)?),
        "backoff" => builder.backoff(ms(1)?, ms(2)?, few(3)?),
        "maxTries" => builder.max_tries(few(1)?),
        "maxAgeMs" => builder.max_age(ms(1)?),
        "resendWindowMs" => builder.resend_window(ms(1)?),
        "purposeRetentionMs" => builder.purpose_retention(ms(1)?),
        "retentionMs" => builder.retention(ms(1)?),
        "retryAfterMaxMs" => builder.retry_after_max(ms(1)?),
        "retryBudget" => builder.retry_budget(few(1)?, ms(2)?),
        "bounds" => builder.bounds(whole(1)? as u64, whole(2)? as u64),
        "maxRequestBytes" => builder.max_request_bytes(whole(1)?),
        // For tests that show what it is for.
        "withoutJitter" => builder.without_jitter(),
        other => return Err(invalid_argument(format!("an outbox has no setting {other}"))),
    })
}

fn on_stuck_head(what: &str) -> Told<OnStuckHead> {
    match what {
        "block" => Ok(OnStuckHead::Block),
        "skip" => Ok(OnStuckHead::Skip),
        other => Err(invalid_argument(format!("onStuckHead is block or skip; not {other}"))),
    }
}
