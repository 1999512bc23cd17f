//! A response, as the ledger keeps it.

use keyledger::{Body, Response};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::argument::Bytes;
use crate::error::invalid_argument;
use crate::fingerprint::json_text;

/// What a handler answered: a media type and a body.
///
/// Example:
///
///     assert Response.json({"charged": 990}).body == b'{"charged":990}'
///     assert Response("text/csv", b"1,2").media_type == "text/csv"
#[pyclass(name = "Response", module = "keyledger", frozen, eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct PyResponse(pub(crate) Response);

#[pymethods]
impl PyResponse {
    #[new]
    #[pyo3(signature = (media_type, body, *, omitted=None))]
    fn new(media_type: String, body: Bytes, omitted: Option<(u64, Bytes)>) -> PyResult<Self> {
        let Some((length, Bytes(sha256))) = omitted else { return Ok(PyResponse(Response::new(media_type, body.0))) };
        let sha256 = sha256.try_into().map_err(|_| invalid_argument("a SHA-256 has 32 bytes"))?;
        Ok(PyResponse(Response::of(&media_type, Body::Omitted { length, sha256 })))
    }

    /// `application/octet-stream`.
    #[staticmethod]
    fn of_bytes(body: Bytes) -> Self {
        PyResponse(Response::bytes(body.0))
    }

    /// `text/plain; charset=utf-8`.
    #[staticmethod]
    fn of_text(body: String) -> Self {
        PyResponse(Response::text(body))
    }

    /// `application/json`, of a JSON value: as `Fingerprint.of_json` takes them, and integers of any length.
    #[staticmethod]
    fn json(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(PyResponse(Response::new("application/json", json_text(py, value)?)))
    }

    /// No bytes and no media type.
    #[staticmethod]
    fn empty() -> Self {
        PyResponse(Response::empty())
    }

    /// Empty if there is none.
    #[getter]
    fn media_type(&self) -> &str {
        self.0.media_type()
    }

    /// The bytes; None if they were over the limit: see `omitted`.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.0.stored_bytes().map(|bytes| PyBytes::new(py, bytes))
    }

    /// Length and SHA-256 of a body that was over the limit (S4).
    #[getter]
    fn omitted(&self, py: Python<'_>) -> Option<(u64, Py<PyBytes>)> {
        match self.0.body() {
            Body::Omitted { length, sha256 } => Some((*length, PyBytes::new(py, sha256).unbind())),
            Body::Stored(_) => None,
        }
    }

    /// A response is data: copied, and sent to another process.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let named = PyDict::new(py);
        named.set_item("omitted", self.omitted(py))?;
        let body = PyBytes::new(py, self.0.stored_bytes().unwrap_or_default());
        Ok(((self.0.media_type(), body).into_pyobject(py)?, named))
    }

    fn __repr__(&self) -> String {
        match self.0.body() {
            Body::Stored(bytes) => format!("Response({:?}, <{} bytes>)", self.0.media_type(), bytes.len()),
            Body::Omitted { length, .. } => format!("Response({:?}, <{length} bytes, omitted>)", self.0.media_type()),
        }
    }
}
