//! What the native half asks of Python's modules, looked up once.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// A name of a module's. An import may let another thread have the interpreter, and that thread may fork: a cell that is being filled then
/// would stay so in the child for ever (P3). So the import is made before the cell is asked.
pub(crate) struct Imported {
    module: &'static str,
    name: &'static str,
    found: PyOnceLock<Py<PyAny>>,
}

impl Imported {
    pub(crate) const fn new(module: &'static str, name: &'static str) -> Self {
        Self { module, name, found: PyOnceLock::new() }
    }

    pub(crate) fn get<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        if let Some(found) = self.found.get(py) {
            return Ok(found.bind(py));
        }
        let found = py.import(self.module)?.getattr(self.name)?.unbind();
        Ok(self.found.get_or_init(py, || found).bind(py))
    }
}
