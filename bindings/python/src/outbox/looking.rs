//! Looking into an outbox.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use keyledger::{Changes, EntryFilter, EntryId, EntryPage, EntryStateName, EntryView, LaneState, Outbox, OutboxStats};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::argument::{Span, Text};
use crate::error::{Told, invalid_argument};
use crate::outbox::entry::PyEntry;
use crate::outbox::failed;
use crate::patience::interruptible;
use crate::waiting::patient;

/// A page of entries, oldest first.
#[pyclass(name = "EntryPage", module = "keyledger", frozen)]
pub(crate) struct PyEntryPage {
    /// The entries.
    #[pyo3(get)]
    entries: Vec<Py<PyEntry>>,
    /// After which entry the next page begins; None after the last.
    #[pyo3(get)]
    next: Option<u64>,
}

#[pymethods]
impl PyEntryPage {
    fn __repr__(&self) -> String {
        let next = self.next.map_or_else(String::new, |id| format!(", more after entry {id}"));
        format!("<EntryPage: {} entries{next}>", self.entries.len())
    }
}

impl PyEntryPage {
    pub(crate) fn new(py: Python<'_>, page: EntryPage, outbox: &Outbox) -> PyResult<Self> {
        let entries = page.entries.into_iter().map(|view| Py::new(py, PyEntry::new(view, outbox)));
        Ok(Self { entries: entries.collect::<PyResult<_>>()?, next: page.next.map(EntryId::get) })
    }
}

/// A lane of a scope that is held or paused.
#[pyclass(name = "LaneState", module = "keyledger", frozen)]
pub(crate) struct PyLaneState(LaneState);

#[pymethods]
impl PyLaneState {
    /// Whose.
    #[getter]
    fn scope(&self) -> &str {
        &self.0.scope
    }

    /// Its name.
    #[getter]
    fn lane(&self) -> &str {
        &self.0.lane
    }

    /// Why it is held.
    #[getter]
    fn held_reason(&self) -> Option<&str> {
        self.0.held.as_ref().map(|(why, _)| why.as_str())
    }

    /// Since when it is held: milliseconds since 1970-01-01 UTC.
    #[getter]
    fn held_since_ms(&self) -> Option<u64> {
        self.0.held.as_ref().map(|(_, since)| *since)
    }

    /// Until when it is paused: milliseconds since 1970-01-01 UTC.
    #[getter]
    fn paused_until_ms(&self) -> Option<u64> {
        self.0.paused_until_ms
    }

    fn __repr__(&self) -> String {
        let held = self.held_reason().map_or_else(String::new, |why| format!(" held: {why}"));
        let paused = if self.0.paused_until_ms.is_some() { " paused" } else { "" };
        format!("<LaneState {:?} of {:?}{paused}{held}>", self.0.lane, self.0.scope)
    }
}

/// How an outbox stands.
#[pyclass(name = "OutboxStats", module = "keyledger", frozen)]
pub(crate) struct PyOutboxStats(pub(crate) OutboxStats);

#[pymethods]
impl PyOutboxStats {
    /// How many entries are in each state, by its name.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counts(py, |state| self.0.count(state))
    }

    /// How many entries are unsettled.
    #[getter]
    fn unsettled(&self) -> u64 {
        self.0.unsettled
    }

    /// How many bytes their requests have together.
    #[getter]
    fn unsettled_bytes(&self) -> u64 {
        self.0.unsettled_bytes
    }

    /// Retries that the budget lets out now.
    #[getter]
    fn budget(&self) -> u32 {
        self.0.budget
    }

    /// Lanes that are held or paused.
    #[getter]
    fn lanes(&self) -> Vec<PyLaneState> {
        self.0.lanes.iter().cloned().map(PyLaneState).collect()
    }

    /// How many lanes are held (O15).
    #[getter]
    fn held_lanes(&self) -> usize {
        self.0.held_lanes()
    }

    /// The number of the last change: where `changes` goes on after everything that is there.
    #[getter]
    fn last_change(&self) -> u64 {
        self.0.last_change
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let OutboxStats { unsettled, unsettled_bytes, budget, .. } = &self.0;
        let (counts, held) = (self.counts(py)?, self.held_lanes());
        Ok(format!(
            "OutboxStats(counts={counts}, unsettled={unsettled}, unsettled_bytes={unsettled_bytes}, budget={budget}, held_lanes={held})"
        ))
    }
}

