//! What Python gives: text of keys, spans of time, effects, bodies. Refused here with the core's own codes.

use std::time::Duration;

use keyledger::{Effect, Key, OperationName, Response, Scope};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyMemoryView, PyString};

use crate::error::{Told, invalid_argument};
use crate::response::PyResponse;

/// A span of time: seconds as a number, or a `timedelta`. Whose it is is said where it is used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span(f64);

impl<'py> FromPyObject<'_, 'py> for Span {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if given.is_instance_of::<PyBool>() {
            return Err(no_span(&given));
        }
        Ok(Span(given.extract::<f64>().or_else(|_| total_seconds(&given))?))
    }
}

impl Span {
    /// The span of the argument `name`.
    pub(crate) fn of(self, name: &str) -> PyResult<Duration> {
        let Span(seconds) = self;
        if seconds.is_finite() && seconds >= 0.0 {
            return Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
        }
        Err(invalid_argument(format!("{name} is {seconds} seconds; it must be zero or more, and finite")))
    }

    /// The same, where it is given.
    pub(crate) fn given(span: Option<Span>, name: &str) -> PyResult<Option<Duration>> {
        span.map(|span| span.of(name)).transpose()
    }

    /// The same; None is as long as it takes.
    pub(crate) fn or_ever(span: Option<Span>, name: &str) -> PyResult<Duration> {
        Ok(Self::given(span, name)?.unwrap_or(Duration::MAX))
    }

    /// The span of a setting.
    pub(crate) fn setting(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Duration> {
        setting::<Span>(name, value)?.of(name)
    }
}

/// A setting's value. What is of the wrong type is refused by the setting's name.
pub(crate) fn setting<'a, 'py, T: FromPyObject<'a, 'py, Error: Into<PyErr>>>(
    name: &str,
    value: &'a Bound<'py, PyAny>,
) -> PyResult<T> {
    value.extract().map_err(|error: T::Error| {
        let (error, py) = (error.into(), value.py());
        if !error.is_instance_of::<PyTypeError>(py) {
            return error;
        }
        PyTypeError::new_err(format!("argument '{name}': {}", error.value(py)))
    })
}

fn total_seconds(given: &Bound<'_, PyAny>) -> PyResult<f64> {
    let total_seconds = given.getattr_opt("total_seconds")?.ok_or_else(|| no_span(given))?;
    total_seconds.call0()?.extract()
}

fn no_span(given: &Bound<'_, PyAny>) -> PyErr {
    let what = given.get_type().name().map_or_else(|_| String::new(), |name| format!(", not {name}"));
    PyTypeError::new_err(format!("a span of time is a number of seconds or a datetime.timedelta{what}"))
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
            Err(_) => Err(PyTypeError::new_err(format!(
                "a response is a keyledger.Response, bytes, or text, not {}: keyledger.Response.json(...) makes one of a JSON value",
                given.get_type().name()?
            ))),
        }
    }
}
