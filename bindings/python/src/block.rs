//! Blocks whose end is not lost to Ctrl-C.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

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

/// What `end` says, which is a function of Python's, and whose first line may be where a signal is raised: then it is called again, and the
/// interrupt is told after it.
pub(crate) fn ended<'py>(
    py: Python<'py>,
    end: impl Fn() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let first = end();
    match &first {
        Err(interrupt) if !interrupt.is_instance_of::<PyException>(py) => drop(end()),
        _ => {}
    }
    first
}
