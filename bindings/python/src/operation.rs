//! What is being done, declared once.

use keyledger::Operation;
use pyo3::prelude::*;

use crate::argument::{Span, effect, seconds};

/// An operation: its name, its effect, and for how long it matters.
///
/// Example:
///
///     CHARGE = Operation("charge", "repeatable", lease=60, retention=30 * 24 * 3600)
#[pyclass(name = "Operation", module = "keyledger", frozen, eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct PyOperation(pub(crate) Operation);

#[pymethods]
impl PyOperation {
    #[new]
    #[pyo3(signature = (name, effect, *, lease=None, retention=None, tombstone=None, remembered_for=None, max_attempts=None))]
    fn new(
        name: String,
        #[pyo3(from_py_with = named_effect)] effect: keyledger::Effect,
        lease: Option<Span>,
        retention: Option<Span>,
        tombstone: Option<Span>,
        remembered_for: Option<Span>,
        max_attempts: Option<u32>,
    ) -> PyResult<Self> {
        let mut operation = Operation::new(effect, name);
        operation = with(operation, Span::given(lease, "lease")?, Operation::lease);
        operation = with(operation, Span::given(retention, "retention")?, Operation::retention);
        operation = with(operation, Span::given(tombstone, "tombstone")?, Operation::tombstone);
        operation = with(operation, Span::given(remembered_for, "remembered_for")?, Operation::remembered_for);
        Ok(PyOperation(with(operation, max_attempts, Operation::max_attempts)))
    }

    /// What it is called in the ledger.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// `in_ledger`, `repeatable` or `at_most_once`.
    #[getter]
    fn effect(&self) -> &'static str {
        self.0.effect().as_str()
    }

    /// For how long a claim is granted, and renewed.
    #[getter]
    fn lease_seconds(&self) -> f64 {
        seconds(self.0.lease_time())
    }

    fn __repr__(&self) -> String {
        format!("Operation({:?}, {:?})", self.0.name(), self.0.effect().as_str())
    }
}

fn named_effect(given: &Bound<'_, PyAny>) -> PyResult<keyledger::Effect> {
    effect(&given.extract::<String>()?)
}

/// The declaration, with a setting if there is one.
fn with<S>(operation: Operation, setting: Option<S>, set: impl FnOnce(Operation, S) -> Operation) -> Operation {
    match setting {
        Some(setting) => set(operation, setting),
        None => operation,
    }
}
