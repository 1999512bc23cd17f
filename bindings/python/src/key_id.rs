//! Whose record it is: scope, operation and key.

use keyledger::{Key, KeyId};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyIterator, PyTuple};

use crate::argument::{Bytes, Text};
use crate::error::Told;

/// Names a record: a scope, an operation's name, and a key. It unpacks as the three, and is equal to a tuple of them.
///
/// Raises `InvalidKey` for a part that is empty, longer than 255 bytes of UTF-8, or holds a control character (L1).
#[pyclass(name = "KeyId", module = "keyledger", frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct PyKeyId(pub(crate) KeyId);

#[pymethods]
impl PyKeyId {
    #[new]
    fn new(scope: Text, operation: Text, key: Text) -> Told<Self> {
        Ok(PyKeyId(KeyId::of_parts(scope.scope()?, operation.operation()?, key.key()?)))
    }

    /// Whose key it is.
    #[getter]
    fn scope(&self) -> &str {
        self.0.scope().as_str()
    }

    /// What is being done.
    #[getter]
    fn operation(&self) -> &str {
        self.0.operation().as_str()
    }

    /// The caller's name for one thing it wants done.
    #[getter]
    fn key(&self) -> &str {
        self.0.key().as_str()
    }

    /// The key that a claim on this record derives for a downstream call (E3): equal on every attempt, in every language.
    fn derive_key(&self, name: &str) -> String {
        self.0.derive_key(name).as_str().to_owned()
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (self.scope(), self.operation(), self.key()).into_pyobject(py)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.__getnewargs__(py)?.try_iter()
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.__getnewargs__(py)?.len())
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.__getnewargs__(py)?.as_any().get_item(index)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.__getnewargs__(py)?.hash()
    }

    fn __richcmp__<'py>(&self, other: &Bound<'py, PyAny>, how: CompareOp) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let other = match other.cast::<Self>() {
            Ok(id) => id.get().__getnewargs__(py)?.into_any(),
            Err(_) if other.is_instance_of::<PyTuple>() => other.clone(),
            Err(_) => return Ok(py.NotImplemented().into_bound(py)),
        };
        self.__getnewargs__(py)?.rich_compare(other, how)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("KeyId{}", self.__getnewargs__(py)?.repr()?))
    }
}

/// A key that depends on `namespace` and `parts` alone: a UUID, equal in every language (F6).
///
/// Example:
///
///     assert derive_key("my shop", b"cart 42") == derive_key("my shop", b"cart 42")
#[pyfunction]
#[pyo3(signature = (namespace, *parts))]
pub(crate) fn derive_key(namespace: &str, parts: Vec<Bytes>) -> String {
    let parts: Vec<&[u8]> = parts.iter().map(|Bytes(part)| part.as_slice()).collect();
    Key::derive(namespace, &parts).as_str().to_owned()
}
