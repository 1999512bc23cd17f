//! Sweeping and recovery by itself.

use std::sync::{Mutex, PoisonError};

use keyledger::{Claim, Error, Janitor, Settlement};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::argument::{Span, seconds};
use crate::claim::PyClaim;
use crate::error::{Told, exception};
use crate::keeping::PySwept;
use crate::ledger::PyLedger;
use crate::operation::PyOperation;

/// Sweeps what is due and runs recovery handlers, on a thread of its own or a step at a time with `tick`.
///
/// Arguments: `interval` between steps (60 seconds, give or take a fifth), `batch` (1,000 records to a transaction), `recover`, pairs of an
/// operation and a handler: it is given the claim on a lapsed or parked record, finds out what happened, and settles it; an error of it
/// ends the lease. `on_error` is called with the exception when a step fails; it is tried again with backoff.
///
/// Example:
///
///     with Janitor(ledger, interval=30, recover=[(CHARGE, lambda claim: claim.complete("found in the bank's log"))]):
///         pass  # the program
#[pyclass(name = "Janitor", module = "keyledger", frozen)]
pub(crate) struct PyJanitor(Mutex<Option<Janitor>>);

/// What a step of a janitor did.
#[pyclass(module = "keyledger", frozen, get_all)]
pub(crate) struct Tick {
    /// The sweep; None in quiet hours, and while the wall clock has run away (L7).
    swept: Option<PySwept>,
    /// How many records were handed to recovery handlers.
    recovered: u64,
    /// In how many seconds to call again.
    next_in_seconds: f64,
}

#[pymethods]
impl PyJanitor {
    #[new]
    #[pyo3(signature = (ledger, *, interval=None, batch=None, recover=Vec::new(), on_error=None, start=true))]
    fn new(
        ledger: &PyLedger,
        interval: Option<Span>,
        batch: Option<usize>,
        recover: Vec<(PyOperation, Py<PyAny>)>,
        on_error: Option<Py<PyAny>>,
        start: bool,
    ) -> Told<Self> {
        let mut builder = Janitor::builder(&ledger.0);
        if let Some(Span(interval)) = interval {
            builder = builder.interval(interval);
        }
        if let Some(batch) = batch {
            builder = builder.batch(batch);
        }
        for (operation, handler) in recover {
            builder = builder.recover(&operation.0, move |claim| found_out(claim, &handler));
        }
        if let Some(on_error) = on_error {
            builder = builder.on_error(move |error| tell(error, &on_error));
        }
        let janitor = if start { builder.start() } else { builder.build() };
        Ok(PyJanitor(Mutex::new(Some(janitor?))))
    }

    /// Does what is due in one bounded step: for a janitor that was made with `start=False`.
    fn tick(&self, py: Python<'_>) -> PyResult<Tick> {
        let ticked = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Janitor::tick));
        let ticked = ticked.ok_or_else(|| PyRuntimeError::new_err("the janitor was stopped"))?;
        let ticked = ticked.map_err(|error| exception(py, &error))?;
        Ok(Tick {
            swept: ticked.swept.map(PySwept),
            recovered: ticked.recovered,
            next_in_seconds: seconds(ticked.next_in),
        })
    }

    /// Ends the thread, and waits until it has.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: Vec<Py<PyAny>>) -> bool {
        self.stop(py);
        false
    }
}

impl Drop for PyJanitor {
    /// The thread may be waiting for the interpreter that this drop holds.
    fn drop(&mut self) {
        let _ = Python::try_attach(|py| self.stop(py));
    }
}

/// What the handler made of the claim. It settles the claim itself; an error ends the lease, or parks the record again.
fn found_out(claim: &mut Claim, handler: &Py<PyAny>) -> Result<Settlement, Box<dyn std::error::Error + Send + Sync>> {
    let done = Python::try_attach(|py| -> PyResult<Option<Claim>> {
        let object = Py::new(py, PyClaim::new(claim.take()))?;
        let called = handler.call1(py, (&object,));
        let left = object.get().surrender().filter(Claim::is_open);
        called.map(|_| left)
    });
    match done {
        Some(Ok(None)) => Ok(Settlement::Release),
        Some(Ok(Some(_unsettled))) => Err("the handler has not settled the claim".into()),
        Some(Err(raised)) => Err(Box::new(raised)),
        None => Err(Box::new(Error::Unavailable("the interpreter is shutting down".into()))),
    }
}

fn tell(error: &Error, on_error: &Py<PyAny>) {
    let _ = Python::try_attach(|py| {
        if let Err(raised) = on_error.call1(py, (exception(py, error).into_value(py),)) {
            raised.write_unraisable(py, Some(on_error.bind(py)));
        }
    });
}
