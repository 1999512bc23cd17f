//! Functions of Python's that a route calls.

use keyledger::Effect;
use keyledger_http::message::Stored;
use keyledger_http::{Keep, by_status};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::answer::PyStored;
use crate::interpreter::attached;

/// H6: a function that raises, or says no word of ours, decides nothing. Python tells of it as of all that nobody can be told.
pub(crate) fn keep(function: Py<PyAny>) -> impl Fn(u16, Effect) -> Keep + Send + Sync + 'static {
    move |status, effect| {
        let decided = attached(|py| {
            let function = function.bind(py);
            decided(function, status, effect).unwrap_or_else(|error| {
                error.write_unraisable(py, Some(function));
                None
            })
        });
        decided.flatten().unwrap_or_else(|| by_status(status, effect))
    }
}

fn decided(function: &Bound<'_, PyAny>, status: u16, effect: Effect) -> PyResult<Option<Keep>> {
    let Some(word) = function.call1((status, effect.as_str()))?.extract::<Option<String>>()? else { return Ok(None) };
    let unknown = || PyValueError::new_err(format!("keep says complete, fail, release, park or None; not {word}"));
    Keep::named(&word).map(Some).ok_or_else(unknown)
}

/// H5: one that raises, or returns nothing, has failed, and the body is omitted.
pub(crate) fn redact(function: Py<PyAny>) -> impl Fn(Stored) -> Option<Stored> + Send + Sync + 'static {
    move |stored| {
        let redacted = attached(|py| {
            let function = function.bind(py);
            let redacted = function.call1((PyStored(stored),)).and_then(|told| Ok(told.extract::<Option<PyStored>>()?));
            match redacted {
                Ok(redacted) => redacted.map(|PyStored(stored)| stored),
                Err(error) => {
                    error.write_unraisable(py, Some(function));
                    None
                }
            }
        });
        redacted.flatten()
    }
}
