//! Who keeps an outbox going, on threads.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};

use keyledger::{DrainProgress, Drained, Driver, DriverError, DriverHandle, Error, Outbox, Stop};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::argument::{Span, Text};
use crate::error::{Told, exception, tell_program};
use crate::interpreter::attached;
use crate::outbox::delivery::PyReport;
use crate::outbox::looking::counts;
use crate::outbox::transport::PyTransport;
use crate::outbox::{PyOutbox, failed};
use crate::patience::{LOOK_EVERY, left_behind};

/// A request to stop: any thread may make it, such as that of a handler for a signal.
#[pyclass(name = "Stop", module = "keyledger", frozen)]
#[derive(Default)]
pub(crate) struct PyStop(Stop);

#[pymethods]
impl PyStop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Asks everyone who was given it to stop. It waits for nobody, and cannot be taken back.
    fn stop(&self) {
        self.0.stop();
    }

    /// Whether it was asked for.
    #[getter]
    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }
}

/// How far a drain is. It counts entries of its scope, whoever sends and settles them.
#[pyclass(name = "DrainProgress", module = "keyledger", frozen)]
pub(crate) struct PyProgress {
    /// How many deliveries this drain has sent; an entry that is tried twice counts twice.
    #[pyo3(get)]
    sent: u64,
    /// How many entries were settled since it began.
    #[pyo3(get)]
    settled: u64,
    /// How many are unsettled, those that are held or unknown too.
    #[pyo3(get)]
    remaining: u64,
}

/// What a drain has left.
#[pyclass(name = "Drained", module = "keyledger", frozen)]
pub(crate) struct PyDrained(Drained);

#[pymethods]
impl PyDrained {
    /// How many deliveries it has sent.
    #[getter]
    fn sent(&self) -> u64 {
        self.0.sent
    }

    /// How many entries were settled meanwhile.
    #[getter]
    fn settled(&self) -> u64 {
        self.0.settled
    }

    /// Whether it was stopped before it was done.
    #[getter]
    fn was_stopped(&self) -> bool {
        self.0.was_stopped
    }

    /// How many entries of the scope are unsettled.
    #[getter]
    fn unsettled(&self) -> u64 {
        self.0.unsettled()
    }

    /// How many entries of the scope are in each state, by its name.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counts(py, |state| self.0.count(state))
    }

    fn __repr__(&self) -> String {
        format!("<Drained: {} sent, {} settled, {} unsettled>", self.0.sent, self.0.settled, self.0.unsettled())
    }
}

/// Sends what is due in one scope, over a transport: a callable that is given a delivery and returns a `DeliveryOutcome`, or an
/// object with `send` and perhaps `has_other_credentials(scope)`. It calls that on threads of its own, `in_flight` at a time.
#[pyclass(name = "Driver", module = "keyledger._native", frozen, weakref)]
pub(crate) struct PyDriver {
    driver: Driver,
    stop: Stop,
    outbox: Outbox,
    /// How many drains are under way: each has a clone.
    drains: Arc<()>,
}

/// A driver at work on threads of its own.
#[pyclass(name = "DriverHandle", module = "keyledger._native", frozen)]
pub(crate) struct PyDriverHandle {
    outbox: Outbox,
    /// None once it was stopped.
    handle: Mutex<Option<DriverHandle>>,
}

/// The exception of a driver that could not go on; the outcomes that it could not store are its `.reports`.
fn ended(py: Python<'_>, outbox: &Outbox, error: DriverError) -> PyErr {
    let raised = failed(py, outbox, error.source);
    let reports: Vec<PyReport> = error.reports.into_iter().map(PyReport).collect();
    let _ = raised.value(py).setattr("reports", reports);
    raised
}

/// A call of the outbox that fails is told to the program, whether or not it has said how.
fn telling(on_error: Option<Py<PyAny>>) -> impl Fn(&Error) + Send + Sync {
    move |error| {
        let what = "a driver of the outbox cannot go on for now";
        let _ = attached(|py| tell_program(py, exception(py, error), on_error.as_ref(), what));
    }
}

#[pymethods]
impl PyDriver {
    #[new]
    #[pyo3(signature = (outbox, scope, transport, *, in_flight=None, stop=None, on_error=None, name=None))]
    fn new(
        outbox: &PyOutbox,
        scope: Text,
        transport: &Bound<'_, PyAny>,
        in_flight: Option<usize>,
        stop: Option<&PyStop>,
        on_error: Option<Py<PyAny>>,
        name: Option<String>,
    ) -> Told<Self> {
        let (outbox, stop) = (outbox.0.clone(), stop.map(|PyStop(stop)| stop.clone()).unwrap_or_default());
        let driver = Driver::new(&outbox, &scope.scope()?, PyTransport::new(transport, &outbox)?).stop_on(&stop);
        let mut driver = driver.on_error(telling(on_error));
        if let Some(in_flight) = in_flight {
            driver = driver.in_flight(in_flight);
        }
        if let Some(name) = name {
            driver = driver.name(name);
        }
        Ok(Self { driver, stop, outbox, drains: Arc::default() })
    }

