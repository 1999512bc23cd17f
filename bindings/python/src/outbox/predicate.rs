//! A question of Python's about an entry.

use std::sync::{Arc, Mutex, PoisonError};

use keyledger::{EntryView, Outbox};
use pyo3::prelude::*;

use crate::interpreter::attached;
use crate::outbox::entry::PyEntry;

/// A callable that is asked about an entry. What it raises ends the wait, and comes out of it.
pub(super) struct Predicate {
    callable: Py<PyAny>,
    outbox: Outbox,
    raised: Raised,
}

/// What a predicate has raised.
#[derive(Clone, Default)]
pub(super) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Raises it.
    pub(super) fn check(&self) -> PyResult<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

impl Predicate {
    pub(super) fn new(callable: Py<PyAny>, outbox: &Outbox) -> (Self, Raised) {
        let raised = Raised::default();
        (Self { callable, outbox: outbox.clone(), raised: raised.clone() }, raised)
    }

    pub(super) fn says(&self, view: &EntryView) -> bool {
        let asked = attached(|py| {
            let entry = PyEntry::told(py, view.clone(), &self.outbox)?;
            self.callable.call1(py, (entry,))?.is_truthy(py)
        });
        match asked {
            Some(Ok(is_enough)) => is_enough,
            Some(Err(error)) => {
                *self.raised.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                true
            }
            // The interpreter is shutting down, and nobody waits.
            None => true,
        }
    }
}
