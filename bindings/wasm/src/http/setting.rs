//! Settings of a route, by name.

use js_sys::{Array, Function, Object};
use keyledger::Members;
use keyledger_http::{Case, Route};
use wasm_bindgen::prelude::*;

use super::hooks;
use crate::argument::{count, span};
use crate::error::{Told, invalid_argument};

/// The route with its settings: names and values by turns.
pub(crate) fn with_all(route: Route, settings: &Array) -> Told<Route> {
    let words: Vec<JsValue> = settings.iter().collect();
    words.chunks_exact(2).try_fold(route, |route, pair| {
        let name = pair[0].as_string().unwrap_or_default();
        with(route, &name, &pair[1])
    })
}

fn with(route: Route, name: &str, value: &JsValue) -> Told<Route> {
    let number = || value.as_f64().unwrap_or(f64::NAN);
    Ok(match name {
        "leaseMs" => route.lease(span(number())?),
        "retentionMs" => route.retention(span(number())?),
        "tombstoneMs" => route.tombstone(span(number())?),
        "waitMs" => route.wait(span(number())?),
        "methods" => told(route.methods(texts(name, value)?))?,
        "otherMethods" => {
            texts(name, value)?.into_iter().try_fold(route, |route, name| told(route.other_method(name)))?
        }
        "leaveOut" => route.members(told(Members::leave_out(texts(name, value)?.iter().map(String::as_str)))?),
        "only" => route.members(told(Members::only(texts(name, value)?.iter().map(String::as_str)))?),
        "statuses" => statuses(route, value)?,
        "documentation" => route.documentation(value.as_string().unwrap_or_default()),
        "notKept" => texts(name, value)?.into_iter().try_fold(route, |route, name| told(route.not_kept(name)))?,
        "keep" => route.keep(hooks::keep(function(name, value)?)),
        "redact" => route.redact(hooks::redact(function(name, value)?)),
        "maxBodyBytes" => route.max_body_bytes(count("a longest body", number())?),
        "maxRequestBytes" => route.max_request_bytes(count("a longest request", number())?),
        "stream" if value.is_truthy() => route.stream(),
        "stream" => route,
        unknown => return Err(invalid_argument(format!("a route has no setting {unknown}"))),
    })
}

fn statuses(route: Route, by_case: &JsValue) -> Told<Route> {
    Object::entries(by_case.unchecked_ref()).iter().try_fold(route, |route, entry| {
        let entry = Array::from(&entry);
        let name = entry.get(0).as_string().unwrap_or_default();
        let case = Case::named(&name).ok_or_else(|| invalid_argument(format!("there is no case {name}")))?;
        let number = entry.get(1).as_f64().filter(|number| (0.0..1000.0).contains(number)).unwrap_or_default();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is below 1000, and not below 0"
        )]
        told(route.status(case, number as u16))
    })
}

/// A list of texts; one text is a slip, not a list of its letters.
fn texts(name: &str, value: &JsValue) -> Told<Vec<String>> {
    let list = value.dyn_ref::<Array>();
    let texts = list.and_then(|list| list.iter().map(|text| text.as_string()).collect());
    texts.ok_or_else(|| invalid_argument(format!("{name} is a list of texts")))
}

fn function(name: &str, value: &JsValue) -> Told<Function> {
    value.dyn_ref::<Function>().cloned().ok_or_else(|| invalid_argument(format!("{name} is a function")))
}

fn told<T, E: std::fmt::Display>(set: Result<T, E>) -> Told<T> {
    set.map_err(|refused| invalid_argument(refused.to_string()))
}
