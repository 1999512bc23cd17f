//! Looking at records.

use keyledger::{AuditEntry, Cursor, Filter, OperationName, Page, RecordView, Scope, StateName};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::argument::{Span, Text};
use crate::claim::steps;
use crate::error::{Told, invalid_argument};
use crate::fingerprint::PyFingerprint;
use crate::key_id::PyKeyId;
use crate::ledger::PyLedger;
use crate::response::PyResponse;

/// A record as a person sees it. Instants are milliseconds since 1970-01-01 UTC.
#[pyclass(name = "RecordView", module = "keyledger", frozen, eq)]
#[derive(PartialEq)]
pub(crate) struct PyRecordView(RecordView);

#[pymethods]
impl PyRecordView {
    /// Whose record it is.
    #[getter]
    fn key_id(&self) -> PyKeyId {
        PyKeyId(self.0.key_id().clone())
    }

    /// `in_progress`, `released`, `completed`, `failed`, `parked` or `tombstone`. A lapsed record is still in progress,
    /// save an AtMostOnce one, which counts as parked.
    #[getter]
    fn state(&self) -> &'static str {
        self.0.state().as_str()
    }

    /// Stored as in progress, with a lease that is over.
    #[getter]
    fn is_lapsed(&self) -> bool {
        self.0.is_lapsed()
    }

    /// Kept in memory alone (E2).
    #[getter]
    fn is_volatile(&self) -> bool {
        self.0.is_volatile()
    }

    /// The fence of its last claim: what `resolve` asks for.
    #[getter]
    fn fence(&self) -> u64 {
        self.0.fence()
    }

    /// How often it was granted.
    #[getter]
    fn attempt(&self) -> u32 {
        self.0.attempt()
    }

    /// The strictest effect that any granted begin has named (E1).
    #[getter]
    fn effect(&self) -> &'static str {
        self.0.effect().as_str()
    }

    /// That of its first begin (F7).
    #[getter]
    fn fingerprint(&self) -> PyFingerprint {
        PyFingerprint(self.0.fingerprint())
    }

    /// What the caller of `begin` stored for whoever recovers it.
    #[getter]
    fn memo<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.memo())
    }

    /// The steps that were recorded: name and value.
    #[getter]
    fn steps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        steps(py, self.0.steps())
    }

    /// What persons decided about it.
    #[getter]
    fn audit(&self) -> Vec<PyAuditEntry> {
        self.0.audit().iter().cloned().map(PyAuditEntry).collect()
    }

    /// When it was first granted.
    #[getter]
    fn first_granted_at_ms(&self) -> u64 {
        self.0.first_granted_at_ms()
    }

    /// In progress: when its lease ends, by the wall clock.
    #[getter]
    fn lease_end_ms(&self) -> Option<u64> {
        self.0.lease_end_ms()
    }

    /// When it was settled or released.
    #[getter]
    fn settled_at_ms(&self) -> Option<u64> {
        self.0.settled_at_ms()
    }

    /// Until when its answer is replayed.
    #[getter]
    fn retained_until_ms(&self) -> Option<u64> {
        self.0.retained_until_ms()
    }

    /// When its tombstone ends.
    #[getter]
    fn gone_at_ms(&self) -> Option<u64> {
        self.0.gone_at_ms()
    }

    /// The stored answer.
    #[getter]
    fn response(&self) -> Option<PyResponse> {
        self.0.response().cloned().map(PyResponse)
    }

    /// Why it is parked.
    #[getter]
    fn parked_reason(&self) -> Option<&str> {
        self.0.parked().map(|(reason, _)| reason.as_str())
    }

    /// Since when it is parked.
    #[getter]
    fn parked_since_ms(&self) -> Option<u64> {
        self.0.parked().map(|(_, since)| since)
    }

    fn __repr__(&self) -> String {
        format!("<RecordView {:?} {}>", self.0.key_id().key().as_str(), self.state())
    }
}

/// Who decided what about a record, and why.
#[pyclass(name = "AuditEntry", module = "keyledger", frozen, eq)]
#[derive(Clone, PartialEq)]
pub(crate) struct PyAuditEntry(AuditEntry);

#[pymethods]
impl PyAuditEntry {
    /// When: milliseconds since 1970-01-01 UTC.
    #[getter]
    fn at_ms(&self) -> u64 {
        self.0.at_ms
    }

