//! Whose record it is: scope, operation and key.

use keyledger::{Key, KeyId};
use pyo3::prelude::*;

use crate::argument::{Bytes, Text};
use crate::error::Told;

/// Names a record: a scope, an operation's name, and a key.
///
/// Raises `InvalidKey` for a part that is empty, longer than 255 bytes of UTF-8, or holds a control character (L1).
#[pyclass(name = "KeyId", module = "keyledger", frozen, eq, hash, ord, from_py_object)]
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

    fn __getnewargs__(&self) -> (&str, &str, &str) {
        (self.scope(), self.operation(), self.key())
    }

    fn __repr__(&self) -> String {
        format!("KeyId({:?}, {:?}, {:?})", self.scope(), self.operation(), self.key())
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
