//! What was asked, as 32 bytes (section 8).

use keyledger::{Fingerprint, FingerprintError, HttpRequest, Members, PointerError};
use pyo3::exceptions::{PyRecursionError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::argument::Bytes;
use crate::error::invalid_argument;
use crate::imported::Imported;
use crate::json;

/// What was asked, as a hash that tells a retry from another request under the same key; or `unchecked`, said on purpose (F7).
///
/// Example:
///
///     assert Fingerprint.of_json({"a": 1, "b": [2]}) == Fingerprint.of_json_text('{ "b": [2.0], "a": 1 }')
///     assert Fingerprint.unchecked().hex is None
#[pyclass(name = "Fingerprint", module = "keyledger", frozen, eq, hash, from_py_object)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyFingerprint(pub(crate) Fingerprint);

#[pymethods]
impl PyFingerprint {
    /// Requests under one key are not told apart, on purpose (F7).
    #[staticmethod]
    fn unchecked() -> Self {
        PyFingerprint(Fingerprint::unchecked())
    }

    /// Of byte strings (F2): no other list of them has it, however the bytes are distributed.
    #[staticmethod]
    #[pyo3(signature = (*parts))]
    fn of_bytes(parts: Vec<Bytes>) -> Self {
        let parts: Vec<&[u8]> = parts.iter().map(|Bytes(part)| part.as_slice()).collect();
        PyFingerprint(Fingerprint::of_bytes(&parts))
    }

    /// Of a JSON value: dicts, lists, text, numbers, True, False and None (F1). The order of members does not count.
    ///
    /// Raises `InvalidArgument` for what JSON cannot hold, numbers that are no finite doubles, integers that a double cannot hold, and text
    /// that UTF-8 cannot hold. Sets, dates and objects are for a `default` of your own: write them as JSON values first.
    #[staticmethod]
    #[pyo3(signature = (value, *, members=None))]
    fn of_json(value: &Bound<'_, PyAny>, members: Option<&PyMembers>) -> PyResult<Self> {
        made(Fingerprint::of_json_with(&json::value(value, None)?, &of(members)))
    }

    /// Of the arguments of a call. What JSON has no word for, `default` puts in other values, as with `json.dumps`.
    ///
    /// Raises `InvalidArgument` as `of_json`, and whatever `default` raises.
    #[staticmethod]
    fn of_arguments(arguments: &Bound<'_, PyAny>, default: &Bound<'_, PyAny>) -> PyResult<Self> {
        made(Fingerprint::of_json(&json::value(arguments, Some(default))?))
    }

    /// Of JSON text, or its bytes in UTF-8 (F1). Raises `InvalidArgument` for whatever two parsers might read in two ways.
    #[staticmethod]
    #[pyo3(signature = (text, *, members=None))]
    fn of_json_text(text: Given, members: Option<&PyMembers>) -> PyResult<Self> {
        made(Fingerprint::of_json_text_with(text.bytes(), &of(members)))
    }

    /// Of an HTTP request as it was received (F3). Never an error: a body that is not the JSON it says it is counts byte for byte.
    #[staticmethod]
    #[pyo3(
        signature = (
            method, path, *, query=Given::Text(String::new()), content_type=None, body=Given::Text(String::new()), members=None
        ),
        text_signature = "(method, path, *, query='', content_type=None, body='', members=None)"
    )]
    fn of_http(
        method: Given,
        path: Given,
        query: Given,
        content_type: Option<Given>,
        body: Given,
        members: Option<&PyMembers>,
    ) -> Self {
        let request = HttpRequest {
            method: method.bytes(),
            path: path.bytes(),
            query: query.bytes(),
            content_type: content_type.as_ref().map(Given::bytes),
            body: body.bytes(),
        };
        PyFingerprint(Fingerprint::of_http(&request, &of(members)))
    }

    /// The hash in 64 lower-case hexadecimal digits; None for `unchecked`.
    #[getter]
    fn hex(&self) -> Option<String> {
        self.0.hex()
    }

    fn __repr__(&self) -> String {
        format!("Fingerprint({})", self.0)
    }
}

/// A fingerprint as callers of `begin` give it. What it is made of is no fingerprint yet.
pub(crate) struct Print(pub(crate) Fingerprint);

impl<'py> FromPyObject<'_, 'py> for Print {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(fingerprint) = given.cast::<PyFingerprint>() {
            return Ok(Print(fingerprint.get().0));
        }
        Err(PyTypeError::new_err(format!(
            "a fingerprint is a keyledger.Fingerprint, not {}: keyledger.fingerprint(...) makes one of a JSON value",
            given.get_type().name()?
        )))
    }
}

fn made(fingerprint: Result<Fingerprint, FingerprintError>) -> PyResult<PyFingerprint> {
    fingerprint.map(PyFingerprint).map_err(|error| invalid_argument(error.to_string()))
}

/// Text, or bytes.
#[derive(FromPyObject)]
pub(crate) enum Given {
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Bytes),
}

impl Given {
    fn bytes(&self) -> &[u8] {
        match self {
            Given::Text(text) => text.as_bytes(),
            Given::Bytes(Bytes(bytes)) => bytes,
        }
    }
}

/// Which members of a JSON value a fingerprint looks at (F4), by JSON Pointers: `/order/items`.
#[pyclass(name = "Members", module = "keyledger", frozen)]
pub(crate) struct PyMembers(Members);

#[pymethods]
impl PyMembers {
    /// All but these. Raises `InvalidArgument` for what is no JSON Pointer.
    #[staticmethod]
    #[pyo3(signature = (*pointers))]
    fn leave_out(pointers: Vec<String>) -> PyResult<Self> {
        Members::leave_out(pointers.iter().map(String::as_str)).map(PyMembers).map_err(unusable)
    }

    /// These alone. Raises `InvalidArgument` for what is no JSON Pointer.
    #[staticmethod]
    #[pyo3(signature = (*pointers))]
    fn only(pointers: Vec<String>) -> PyResult<Self> {
        Members::only(pointers.iter().map(String::as_str)).map(PyMembers).map_err(unusable)
    }
}

fn unusable(error: PointerError) -> PyErr {
    invalid_argument(error.to_string())
}

fn of(members: Option<&PyMembers>) -> Members {
    members.map_or(Members::All, |members| members.0.clone())
}

/// A JSON value as text. The package brings the function that writes it.
pub(crate) fn json_text(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<String> {
    static DUMPS: Imported = Imported::new("keyledger._json", "dumps");
    written(DUMPS.get(py)?, value)
}

/// A JSON value as the body of a request: equal values are equal bytes.
pub(crate) fn json_body(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<String> {
    static BODY: Imported = Imported::new("keyledger._json", "body");
    written(BODY.get(py)?, value)
}

fn written(write: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = write.call1((value,)).and_then(|text| text.extract());
    text.map_err(|error| refused(write.py(), error))
}

/// What Python has against a value as JSON.
fn refused(py: Python<'_>, error: PyErr) -> PyErr {
    let is_about_the_value = error.is_instance_of::<PyValueError>(py)
        || error.is_instance_of::<PyTypeError>(py)
        || error.is_instance_of::<PyRecursionError>(py);
    if is_about_the_value { invalid_argument(format!("no JSON value: {}", error.value(py))) } else { error }
}
