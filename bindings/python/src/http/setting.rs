//! Settings of a route, by name.

use std::collections::HashMap;

use keyledger::Members;
use keyledger_http::{Case, Route, RouteOperation};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::hooks;
use crate::argument::{Span, effect};
use crate::error::invalid_argument;
use crate::operation::PyOperation;

/// An operation as a route takes it: declared, or an effect alone.
pub(crate) fn operation(given: &Bound<'_, PyAny>) -> PyResult<RouteOperation> {
    if let Ok(declared) = given.cast::<PyOperation>() {
        return Ok(declared.get().0.clone().into());
    }
    let Ok(name) = given.cast::<PyString>() else {
        return Err(PyTypeError::new_err("a route takes an effect, or a keyledger.Operation"));
    };
    Ok(effect(&name.to_cow()?)?.into())
}

/// The route with its settings; one that is None is the default.
pub(crate) fn with_all(route: Route, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Route> {
    let Some(settings) = settings else { return Ok(route) };
    settings
        .iter()
        .filter(|(_, value)| !value.is_none())
        .try_fold(route, |route, (name, value)| with(route, &name.extract::<String>()?, &value))
}

fn with(route: Route, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Route> {
    let span = || Span::setting(name, value);
    Ok(match name {
        "lease" => route.lease(span()?),
        "retention" => route.retention(span()?),
        "tombstone" => route.tombstone(span()?),
        "wait" => route.wait(span()?),
        "methods" => told(route.methods(value.extract::<Vec<String>>()?))?,
        "other_methods" => folded(value, route, |route, name| told(route.other_method(name)))?,
        "leave_out" => route.members(told(Members::leave_out(texts(value)?.iter().map(String::as_str)))?),
        "only" => route.members(told(Members::only(texts(value)?.iter().map(String::as_str)))?),
        "statuses" => statuses(route, value.extract()?)?,
        "documentation" => route.documentation(value.extract::<String>()?),
        "not_kept" => folded(value, route, |route, name| told(route.not_kept(name)))?,
        "keep" => route.keep(hooks::keep(value.clone().unbind())),
        "redact" => route.redact(hooks::redact(value.clone().unbind())),
        "max_body_bytes" => route.max_body_bytes(value.extract()?),
        "max_request_bytes" => route.max_request_bytes(value.extract()?),
        "stream" if value.extract()? => route.stream(),
        "stream" => route,
        unknown => return Err(PyTypeError::new_err(format!("a route has no setting {unknown}"))),
    })
}

fn statuses(route: Route, by_case: HashMap<String, u16>) -> PyResult<Route> {
    by_case.into_iter().try_fold(route, |route, (name, status)| told(route.status(case(&name)?, status)))
}

/// A case by its name.
pub(crate) fn case(name: &str) -> PyResult<Case> {
    Case::named(name).ok_or_else(|| invalid_argument(format!("there is no case {name}")))
}

/// A list of texts; one text is a slip, not a list of its letters.
fn texts(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    value.extract()
}

fn folded(
    value: &Bound<'_, PyAny>,
    route: Route,
    set: impl FnMut(Route, String) -> PyResult<Route>,
) -> PyResult<Route> {
    texts(value)?.into_iter().try_fold(route, set)
}

fn told<T, E: std::fmt::Display>(set: Result<T, E>) -> PyResult<T> {
    set.map_err(|refused| invalid_argument(refused.to_string()))
}
