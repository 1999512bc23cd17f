//! Sweeping and recovery by itself.

use std::sync::{Arc, Mutex, PoisonError};

use keyledger::{Claim, Error, Janitor, JanitorBuilder, Settlement, Stats};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::argument::{Span, seconds};
use crate::claim::PyClaim;
use crate::error::{Told, exception, tell_program};
use crate::growth::PyGrowth;
use crate::interpreter::attached;
use crate::keeping::{PyStats, PySwept};
use crate::ledger::PyLedger;
use crate::operation::PyOperation;
use crate::patience::left_behind;

/// Sweeps what is due and runs recovery handlers, on a thread of its own or a step at a time with `tick`.
///
/// Arguments: `interval` between steps (60 seconds, give or take a fifth), `batch` (1,000 records to a transaction), `recover`, pairs of an
/// operation and a handler: it is given the claim on a lapsed or parked record, finds out what happened, and settles it; an error of it
/// ends the lease. `quiet` is asked with the wall clock (milliseconds since 1970 UTC) before each step: while it says True, nothing is
/// swept. `on_growth`, pairs of a `Growth` and an alert: it is called with both the `Growth` and the `Stats` each time that figure rises to
/// the threshold (T4).
///
/// `on_error` is called with every exception: that of a step, which is tried again with backoff, and whatever a handler, `quiet` or an alert
/// raises. Without it they are logged by the logger `keyledger`.
///
/// Example:
///
///     with Janitor(ledger, interval=30, recover=[(CHARGE, lambda claim: claim.complete("found in the bank's log"))]):
///         pass  # the program
#[pyclass(name = "Janitor", module = "keyledger._native", subclass, frozen, weakref)]
pub(crate) struct PyJanitor(Mutex<Option<Arc<Janitor>>>);

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
    #[pyo3(
        signature = (
            ledger, *, interval=None, batch=None, quiet=None, recover=Vec::new(), on_growth=Vec::new(), on_error=None, start=true
        ),
        text_signature = "(ledger, *, interval=None, batch=None, quiet=None, recover=(), on_growth=(), on_error=None, start=True)"
    )]
    fn new(
        ledger: &PyLedger,
        interval: Option<Span>,
        batch: Option<usize>,
        quiet: Option<Py<PyAny>>,
        recover: Vec<(PyOperation, Py<PyAny>)>,
        on_growth: Vec<(PyGrowth, Py<PyAny>)>,
        on_error: Option<Py<PyAny>>,
        start: bool,
    ) -> Told<Self> {
        let program = Program(on_error.map(Arc::new));
        let mut builder = Janitor::builder(&ledger.0);
        if let Some(interval) = Span::given(interval, "interval")? {
            builder = builder.interval(interval);
        }
        if let Some(batch) = batch {
            builder = builder.batch(batch);
        }
        if let Some(quiet) = quiet {
            builder = with_quiet_hours(builder, quiet, program.clone());
        }
        for (operation, handler) in recover {
            let program = program.clone();
            builder = builder.recover(&operation.0, move |claim| found_out(claim, &handler, &program));
        }
        for (growth, alert) in on_growth {
            builder = with_alert(builder, growth, alert, program.clone());
        }
        builder =
            builder.on_error(move |error| program.hear(|py| exception(py, error), "a step of the janitor failed"));
        let janitor = if start { builder.start() } else { builder.build() };
        Ok(PyJanitor(Mutex::new(Some(Arc::new(janitor?)))))
    }

    /// Does what is due in one bounded step: for a janitor that was made with `start=False`.
    fn tick(&self, py: Python<'_>) -> PyResult<Tick> {
        let janitor = self.held().clone().ok_or_else(|| PyRuntimeError::new_err("the janitor was stopped"))?;
        let ticked = py.detach(move || janitor.tick()).map_err(|error| exception(py, &error))?;
        Ok(Tick {
            swept: ticked.swept.map(PySwept),
            recovered: ticked.recovered,
            next_in_seconds: seconds(ticked.next_in),
        })
    }

    /// Ends the thread, and waits until it has, with the handler that it is in. Ctrl-C ends the wait. From inside a handler it waits for
    /// nothing.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let janitor = self.held().take();
        janitor.map_or(Ok(()), |janitor| left_behind(py, move || drop(janitor)))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: Vec<Py<PyAny>>) -> PyResult<bool> {
        self.stop(py).map(|()| false)
    }
}

impl PyJanitor {
    fn held(&self) -> std::sync::MutexGuard<'_, Option<Arc<Janitor>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PyJanitor {
    /// The thread may be waiting for the interpreter that this drop holds. Before the interpreter shuts down, `keyledger._exit` has stopped
    /// it.
    fn drop(&mut self) {
        if let Some(janitor) = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = Python::try_attach(|py| py.detach(move || drop(janitor)));
        }
    }
}

/// Who is told what nobody else can be told.
#[derive(Clone)]
struct Program(Option<Arc<Py<PyAny>>>);

impl Program {
    fn hear(&self, error: impl FnOnce(Python<'_>) -> PyErr, what: &str) {
        let _ = attached(|py| tell_program(py, error(py), self.0.as_deref(), what));
    }
}

/// Hours that nobody could tell are quiet: a sweep can wait.
fn with_quiet_hours(builder: JanitorBuilder, quiet: Py<PyAny>, program: Program) -> JanitorBuilder {
    builder.quiet(move |wall_ms| {
        let is_quiet = attached(|py| {
            let said = quiet.call1(py, (wall_ms,)).and_then(|said| said.is_truthy(py));
            said.unwrap_or_else(|raised| {
                program.hear(|_| raised, "the quiet hours of the janitor raised");
                true
            })
        });
        is_quiet.unwrap_or(true)
    })
}

fn with_alert(builder: JanitorBuilder, growth: PyGrowth, alert: Py<PyAny>, program: Program) -> JanitorBuilder {
    let threshold = growth.0;
    builder.on_growth(threshold, move |_, stats: &Stats| {
        let _ = attached(|py| {
            if let Err(raised) = alert.call1(py, (growth.clone(), PyStats(*stats))) {
                program.hear(|_| raised, "an alert of the janitor raised");
            }
        });
    })
}

/// What the handler made of the claim. It settles the claim itself; an error ends the lease, or parks the record again.
fn found_out(
    claim: &mut Claim,
    handler: &Py<PyAny>,
    program: &Program,
) -> Result<Settlement, Box<dyn std::error::Error + Send + Sync>> {
    let done = attached(|py| -> PyResult<()> {
        let object = Py::new(py, PyClaim::new(claim.take()))?;
        let called = handler.call1(py, (&object,));
        if let Some(left) = object.get().surrender().filter(Claim::is_open) {
            *claim = left;
        }
        called.map(drop)
    });
    match done {
        Some(Ok(())) if !claim.is_open() => Ok(Settlement::Release),
        Some(Ok(())) => {
            let key = claim.key_id().key().as_str();
            let message = format!("the recovery handler returned and has not settled the claim on {key:?}");
            program.hear(|_| PyRuntimeError::new_err(message.clone()), "a recovery handler did not find out");
            Err(message.into())
        }
        Some(Err(raised)) => {
            program.hear(|py| raised.clone_ref(py), "a recovery handler raised");
            Err(Box::new(raised))
        }
        None => Err(Box::new(Error::Unavailable("the interpreter is shutting down".into()))),
    }
}
