//! The ledger: one handle, for every thread and task of a process.

use std::path::PathBuf;
use std::time::Duration;

use keyledger::{Begin, Builder, Decision, Ledger};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::argument::{Bytes, Span, Text};
use crate::begin::{PyBegin, asked};
use crate::clock::PyManualClock;
use crate::decision;
use crate::error::{Told, exception};
use crate::fingerprint::Print;
use crate::operation::PyOperation;
use crate::patience::{interruptible, unless_interrupted};
use crate::waiting::granting;

/// The native half of `keyledger.Ledger`.
#[pyclass(name = "Ledger", module = "keyledger._native", subclass, frozen)]
pub(crate) struct PyLedger(pub(crate) Ledger);

/// `begin_with`. The interpreter's lock is let go of only where a commit, another process or time is to be waited for.
pub(crate) fn begun(py: Python<'_>, ledger: &Ledger, begin: &Begin) -> PyResult<keyledger::Result<Decision>> {
    let decided = match ledger.begin_at_once(begin) {
        Ok(None) => py.detach(|| ledger.begin_with(&begin.clone().wait(Duration::ZERO))),
        Ok(Some(decision)) => return Ok(Ok(decision)),
        Err(error) => return Ok(Err(error)),
    };
    match decided {
        Ok(Decision::InProgress(_)) if !begin.wait_time().is_zero() => {
            interruptible(py, ledger.begin_with_async(begin.clone()))
        }
        decided => Ok(decided),
    }
}

/// Where the command line reaches an open ledger: nowhere, beside the file, or at a path.
#[derive(Clone)]
enum AdminSocket {
    None,
    Beside,
    At(PathBuf),
}

impl<'py> FromPyObject<'_, 'py> for AdminSocket {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(wanted) = given.cast::<PyBool>() {
            return Ok(if wanted.is_true() { AdminSocket::Beside } else { AdminSocket::None });
        }
        let refused = |_| PyTypeError::new_err("admin_socket is True, False, or a path");
        given.extract().map(AdminSocket::At).map_err(refused)
    }
}

impl AdminSocket {
    fn added_to(self, builder: Builder) -> Builder {
        match self {
            AdminSocket::None => builder,
            AdminSocket::Beside => builder.admin_socket(),
            AdminSocket::At(path) => builder.admin_socket_at(path),
        }
    }
}

fn told(py: Python<'_>, decided: keyledger::Result<Decision>) -> PyResult<Py<PyAny>> {
    decision::told(py, decided.map_err(|error| exception(py, &error))?)
}

fn all_told(py: Python<'_>, decided: keyledger::Result<Vec<Decision>>) -> PyResult<Py<PyAny>> {
    let decided = decided.map_err(|error| exception(py, &error))?;
    let told = decided.into_iter().map(|decision| decision::told(py, decision)).collect::<PyResult<Vec<_>>>()?;
    Ok(told.into_pyobject(py)?.into_any().unbind())
}