    /// What was decided: `completed`, `failed` or `not_done`.
    #[getter]
    fn outcome(&self) -> &str {
        &self.0.outcome
    }

    /// Who decided it.
    #[getter]
    fn who(&self) -> &str {
        &self.0.who
    }

    /// Why.
    #[getter]
    fn note(&self) -> &str {
        &self.0.note
    }

    fn __repr__(&self) -> String {
        format!("<AuditEntry {} by {:?}: {:?}>", self.0.outcome, self.0.who, self.0.note)
    }
}

/// Where a page ended.
#[pyclass(name = "Cursor", module = "keyledger", frozen, eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct PyCursor(Cursor);

/// A page of records: first those that wait for somebody, then the other unsettled ones, then settled ones.
#[pyclass(name = "Page", module = "keyledger", frozen)]
pub(crate) struct PyPage {
    records: Vec<Py<PyRecordView>>,
    next: Option<PyCursor>,
}

#[pymethods]
impl PyPage {
    /// The records.
    #[getter]
    fn records(&self, py: Python<'_>) -> Vec<Py<PyRecordView>> {
        self.records.iter().map(|record| record.clone_ref(py)).collect()
    }

    /// Where the next page begins: `list(after=...)`. None after the last.
    #[getter]
    fn next(&self) -> Option<PyCursor> {
        self.next.clone()
    }

    fn __repr__(&self) -> String {
        let more = if self.next.is_some() { ", more after them" } else { "" };
        format!("<Page: {} records{more}>", self.records.len())
    }
}

#[pymethods]
impl PyLedger {
    /// The record of a key id as it counts now; None is no record.
    fn inspect(&self, py: Python<'_>, id: &PyKeyId) -> Told<Option<PyRecordView>> {
        Ok(py.detach(|| self.0.inspect(&id.0))?.map(PyRecordView))
    }

    /// One page of records.
    ///
    /// Arguments: `state` (`parked` counts lapsed AtMostOnce records, too), `operation` (a name), `scope`, `key`, `older_than` and
    /// `newer_than` (by the first grant), `limit` (100), `after` (the `next` of the page before).
    ///
    /// Each page is a view of its own instant. A key id whose record stays as it is is on exactly one of the pages.
    #[pyo3(signature = (**which))]
    fn list(&self, py: Python<'_>, which: Option<&Bound<'_, PyDict>>) -> Told<PyPage> {
        let filter = filter(which)?;
        let Page { records, next } = py.detach(|| self.0.list(&filter))?;
        let records = records.into_iter().map(|record| Py::new(py, PyRecordView(record))).collect::<PyResult<_>>()?;
        Ok(PyPage { records, next: next.map(PyCursor) })
    }
}

/// The filter that a call's arguments say.
pub(crate) fn filter(which: Option<&Bound<'_, PyDict>>) -> Told<Filter> {
    let mut filter = Filter::all();
    for (name, value) in which.into_iter().flat_map(PyDictMethods::iter) {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        filter = match name.as_str() {
            "state" => filter.state(state(&value.extract::<String>()?)?),
            "operation" => filter.operation(operation(&value)?),
            "scope" => filter.scope(scope(&value)?),
            "key" => filter.key(value.extract::<Text>()?.key()?),
            "older_than" => filter.older_than(Span::setting(&name, &value)?),
            "newer_than" => filter.newer_than(Span::setting(&name, &value)?),
            "limit" => filter.limit(value.extract()?),
            "after" => filter.after(value.extract::<PyCursor>().map_err(PyErr::from)?.0),
            _ => return Err(PyTypeError::new_err(format!("there is no filter by {name}")).into()),
        };
    }
    Ok(filter)
}

fn operation(given: &Bound<'_, PyAny>) -> Told<OperationName> {
    given.extract::<Text>()?.operation()
}

fn scope(given: &Bound<'_, PyAny>) -> Told<Scope> {
    given.extract::<Text>()?.scope()
}

fn state(name: &str) -> PyResult<StateName> {
    let names = || StateName::ALL.map(StateName::as_str).join(", ");
    StateName::named(name).ok_or_else(|| invalid_argument(format!("no state is called {name}; there are {}", names())))
}