    /// Works on threads of its own until the handle is stopped or dropped, or the ledger is closed.
    fn start(&self, py: Python<'_>) -> Told<PyDriverHandle> {
        let handle = py.detach(|| self.driver.start())?;
        Ok(PyDriverHandle { outbox: self.outbox.clone(), handle: Mutex::new(Some(handle)) })
    }

    /// Whether a drain is under way, also one that nobody waits for any more.
    #[getter]
    fn is_draining(&self) -> bool {
        Arc::strong_count(&self.drains) > 1
    }

    /// Sends until nothing is due within `until` seconds from now (O15). Calls `progress` with a `DrainProgress` on this thread, at
    /// the beginning and as it goes; what that raises stops the drain and comes out of it.
    ///
    /// Ctrl-C stops it: nothing more is leased, what is in flight is waited for while its lease lasts, and then
    /// `KeyboardInterrupt` is raised; at once, if it comes again.
    #[pyo3(signature = (until, progress=None))]
    fn drain(&self, py: Python<'_>, until: Option<Span>, progress: Option<Py<PyAny>>) -> PyResult<PyDrained> {
        let (driver, until) = (self.driver.clone(), Span::or_ever(until, "until")?);
        let (tell, told) = channel();
        let wants_progress = progress.is_some();
        let under_way = self.drains.clone();
        let work = move || {
            let now = tell.clone();
            let drained = driver.drain(until, |progress| {
                if wants_progress {
                    let _ = now.send(News::Progress(*progress));
                }
            });
            drop(under_way);
            let _ = tell.send(News::End(drained));
        };
        let thread = std::thread::Builder::new().name("keyledger-drain".into()).spawn(work);
        thread.map_err(|error| PyErr::from(crate::error::Failure::from(Error::Storage(error.into()))))?;
        self.follow(py, told, progress.as_ref())
    }
}

/// What a drain tells the thread that has asked for it.
enum News {
    Progress(DrainProgress),
    End(Result<Drained, DriverError>),
}

impl PyDriver {
    /// Hands on what the drain tells, and stops it as soon as something is raised here.
    fn follow(&self, py: Python<'_>, told: Receiver<News>, progress: Option<&Py<PyAny>>) -> PyResult<PyDrained> {
        let told = Mutex::new(told);
        let mut raised = None;
        loop {
            let news = py.detach(|| told.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK_EVERY));
            let heard = match news {
                Ok(News::End(drained)) => {
                    return match raised {
                        Some(error) => Err(error),
                        None => drained.map(PyDrained).map_err(|error| ended(py, &self.outbox, error)),
                    };
                }
                Ok(News::Progress(DrainProgress { sent, settled, remaining })) if raised.is_none() => {
                    progress.map_or(Ok(()), |call| call.call1(py, (PyProgress { sent, settled, remaining },)).map(drop))
                }
                Ok(News::Progress(_)) | Err(RecvTimeoutError::Timeout) => Ok(()),
                Err(RecvTimeoutError::Disconnected) => {
                    let panicked = Error::Unavailable("a callback of the driver panicked".into());
                    return Err(raised.unwrap_or_else(|| exception(py, &panicked)));
                }
            };
            if let Err(error) = heard.and_then(|()| py.check_signals()) {
                if raised.is_some() {
                    return Err(error);
                }
                self.stop.stop();
                raised = Some(error);
            }
        }
    }
}

#[pymethods]
impl PyDriverHandle {
    /// Leases nothing more, and waits until what is in flight is sent and settled, or its leases are over. Again it is nothing.
    ///
    /// Raises why it ended before it was stopped, or could not store what came back: `.reports` has those outcomes. Ctrl-C ends the wait:
    /// it ends by itself then.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(handle) = handle else { return Ok(()) };
        let stopped = left_behind(py, || handle.stop())?;
        stopped.map_err(|error| ended(py, &self.outbox, error))
    }

    /// Whether it still works, in this process. It ends by itself when the ledger is closed.
    #[getter]
    fn is_running(&self) -> bool {
        let handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        handle.as_ref().is_some_and(DriverHandle::is_running)
    }
}

impl Drop for PyDriverHandle {
    /// Without the interpreter's lock: the transport may want it before it ends.
    fn drop(&mut self) {
        let handle = self.handle.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(handle) = handle {
            let _ = Python::try_attach(|py| py.detach(|| drop(handle)));
        }
    }
}
