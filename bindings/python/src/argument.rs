//! What Python gives: text of keys, spans of time, effects, bodies. Refused here with the core's own codes.

use std::time::Duration;

use keyledger::{Effect, Key, OperationName, Response, Scope};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};

use crate::error::{Told, invalid_argument};
use crate::response::PyResponse;

/// A span of time: seconds as a number, or a `timedelta`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span(pub(crate) Duration);

impl<'py> FromPyObject<'_, 'py> for Span {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let number = given.extract::<f64>().or_else(|_| total_seconds(&given))?;
        if number.is_nan() || number < 0.0 {
            return Err(invalid_argument(format!("a span of {number} seconds; it must be zero or more")));
        }
        Ok(Span(Duration::try_from_secs_f64(number).unwrap_or(Duration::MAX)))
    }
}

impl Span {
    /// None is as long as it takes.
    pub(crate) fn or_ever(span: Option<Span>) -> Duration {
        span.map_or(Duration::MAX, |Span(span)| span)
    }
}

fn total_seconds(given: &Bound<'_, PyAny>) -> PyResult<f64> {
    let Some(total_seconds) = given.getattr_opt("total_seconds")? else {
        return Err(PyTypeError::new_err("a span of time is a number of seconds, or a datetime.timedelta"));
    };
    total_seconds.call0()?.extract()
}

/// Seconds, for Python.
pub(crate) fn seconds(span: Duration) -> f64 {
    span.as_secs_f64()
}

/// A part of a key id as Python has it. Text that UTF-8 cannot hold is refused by L1, not by the language.
#[derive(Debug)]
pub(crate) struct Text(Vec<u8>);

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let text = given.cast::<PyString>()?;
        if let Ok(utf8) = text.to_cow() {
            return Ok(Text(utf8.as_bytes().to_vec()));
        }
        let bytes = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
        Ok(Text(bytes.cast::<PyBytes>()?.as_bytes().to_vec()))
    }
}

impl Text {
    pub(crate) fn scope(&self) -> Told<Scope> {
        Ok(Scope::from_utf8(&self.0)?)
    }

    pub(crate) fn operation(&self) -> Told<OperationName> {
        Ok(OperationName::from_utf8(&self.0)?)
    }

    pub(crate) fn key(&self) -> Told<Key> {
        Ok(Key::from_utf8(&self.0)?)
    }
}

/// Bytes: `bytes`, `bytearray` or a `memoryview`. A list of numbers is none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl<'py> FromPyObject<'_, 'py> for Bytes {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = given.cast::<PyBytes>() {
            return Ok(Bytes(bytes.as_bytes().to_vec()));
        }
        if let Ok(bytes) = given.cast::<PyByteArray>() {
            return Ok(Bytes(bytes.to_vec()));
        }
        if given.cast::<PyMemoryView>().is_ok() {
            return Ok(Bytes(given.call_method0("tobytes")?.cast::<PyBytes>()?.as_bytes().to_vec()));
        }
        let what = given.get_type().name()?;
        Err(PyTypeError::new_err(format!("bytes are wanted here: bytes, bytearray or memoryview, not {what}")))
    }
}

/// An effect by its name.
pub(crate) fn effect(name: &str) -> PyResult<Effect> {
    let names = || Effect::ALL.map(Effect::as_str).join(", ");
    Effect::named(name).ok_or_else(|| PyValueError::new_err(format!("an effect is one of {}; not {name}", names())))
}

/// A response as callers give it: a `Response`, bytes, or text.
pub(crate) struct Answer(pub(crate) Response);

impl<'py> FromPyObject<'_, 'py> for Answer {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(response) = given.cast::<PyResponse>() {
            return Ok(Answer(response.get().0.clone()));
        }
        if let Ok(text) = given.cast::<PyString>() {
            return Ok(Answer(Response::text(text.to_cow()?)));
        }
        match given.extract::<Bytes>() {
            Ok(Bytes(bytes)) => Ok(Answer(Response::bytes(bytes))),
            Err(_) => Err(PyTypeError::new_err("a response is a keyledger.Response, bytes, or text")),
        }
    }
}
