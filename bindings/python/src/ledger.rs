//! The ledger: one handle, for every thread and task of a process.

use std::path::PathBuf;

use keyledger::{Begin, Ledger};
use pyo3::prelude::*;

use crate::argument::{Span, Text};
use crate::claim::PyClaim;
use crate::decision;
use crate::error::{Told, exception};
use crate::fingerprint::PyFingerprint;
use crate::operation::PyOperation;
use crate::waiting::awaitable;

/// A key ledger in one file, or in memory.
#[pyclass(name = "Ledger", module = "keyledger._native", subclass, frozen)]
pub(crate) struct PyLedger(pub(crate) Ledger);

fn asked(
    operation: &PyOperation,
    scope: &Text,
    key: &Text,
    fingerprint: &PyFingerprint,
    memo: Vec<u8>,
    wait: Option<Span>,
) -> Told<Begin> {
    let begin = Begin::new(&operation.0, &scope.scope()?, &key.key()?, fingerprint.0);
    Ok(begin.memo(memo).wait(wait.map(|Span(wait)| wait).unwrap_or_default()))
}

#[pymethods]
impl PyLedger {
    /// `path` of None is a ledger in memory.
    #[new]
    #[pyo3(signature = (path, *, shared=false, admin_socket=false, max_response_bytes=None, cache_bytes=None))]
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        shared: bool,
        admin_socket: bool,
        max_response_bytes: Option<usize>,
        cache_bytes: Option<usize>,
    ) -> Told<Self> {
        let mut builder = Ledger::builder();
        if shared {
            builder = builder.shared();
        }
        if admin_socket {
            builder = builder.admin_socket();
        }
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

    #[pyo3(signature = (operation, scope, key, fingerprint, *, memo=Vec::new(), wait=None))]
    fn begin(
        &self,
        py: Python<'_>,
        operation: &PyOperation,
        scope: Text,
        key: Text,
        fingerprint: &PyFingerprint,
        memo: Vec<u8>,
        wait: Option<Span>,
    ) -> PyResult<Py<PyAny>> {
        let begin = asked(operation, &scope, &key, fingerprint, memo, wait)?;
        let decided = match self.0.begin_at_once(&begin) {
            Ok(None) => py.detach(|| self.0.begin_with(&begin)),
            Ok(Some(decision)) => Ok(decision),
            Err(error) => Err(error),
        };
        decision::told(py, decided.map_err(|error| exception(py, &error))?)
    }

    #[pyo3(signature = (operation, scope, key, fingerprint, *, memo=Vec::new(), wait=None))]
    fn begin_async<'py>(
        &self,
        py: Python<'py>,
        operation: &PyOperation,
        scope: Text,
        key: Text,
        fingerprint: &PyFingerprint,
        memo: Vec<u8>,
        wait: Option<Span>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let begin = asked(operation, &scope, &key, fingerprint, memo, wait)?;
        awaitable(py, self.0.begin_with_async(begin), |py, decided| {
            decision::told(py, decided.map_err(|error| exception(py, &error))?)
        })
    }

    /// As `begin` would answer now, save that nothing is granted or stored (S9).
    fn ask(
        &self,
        py: Python<'_>,
        operation: &PyOperation,
        scope: Text,
        key: Text,
        fingerprint: &PyFingerprint,
    ) -> PyResult<Py<PyAny>> {
        let begin = asked(operation, &scope, &key, fingerprint, Vec::new(), None)?;
        let decided = py.detach(|| self.0.ask(&begin));
        decision::told(py, decided.map_err(|error| exception(py, &error))?)
    }

    /// Claims on records of this operation that are lapsed, or parked without a person having looked.
    #[pyo3(signature = (operation, limit=100))]
    fn recover(&self, py: Python<'_>, operation: &PyOperation, limit: usize) -> Told<Vec<PyClaim>> {
        let claims = py.detach(|| self.0.recover(&operation.0, limit))?;
        Ok(claims.into_iter().map(PyClaim::new).collect())
    }

    fn close(&self, py: Python<'_>) -> Told<()> {
        Ok(py.detach(|| self.0.close())?)
    }
}
