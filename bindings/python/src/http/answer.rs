//! Responses as values: to be sent, and as they are stored.

use keyledger::Outcome;
use keyledger_http::message::{Fields, Stored, StoredBody};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::argument::Bytes;
use crate::response::PyResponse;

/// An HTTP response as a value: `status`, `fields` (a list of names and values, in order, without Content-Length) and `body`.
///
/// `fields` takes values as `bytes`, or as `str` of Latin-1.
///
/// Example:
///
///     with ledger.claim(CHARGE, "user-7", "order-1034", fingerprint) as claim:
///         claim.complete(Answer(201, [("Content-Type", "text/plain")], b"charged").to_stored())
#[pyclass(name = "Answer", module = "keyledger.http", frozen, eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct PyAnswer(pub(crate) keyledger_http::Answer);

#[pymethods]
impl PyAnswer {
    #[new]
    #[pyo3(signature = (status, fields=Vec::new(), body=Bytes::default()), text_signature = "(status, fields=(), body=b'')")]
    fn new(status: u16, fields: Vec<(String, Value)>, body: Bytes) -> Self {
        PyAnswer(keyledger_http::Answer { status, fields: lines(fields), body: body.0 })
    }

    /// The status, such as 201.
    #[getter]
    fn status(&self) -> u16 {
        self.0.status
    }

    /// Names and values, in order.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, &self.0.fields)
    }

    /// The bytes.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.body)
    }

    /// The response to give to `complete`, `complete_with` or `fail`, to be replayed with this status and these fields, save those that
    /// are never kept (H5). `max_response_bytes` is the ledger's: in what is longer the body is omitted.
    #[pyo3(signature = (*, max_response_bytes=None))]
    fn to_stored(&self, max_response_bytes: Option<usize>) -> PyResponse {
        PyResponse(match max_response_bytes {
            Some(bytes) => self.0.to_stored_within(bytes),
            None => self.0.to_stored(),
        })
    }

    fn __repr__(&self) -> String {
        format!("Answer({}, <{} bytes>)", self.0.status, self.0.body.len())
    }
}

/// A response as the ledger keeps it: `status`, `fields`, and `body`, which is None where it was not kept.
#[pyclass(name = "Stored", module = "keyledger.http", frozen, eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct PyStored(pub(crate) Stored);

#[pymethods]
impl PyStored {
    #[new]
    fn new(status: u16, fields: Vec<(String, Value)>, body: Option<Bytes>) -> Self {
        let body = body.map_or(StoredBody::Omitted(None), |Bytes(body)| StoredBody::Kept(body));
        PyStored(Stored { status, fields: lines(fields), body })
    }

    /// Reads what an adapter of any language has stored. Of what is no HTTP message the body is that of a 200, or of a 400 where
    /// `failed` says that it was a final no.
    #[staticmethod]
    #[pyo3(signature = (response, *, failed=false))]
    fn of_response(response: &PyResponse, failed: bool) -> Self {
        let outcome = if failed { Outcome::Failed } else { Outcome::Completed };
        PyStored(Stored::of_response(&response.0, outcome))
    }

    /// The status, such as 201.
    #[getter]
    fn status(&self) -> u16 {
        self.0.status
    }

    /// Names and values, in order.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, &self.0.fields)
    }

    /// The bytes; None if they were not kept: see `omitted`.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        match &self.0.body {
            StoredBody::Kept(body) => Some(PyBytes::new(py, body)),
            StoredBody::Omitted(_) => None,
        }
    }

    /// Length in bytes and SHA-256 of a body that was not kept, where they are known.
    #[getter]
    fn omitted<'py>(&self, py: Python<'py>) -> Option<(u64, Bound<'py, PyBytes>)> {
        match &self.0.body {
            StoredBody::Omitted(Some(known)) => Some((known.length, PyBytes::new(py, &known.sha256))),
            StoredBody::Omitted(None) | StoredBody::Kept(_) => None,
        }
    }

    fn __repr__(&self) -> String {
        format!("Stored({}, {} fields)", self.0.status, self.0.fields.len())
    }
}

/// A field's value: bytes, or text of Latin-1.
pub(crate) struct Value(Vec<u8>);

impl<'py> FromPyObject<'_, 'py> for Value {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let Ok(text) = given.cast::<PyString>() else {
            let bytes = given.extract::<Bytes>();
            return bytes
                .map(|Bytes(bytes)| Value(bytes))
                .map_err(|_| PyTypeError::new_err("a field's value is bytes or text"));
        };
        let bytes: Option<Vec<u8>> =
            text.to_cow()?.chars().map(|letter| u8::try_from(u32::from(letter)).ok()).collect();
        bytes.map(Value).ok_or_else(|| PyValueError::new_err("a field's value as text has characters of Latin-1 alone"))
    }
}

fn lines(given: Vec<(String, Value)>) -> Fields {
    given.into_iter().map(|(name, Value(value))| (name, value)).collect()
}

/// Field lines, for Python.
pub(crate) fn list<'py>(py: Python<'py>, fields: &Fields) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, fields.iter().map(|(name, value)| (name, PyBytes::new(py, value))))
}
