//! The settings of an outbox, as keyword arguments.

use keyledger::{Lane, Ledger, OnStuckHead, Outbox, OutboxBuilder};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::argument::{Span, setting};
use crate::error::{Told, invalid_argument};

/// A lane: an ordering key among entries. The lane `default` is always there, and is unordered unless it is declared otherwise.
///
/// Example:
///
///     outbox = ledger.outbox(lanes=[Lane.ordered("orders", on_stuck_head="skip"), Lane.unordered("mail")])
#[pyclass(name = "Lane", module = "keyledger", frozen, eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct PyLane(Lane);

#[pymethods]
impl PyLane {
    /// First in, first out, one in flight at a time in each scope. What a dead, unknown or held head does to those behind it:
    /// `block` (they wait until somebody has decided about it) or `skip`.
    #[staticmethod]
    #[pyo3(signature = (name, *, on_stuck_head="block"))]
    fn ordered(name: String, on_stuck_head: &str) -> PyResult<Self> {
        let what = match on_stuck_head {
            "block" => OnStuckHead::Block,
            "skip" => OnStuckHead::Skip,
            other => return Err(invalid_argument(format!("on_stuck_head is block or skip; not {other}"))),
        };
        Ok(Self(Lane::ordered(name).on_stuck_head(what)))
    }

    /// By due time, many at once.
    #[staticmethod]
    fn unordered(name: String) -> Self {
        Self(Lane::unordered(name))
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// Opens the outbox of a ledger with the settings that were given.
pub(crate) fn open(py: Python<'_>, ledger: &Ledger, settings: Option<&Bound<'_, PyDict>>) -> Told<Outbox> {
    let mut builder = ledger.outbox();
    for (name, value) in settings.into_iter().flat_map(PyDictMethods::iter) {
        if !value.is_none() {
            builder = set(builder, name.extract()?, &value)?;
        }
    }
    Ok(py.detach(|| builder.open())?)
}

fn set(builder: OutboxBuilder, name: &str, value: &Bound<'_, PyAny>) -> PyResult<OutboxBuilder> {
    let span = || Span::setting(name, value);
    Ok(match name {
        "lanes" => {
            setting::<Vec<PyLane>>(name, value)?.into_iter().fold(builder, |builder, PyLane(lane)| builder.lane(lane))
        }
        "lease" => builder.lease(span()?),
        "backoff" => {
            let (base, cap, multiplier): (Span, Span, _) = setting(name, value)?;
            builder.backoff(base.of(name)?, cap.of(name)?, multiplier)
        }
        "max_tries" => builder.max_tries(setting(name, value)?),
        "max_age" => builder.max_age(span()?),
        "resend_window" => builder.resend_window(span()?),
        "purpose_retention" => builder.purpose_retention(span()?),
        "retention" => builder.retention(span()?),
        "retry_after_max" => builder.retry_after_max(span()?),
        "retry_budget" => {
            let (retries, refill): (_, Span) = setting(name, value)?;
            builder.retry_budget(retries, refill.of(name)?)
        }
        "bounds" => {
            let (entries, bytes) = setting(name, value)?;
            builder.bounds(entries, bytes)
        }
        "max_request_bytes" => builder.max_request_bytes(setting(name, value)?),
        // For tests that show what it is for.
        "_without_jitter" if value.is_truthy()? => builder.without_jitter(),
        "_without_jitter" => builder,
        other => return Err(PyTypeError::new_err(format!("an outbox has no setting {other}"))),
    })
}