/// A number for each state, by its name.
pub(crate) fn counts(py: Python<'_>, count: impl Fn(EntryStateName) -> u64) -> PyResult<Bound<'_, PyDict>> {
    let counts = PyDict::new(py);
    for state in EntryStateName::ALL {
        counts.set_item(state.as_str(), count(state))?;
    }
    Ok(counts)
}

/// Which entries a page shows.
#[derive(Default)]
pub(crate) struct Which {
    pub(crate) scope: Option<Text>,
    pub(crate) lane: Option<String>,
    pub(crate) operation: Option<String>,
    pub(crate) state: Option<String>,
    pub(crate) older_than: Option<Span>,
    pub(crate) after: Option<u64>,
}

impl Which {
    pub(crate) fn filter(self, limit: usize) -> Told<EntryFilter> {
        let mut filter = EntryFilter::all().limit(limit);
        if let Some(scope) = self.scope {
            filter = filter.scope(&scope.scope()?);
        }
        if let Some(lane) = self.lane {
            filter = filter.lane(lane);
        }
        if let Some(operation) = self.operation {
            filter = filter.operation(operation);
        }
        if let Some(age) = Span::given(self.older_than, "older_than")? {
            filter = filter.older_than(age);
        }
        if let Some(name) = self.state {
            filter = filter.state(state(&name)?);
        }
        Ok(self.after.into_iter().fold(filter, |filter, id| filter.after(EntryId::new(id))))
    }
}

fn state(name: &str) -> PyResult<EntryStateName> {
    let found = EntryStateName::ALL.into_iter().find(|state| state.as_str() == name);
    let names = || EntryStateName::ALL.map(EntryStateName::as_str).join(", ");
    found.ok_or_else(|| invalid_argument(format!("a state is one of {}; not {name}", names())))
}

/// The changes of an outbox, one after the other: every entry that changes, as it is then. An iterator that waits; in asyncio an
/// asynchronous one. One call at a time.
#[pyclass(name = "Changes", module = "keyledger", frozen)]
pub(crate) struct PyChanges {
    outbox: Outbox,
    /// None while a call has it.
    changes: Arc<Mutex<Option<Changes>>>,
}

impl PyChanges {
    pub(crate) fn new(outbox: &Outbox, after: u64) -> Self {
        Self { outbox: outbox.clone(), changes: Arc::new(Mutex::new(Some(outbox.changes(after)))) }
    }

    fn take(&self) -> PyResult<Lent> {
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner).take();
        let changes = changes.ok_or_else(|| invalid_argument("these changes are being waited for by another call"))?;
        Ok(Lent { place: self.changes.clone(), changes: Some(changes) })
    }
}

/// The changes, while a call has them: they go back also where the call is abandoned.
struct Lent {
    place: Arc<Mutex<Option<Changes>>>,
    changes: Option<Changes>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = self.changes.take();
    }
}

async fn next(mut lent: Lent) -> keyledger::Result<EntryView> {
    match &mut lent.changes {
        Some(changes) => changes.next_async().await,
        None => Err(keyledger::Error::Closed),
    }
}

async fn next_in_time(mut lent: Lent, timeout: Duration) -> keyledger::Result<Option<EntryView>> {
    match &mut lent.changes {
        Some(changes) => changes.next_in_time_async(timeout).await,
        None => Err(keyledger::Error::Closed),
    }
}

#[pymethods]
impl PyChanges {
    /// The next entry that changed; waits at most `timeout` seconds; None when the time is up.
    fn next(&self, py: Python<'_>, timeout: Span) -> PyResult<Option<PyEntry>> {
        let found = interruptible(py, next_in_time(self.take()?, timeout.of("timeout")?))?;
        let found = found.map_err(|error| failed(py, &self.outbox, error))?;
        Ok(found.map(|view| PyEntry::new(view, &self.outbox)))
    }

    /// The number of the last change that was told: where another process goes on.
    #[getter]
    fn last_change(&self) -> PyResult<u64> {
        let lent = self.take()?;
        Ok(lent.changes.as_ref().map_or(0, Changes::last_change))
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<PyEntry> {
        let found = interruptible(py, next(self.take()?))?;
        Ok(PyEntry::new(found.map_err(|error| failed(py, &self.outbox, error))?, &self.outbox))
    }

    fn __aiter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __anext__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let outbox = self.outbox.clone();
        let lent = self.take()?;
        patient(
            py,
            || next(lent),
            move |py, found| PyEntry::told(py, found.map_err(|error| failed(py, &outbox, error))?, &outbox),
        )
    }
}
