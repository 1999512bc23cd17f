//! What was asked, as 32 bytes (section 8).

use keyledger::{Fingerprint, Key};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The hash of a request, or said on purpose: unchecked.
#[pyclass(name = "Fingerprint", module = "keyledger", frozen, eq, hash, from_py_object)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyFingerprint(pub(crate) Fingerprint);

#[pymethods]
impl PyFingerprint {
    #[staticmethod]
    fn unchecked() -> Self {
        PyFingerprint(Fingerprint::unchecked())
    }

    /// Of byte strings (F2).
    #[staticmethod]
    #[pyo3(signature = (*parts))]
    fn of_bytes(parts: Vec<Vec<u8>>) -> Self {
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        PyFingerprint(Fingerprint::of_bytes(&parts))
    }

    /// Of JSON text (F1).
    #[staticmethod]
    fn of_json_text(text: &str) -> PyResult<Self> {
        let made = Fingerprint::of_json_text(text);
        made.map(PyFingerprint).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    #[getter]
    fn hex(&self) -> Option<String> {
        self.0.hex()
    }

    fn __repr__(&self) -> String {
        format!("Fingerprint({})", self.0)
    }
}

/// The key that a namespace and byte strings always give, in every language (F6).
#[pyfunction]
#[pyo3(signature = (namespace, *parts))]
pub(crate) fn derive_key(namespace: &str, parts: Vec<Vec<u8>>) -> String {
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    Key::derive(namespace, &parts).to_string()
}