#[pymethods]
impl PyLedger {
    #[new]
    #[pyo3(
        signature = (
            path, *, shared=false, clock=None, admin_socket=AdminSocket::None, max_response_bytes=None, cache_bytes=None
        ),
        text_signature = "(path, *, shared=False, clock=None, admin_socket=False, max_response_bytes=None, cache_bytes=None)"
    )]
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        shared: bool,
        clock: Option<PyManualClock>,
        admin_socket: AdminSocket,
        max_response_bytes: Option<usize>,
        cache_bytes: Option<usize>,
    ) -> Told<Self> {
        let mut builder = Ledger::builder();
        if shared {
            builder = builder.shared();
        }
        if let Some(PyManualClock(clock)) = clock {
            builder = builder.clock(clock);
        }
        builder = admin_socket.added_to(builder);
        if let Some(bytes) = max_response_bytes {
            builder = builder.max_response_bytes(bytes);
        }
        if let Some(bytes) = cache_bytes {
            builder = builder.cache_bytes(bytes);
        }
        let opened = py.detach(|| match path {
            Some(path) => builder.open(path),
            None => builder.in_memory(),
        });
        Ok(PyLedger(opened?))
    }

    /// `keyledger.Ledger.begin`, which says what it answers.
    #[pyo3(
        signature = (operation, scope, key, fingerprint, *, memo=Bytes::default(), wait=None),
        text_signature = "($self, operation, scope, key, fingerprint, *, memo=b'', wait=None)"
    )]
    fn begin(
        &self,
        py: Python<'_>,
        operation: &PyOperation,
        scope: Text,
        key: Text,
        fingerprint: Print,
        memo: Bytes,
        wait: Option<Span>,
    ) -> PyResult<Py<PyAny>> {
        let begin = asked(operation, &scope, &key, fingerprint, memo, wait)?;
        unless_interrupted(py, told(py, begun(py, &self.0, &begin)?)?)
    }

    /// `begin` of what is asked for as a value.
    fn begin_with(&self, py: Python<'_>, begin: &PyBegin) -> PyResult<Py<PyAny>> {
        unless_interrupted(py, told(py, begun(py, &self.0, &begin.0)?)?)
    }

    /// `begin` on an event loop. A caller that is cancelled is granted nothing, also in the moment in which the answer arrives.
    #[pyo3(
        signature = (operation, scope, key, fingerprint, *, memo=Bytes::default(), wait=None),
        text_signature = "($self, operation, scope, key, fingerprint, *, memo=b'', wait=None)"
    )]
    fn begin_async<'py>(
        &self,
        py: Python<'py>,
        operation: &PyOperation,
        scope: Text,
        key: Text,
        fingerprint: Print,
        memo: Bytes,
        wait: Option<Span>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let begin = asked(operation, &scope, &key, fingerprint, memo, wait)?;
        granting(py, || self.0.begin_with_async(begin), told)
    }

    /// `begin_with` on an event loop.
    fn begin_with_async<'py>(&self, py: Python<'py>, begin: &PyBegin) -> PyResult<Bound<'py, PyAny>> {
        granting(py, || self.0.begin_with_async(begin.0.clone()), told)
    }

    /// Decides each as if alone, in order, all in one commit. Waits are not looked at. One invalid entry refuses the whole call.
    fn begin_many(&self, py: Python<'_>, begins: Vec<PyBegin>) -> PyResult<Py<PyAny>> {
        let begins: Vec<Begin> = begins.into_iter().map(|PyBegin(begin)| begin).collect();
        let decided = py.detach(|| self.0.begin_many(&begins));
        unless_interrupted(py, all_told(py, decided)?)
    }

    /// `begin_many` on an event loop.
    fn begin_many_async<'py>(&self, py: Python<'py>, begins: Vec<PyBegin>) -> PyResult<Bound<'py, PyAny>> {
        let begins = begins.into_iter().map(|PyBegin(begin)| begin).collect();
        granting(py, || self.0.begin_many_async(begins), all_told)
    }

    /// As `begin` would answer now, save that nothing is granted or stored: where it would grant, the answer is `InProgress` (S9).
    fn ask(
        &self,
        py: Python<'_>,
        operation: &PyOperation,
        scope: Text,
        key: Text,
        fingerprint: Print,
    ) -> PyResult<Py<PyAny>> {
        let begin = asked(operation, &scope, &key, fingerprint, Bytes::default(), None)?;
        let decided = py.detach(|| self.0.ask(&begin));
        told(py, decided)
    }

    /// Checks an operation's name and numbers once, at the start of a program, instead of at its first use.
    fn declare(&self, operation: &PyOperation) -> Told<()> {
        Ok(self.0.declare(&operation.0)?)
    }

    /// A new key for a new operation: a UUIDv7 (F5).
    fn new_key(&self) -> String {
        self.0.new_key().as_str().to_owned()
    }

    /// The longest response that this ledger keeps whole, in bytes (S4).
    #[getter]
    fn max_response_bytes(&self) -> usize {
        self.0.max_response_bytes()
    }

    /// Lets go of file and lock; calls raise `Suspended` until `resume`. Durable claims stay, and their leases run on (P6).
    fn suspend(&self, py: Python<'_>) -> Told<()> {
        Ok(py.detach(|| self.0.suspend())?)
    }

    /// Takes file and lock again after `suspend`.
    fn resume(&self, py: Python<'_>) -> Told<()> {
        Ok(py.detach(|| self.0.resume())?)
    }

    /// Opens the file again after `Ambiguous` or `Poisoned`. Claims outlive it (S6).
    fn reopen(&self, py: Python<'_>) -> Told<()> {
        Ok(py.detach(|| self.0.reopen())?)
    }

    /// Waits for commits in hand, wakes waiters, lets go of file and lock. Idempotent; later calls raise `Closed` (P7).
    fn close(&self, py: Python<'_>) -> Told<()> {
        Ok(py.detach(|| self.0.close())?)
    }
}
