//! Blocks whose end is not lost to what a signal's handler raises.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::imported::Imported;

/// A block as `with` takes it. How it ends is `leave` of the class that inherits from this one.
#[pyclass(module = "keyledger._native", subclass, frozen)]
pub(crate) struct Block {}

#[pymethods]
impl Block {
    #[new]
    #[pyo3(signature = (*_args, **_named))]
    fn new(_args: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> Self {
        Self {}
    }

    /// Ends it, by `leave`, whatever interrupts that.
    fn __exit__<'py>(
        slf: &Bound<'py, Self>,
        _class: &Bound<'py, PyAny>,
        error: &Bound<'py, PyAny>,
        _traceback: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        ended(slf.py(), || slf.call_method1("leave", (error,)))
    }
}

/// What `end` says, which is a function of Python's, and in which a signal's error may be raised: then it is called again, and that error is
/// told after it. The ledger's own errors are its answer.
pub(crate) fn ended<'py>(
    py: Python<'py>,
    end: impl Fn() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let first = end();
    if first.as_ref().is_err_and(|error| !is_own(py, error)) {
        drop(end());
    }
    first
}

/// Whether it is the ledger's own. So is whatever is raised when the interpreter shuts down, and nothing can be looked up any more.
fn is_own(py: Python<'_>, error: &PyErr) -> bool {
    static OWN: Imported = Imported::new("keyledger.errors", "KeyledgerError");
    OWN.get(py).and_then(|own| error.value(py).is_instance(own)).unwrap_or(true)
}
