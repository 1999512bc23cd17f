//! What calls of the outbox answer, as objects of Python's.

use keyledger::{Cancel, Delivery, Enqueued, EntryPage, EntryView, Error, Outbox, Resumed, Turn};
use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::error::exception;
use crate::outbox::delivery::PyDelivery;
use crate::outbox::entry::{PyEnqueued, PyEntry};
use crate::outbox::looking::PyEntryPage;

/// What `cancel` answers: truthfully, after it is on disk (O10).
#[pyclass(name = "Cancel", module = "keyledger", frozen)]
pub(crate) struct PyCancel {
    /// True: no lease is out, and no try can have taken effect. False: too late; nothing was changed.
    #[pyo3(get)]
    is_cancelled: bool,
    /// The entry as it is now.
    #[pyo3(get)]
    entry: Py<PyEntry>,
}

/// What `resume` did for a scope.
#[pyclass(name = "Resumed", module = "keyledger", frozen)]
pub(crate) struct PyResumed {
    /// Lanes that were held.
    #[pyo3(get)]
    lanes: u64,
    /// Entries that were held with them, and are due now.
    #[pyo3(get)]
    entries: u64,
}

/// What a call that settles and leases did.
#[pyclass(name = "Turn", module = "keyledger", frozen)]
pub(crate) struct PyTurn {
    /// For each report None if it counted, else the error `ClaimLost` (O5).
    #[pyo3(get)]
    settled: Py<PyList>,
    /// What was due.
    #[pyo3(get)]
    deliveries: Py<PyList>,
}

impl PyTurn {
    pub(crate) fn deliveries<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        self.deliveries.bind(py).clone()
    }
}

fn object<C: Into<PyClassInitializer<C>> + PyClass>(py: Python<'_>, value: C) -> PyResult<Py<PyAny>> {
    Ok(Py::new(py, value)?.into_any())
}

pub(super) fn entry(py: Python<'_>, outbox: &Outbox, view: EntryView) -> PyResult<Py<PyAny>> {
    PyEntry::told(py, view, outbox)
}

pub(super) fn enqueued(py: Python<'_>, outbox: &Outbox, enqueued: Enqueued) -> PyResult<Py<PyAny>> {
    object(py, PyEnqueued::new(py, enqueued, outbox)?)
}

pub(super) fn all_enqueued(py: Python<'_>, outbox: &Outbox, all: Vec<Enqueued>) -> PyResult<Py<PyAny>> {
    let all = all.into_iter().map(|one| enqueued(py, outbox, one)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, all)?.into_any().unbind())
}

pub(super) fn deliveries(py: Python<'_>, outbox: &Outbox, leased: Vec<Delivery>) -> PyResult<Py<PyAny>> {
    let own = leased.into_iter().map(|delivery| object(py, PyDelivery::own(py, delivery, outbox)));
    Ok(PyList::new(py, own.collect::<PyResult<Vec<_>>>()?)?.into_any().unbind())
}

pub(super) fn turned(py: Python<'_>, outbox: &Outbox, turn: Turn) -> PyResult<Py<PyAny>> {
    let told = |settled: Result<(), Error>| match settled {
        Ok(()) => py.None(),
        Err(error) => exception(py, &error).into_value(py).into_any(),
    };
    let settled = PyList::new(py, turn.settled.into_iter().map(told))?.unbind();
    let deliveries = deliveries(py, outbox, turn.deliveries)?.extract(py)?;
    object(py, PyTurn { settled, deliveries })
}

pub(super) fn cancelled(py: Python<'_>, outbox: &Outbox, cancel: Cancel) -> PyResult<Py<PyAny>> {
    let is_cancelled = cancel.is_cancelled();
    let (Cancel::Cancelled(view) | Cancel::TooLate(view)) = cancel;
    object(py, PyCancel { is_cancelled, entry: Py::new(py, PyEntry::new(view, outbox))? })
}

pub(super) fn resumed(py: Python<'_>, _: &Outbox, Resumed { lanes, entries }: Resumed) -> PyResult<Py<PyAny>> {
    object(py, PyResumed { lanes, entries })
}

pub(super) fn count(py: Python<'_>, _: &Outbox, count: u64) -> PyResult<Py<PyAny>> {
    Ok(count.into_pyobject(py)?.into_any().unbind())
}

#[expect(clippy::unnecessary_wraps, reason = "one of the functions that tell an answer")]
pub(super) fn nothing(py: Python<'_>, _: &Outbox, (): ()) -> PyResult<Py<PyAny>> {
    Ok(py.None())
}

pub(super) fn entry_or_none(py: Python<'_>, outbox: &Outbox, view: Option<EntryView>) -> PyResult<Py<PyAny>> {
    view.map_or_else(|| Ok(py.None()), |view| entry(py, outbox, view))
}

pub(super) fn page(py: Python<'_>, outbox: &Outbox, page: EntryPage) -> PyResult<Py<PyAny>> {
    object(py, PyEntryPage::new(py, page, outbox)?)
}
