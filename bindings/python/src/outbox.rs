//! The outbox: requests persisted with their keys before they are sent (contract section 9).

mod answers;
mod asking;
mod calling;
mod delivery;
mod driver;
mod entry;
mod looking;
mod outcome;
mod predicate;
mod settings;
mod transport;

use keyledger::{EntryResolution, Error, Outbox, Report};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::argument::{Answer, Span, Text};
use crate::error::{Told, exception, invalid_argument};
use crate::ledger::PyLedger;
use crate::patience::interruptible;
use crate::waiting::patient;

pub(crate) use answers::{PyCancel, PyResumed, PyTurn};
pub(crate) use asking::PyEnqueue;
pub(crate) use delivery::{PyDelivery, PyReport};
pub(crate) use driver::{PyDrained, PyDriver, PyDriverHandle, PyProgress, PyStop};
pub(crate) use entry::{PyDecided, PyEnqueued, PyEntry, PyTryError};
pub(crate) use looking::{PyChanges, PyEntryPage, PyLaneState, PyOutboxStats};
pub(crate) use outcome::PyOutcome;
pub(crate) use settings::PyLane;

use entry::Named;
use looking::Which;
use predicate::Predicate;

/// The outbox of a ledger: requests are stored with their keys before they are sent, and sent until they are answered.
#[pyclass(name = "Outbox", module = "keyledger._native", subclass, frozen)]
pub(crate) struct PyOutbox(pub(crate) Outbox);

/// The exception of an error; a conflict has its entry as `.entry`.
pub(crate) fn failed(py: Python<'_>, outbox: &Outbox, error: Error) -> PyErr {
    let raised = exception(py, &error);
    if let Error::PurposeConflict(view) | Error::KeyConflict(view) = error {
        let _ = PyEntry::told(py, *view, outbox).and_then(|entry| raised.value(py).setattr("entry", entry));
    }
    raised
}

fn resolution(outcome: &str, response: Option<Answer>) -> PyResult<EntryResolution> {
    match (outcome, response) {
        ("answered_yes", Some(Answer(response))) => Ok(EntryResolution::Yes(response)),
        ("answered_no", Some(Answer(response))) => Ok(EntryResolution::No(response)),
        ("dead", None) => Ok(EntryResolution::Dead),
        ("resend", None) => Ok(EntryResolution::Resend),
        _ => Err(invalid_argument(
            "a resolution is answered_yes or answered_no with a response, or dead or resend without one",
        )),
    }
}

impl PyOutbox {
    /// Enqueues inside a transaction; a conflict has its entry, as everywhere.
    pub(crate) fn within(
        &self,
        py: Python<'_>,
        enqueue: impl FnOnce(&Outbox) -> keyledger::Result<keyledger::Enqueued>,
    ) -> PyResult<Py<PyAny>> {
        let enqueued = enqueue(&self.0).map_err(|error| failed(py, &self.0, error))?;
        answers::enqueued(py, &self.0, enqueued)
    }
}

fn reports(given: Vec<PyReport>) -> Vec<Report> {
    given.into_iter().map(|PyReport(report)| report).collect()
}

fn enqueues(given: Vec<PyEnqueue>) -> Vec<keyledger::Enqueue> {
    given.into_iter().map(|PyEnqueue(enqueue)| enqueue).collect()
}

#[pymethods]
impl PyOutbox {
    /// Opens the outbox of `ledger`. The settings hold for this object; lanes are stored (O4). Defaults are those of section 12 of
    /// the contract; spans are seconds or timedeltas.
    #[new]
    #[pyo3(signature = (ledger, **settings))]
    fn new(py: Python<'_>, ledger: &PyLedger, settings: Option<&Bound<'_, PyDict>>) -> Told<Self> {
        settings::open(py, &ledger.0, settings).map(Self)
    }

    /// Stores a request with its key, to be sent; or finds the entry that is there already for its purpose or key (O1, O3). On
    /// return it is on disk.
    ///
    /// Raises `PurposeConflict`, `KeyConflict`: the purpose, or the key, has another request, and `.entry` is that; `OutboxFull`;
    /// `InvalidKey`, `InvalidArgument` for a lane that was not declared, `TooLarge`; those of storage. Nothing is stored then.
    #[pyo3(signature = (enqueue, /))]
    fn enqueue(&self, py: Python<'_>, enqueue: PyEnqueue) -> PyResult<Py<PyAny>> {
        self.call(py, |outbox| outbox.enqueue(&enqueue.0), answers::enqueued)
    }

    /// `enqueue` as a future of asyncio. It is stored even if that is cancelled.
    #[pyo3(signature = (enqueue, /))]
    fn enqueue_async<'py>(&self, py: Python<'py>, enqueue: PyEnqueue) -> PyResult<Bound<'py, PyAny>> {
        self.call_async(py, |outbox| outbox.enqueue_async(&enqueue.0), answers::enqueued)
    }

    /// The same for many, in order, in one commit (O1): all of them, or none. The first error ends the call.
    fn enqueue_many(&self, py: Python<'_>, many: Vec<PyEnqueue>) -> PyResult<Py<PyAny>> {
        let many = enqueues(many);
        self.call(py, |outbox| outbox.enqueue_many(&many), answers::all_enqueued)
    }

    /// `enqueue_many` as a future of asyncio.
    fn enqueue_many_async<'py>(&self, py: Python<'py>, many: Vec<PyEnqueue>) -> PyResult<Bound<'py, PyAny>> {
        let many = enqueues(many);
        self.call_async(py, |outbox| outbox.enqueue_many_async(&many), answers::all_enqueued)
    }

    /// Hands out at most `limit` deliveries of a scope that are due, in due order. On return their leases are on disk (O4).
    #[pyo3(signature = (scope, limit=10))]
    fn lease_due(&self, py: Python<'_>, scope: Text, limit: usize) -> PyResult<Py<PyAny>> {
        let scope = scope.scope()?;
        self.call(py, |outbox| outbox.lease_due(&scope, limit), answers::deliveries)
    }

    /// `lease_due` as a future of asyncio.
    #[pyo3(signature = (scope, limit=10))]
    fn lease_due_async<'py>(&self, py: Python<'py>, scope: Text, limit: usize) -> PyResult<Bound<'py, PyAny>> {
        let scope = scope.scope()?;
        self.lease_async(py, |outbox| outbox.lease_due_async(&scope, limit), answers::deliveries)
    }

    /// Settles a delivery by its report. On return the outcome is on disk. Raises as `Delivery.settle`.
    fn settle(&self, py: Python<'_>, report: PyReport) -> PyResult<Py<PyAny>> {
        self.call(py, |outbox| outbox.settle(&report.0), answers::nothing)
    }

    /// `settle` as a future of asyncio. It is stored even if that is cancelled.
    fn settle_async<'py>(&self, py: Python<'py>, report: PyReport) -> PyResult<Bound<'py, PyAny>> {
        self.call_async(py, |outbox| outbox.settle_async(&report.0), answers::nothing)
    }

    /// Settles deliveries and hands out what is due, in one commit.
    #[pyo3(signature = (reports, scope, limit=10))]
    fn settle_and_lease(
        &self,
        py: Python<'_>,
        reports: Vec<PyReport>,
        scope: Text,
        limit: usize,
    ) -> PyResult<Py<PyAny>> {
        let (reports, scope) = (self::reports(reports), scope.scope()?);
        self.call(py, |outbox| outbox.settle_and_lease(&reports, &scope, limit), answers::turned)
    }

    /// `settle_and_lease` as a future of asyncio.
    #[pyo3(signature = (reports, scope, limit=10))]
    fn settle_and_lease_async<'py>(
        &self,
        py: Python<'py>,
        reports: Vec<PyReport>,
        scope: Text,
        limit: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (reports, scope) = (self::reports(reports), scope.scope()?);
        self.lease_async(py, |outbox| outbox.settle_and_lease_async(&reports, &scope, limit), answers::turned)
    }

    /// The earliest instant at which `lease_due` with that scope could hand something out or change an entry's state, in
    /// milliseconds since 1970 UTC; None: time alone brings nothing (O11).
    fn next_wakeup(&self, py: Python<'_>, scope: Text) -> Told<Option<u64>> {
        let scope = scope.scope()?;
        Ok(py.detach(|| self.0.next_wakeup(&scope))?)
    }

    /// An entry; None: there is no such entry.
    fn get(&self, py: Python<'_>, id: Named) -> PyResult<Py<PyAny>> {
        self.call(py, |outbox| outbox.get(id.0), answers::entry_or_none)
    }

    /// An entry's request: media type and bytes, as they were enqueued (O2); None: there is no such entry.
    fn request<'py>(&self, py: Python<'py>, id: Named) -> Told<Option<(String, Bound<'py, PyBytes>)>> {
        let request = py.detach(|| self.0.request(id.0))?;
        Ok(request.map(|(media_type, bytes)| (media_type, PyBytes::new(py, &bytes))))
    }

    /// The entry of a purpose: the unsettled one, else the newest; None: there is none. It only looks (O3).
    #[pyo3(signature = (scope, purpose, lane="default"))]
    fn find(&self, py: Python<'_>, scope: Text, purpose: &str, lane: &str) -> PyResult<Py<PyAny>> {
        let scope = scope.scope()?;
        self.call(py, |outbox| outbox.find(&scope, lane, purpose), answers::entry_or_none)
    }

    /// One page of the entries of that scope, lane, operation and state, enqueued at least so long ago (all of them where nothing
    /// is said), oldest first: at most `limit`, after the entry with the number `after`.
    #[pyo3(signature = (*, scope=None, lane=None, operation=None, state=None, older_than=None, limit=100, after=None))]
    fn list(
        &self,
        py: Python<'_>,
        scope: Option<Text>,
        lane: Option<String>,
        operation: Option<String>,
        state: Option<String>,
        older_than: Option<Span>,
        limit: usize,
        after: Option<u64>,
    ) -> PyResult<Py<PyAny>> {
        let filter = Which { scope, lane, operation, state, older_than, after }.filter(limit)?;
        self.call(py, |outbox| outbox.list(&filter), answers::page)
    }

    /// How it stands, at a cost that does not depend on how many entries there are.
    fn stats(&self, py: Python<'_>) -> Told<PyOutboxStats> {
        Ok(PyOutboxStats(py.detach(|| self.0.stats())?))
    }

    /// Waits until the entry is settled, at most `timeout` seconds (None: as long as it takes); the entry as it is then. Any later
    /// process can wait for it. Raises `NotFound`, also when it was swept meanwhile. Ctrl-C ends the wait.
    #[pyo3(signature = (id, timeout=None))]
    fn wait(&self, py: Python<'_>, id: Named, timeout: Option<Span>) -> PyResult<Py<PyAny>> {
        let waited = interruptible(py, self.0.wait_async(id.0, Span::or_ever(timeout, "timeout")?))?;
        answers::entry(py, &self.0, waited.map_err(|error| failed(py, &self.0, error))?)
    }

    /// `wait` as a future of asyncio.
    #[pyo3(signature = (id, timeout=None))]
    fn wait_async<'py>(&self, py: Python<'py>, id: Named, timeout: Option<Span>) -> PyResult<Bound<'py, PyAny>> {
        let (outbox, timeout) = (self.0.clone(), Span::or_ever(timeout, "timeout")?);
        patient(
            py,
            || self.0.wait_async(id.0, timeout),
            move |py, waited| answers::entry(py, &outbox, waited.map_err(|error| failed(py, &outbox, error))?),
        )
    }

    /// Waits until `is_enough(entry)` is true of the entry as it is, or it is settled, at most `timeout` seconds.
    #[pyo3(signature = (id, is_enough, timeout=None))]
    fn wait_until(
        &self,
        py: Python<'_>,
        id: Named,
        is_enough: Py<PyAny>,
        timeout: Option<Span>,
    ) -> PyResult<Py<PyAny>> {
        let (predicate, raised) = Predicate::new(is_enough, &self.0);
        let timeout = Span::or_ever(timeout, "timeout")?;
        let waited = self.0.wait_until_async(id.0, timeout, move |view| predicate.says(view));
        let waited = interruptible(py, waited)?;
        raised.check()?;
        answers::entry(py, &self.0, waited.map_err(|error| failed(py, &self.0, error))?)
    }

    /// `wait_until` as a future of asyncio. `is_enough` is called on a thread of keyledger's, and must not wait.
    #[pyo3(signature = (id, is_enough, timeout=None))]
    fn wait_until_async<'py>(
        &self,
        py: Python<'py>,
        id: Named,
        is_enough: Py<PyAny>,
        timeout: Option<Span>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (outbox, (predicate, raised)) = (self.0.clone(), Predicate::new(is_enough, &self.0));
        let timeout = Span::or_ever(timeout, "timeout")?;
        let waited = || self.0.wait_until_async(id.0, timeout, move |view| predicate.says(view));
        patient(py, waited, move |py, waited| {
            raised.check()?;
            answers::entry(py, &outbox, waited.map_err(|error| failed(py, &outbox, error))?)
        })
    }

    /// Every entry that changes after that change, in the order of their last changes; after change 0, every entry. To be iterated
    /// over, with `for` or `async for`; it does not end by itself.
    #[pyo3(signature = (after=0))]
    fn changes(&self, after: u64) -> PyChanges {
        PyChanges::new(&self.0, after)
    }

    /// Takes an entry back, if no lease is out and no try can have taken effect (O10). Cancelling again is ok.
    fn cancel(&self, py: Python<'_>, id: Named) -> PyResult<Py<PyAny>> {
        self.call(py, |outbox| outbox.cancel(id.0), answers::cancelled)
    }

    /// `cancel` as a future of asyncio.
    fn cancel_async<'py>(&self, py: Python<'py>, id: Named) -> PyResult<Bound<'py, PyAny>> {
        self.call_async(py, |outbox| outbox.cancel_async(id.0), answers::cancelled)
    }

    /// There are other credentials: everything of the scope that is held with its lane is due again (O8).
    fn resume(&self, py: Python<'_>, scope: Text) -> PyResult<Py<PyAny>> {
        let scope = scope.scope()?;
        self.call(py, |outbox| outbox.resume(&scope), answers::resumed)
    }

    /// `resume` as a future of asyncio.
    fn resume_async<'py>(&self, py: Python<'py>, scope: Text) -> PyResult<Bound<'py, PyAny>> {
        let scope = scope.scope()?;
        self.call_async(py, |outbox| outbox.resume_async(&scope), answers::resumed)
    }

    /// The network is back: what waits in the scope because no answer came is due within the first backoff (O6). How many entries
    /// are due earlier now.
    fn online(&self, py: Python<'_>, scope: Text) -> PyResult<Py<PyAny>> {
        let scope = scope.scope()?;
        self.call(py, |outbox| outbox.online(&scope), answers::count)
    }

    /// `online` as a future of asyncio.
    fn online_async<'py>(&self, py: Python<'py>, scope: Text) -> PyResult<Bound<'py, PyAny>> {
        let scope = scope.scope()?;
        self.call_async(py, |outbox| outbox.online_async(&scope), answers::count)
    }

    /// One held entry is due again (O8). Raises `WrongState` for an entry that is not held.
    fn resume_entry(&self, py: Python<'_>, id: Named) -> PyResult<Py<PyAny>> {
        self.call(py, |outbox| outbox.resume_entry(id.0), answers::entry)
    }

    /// `resume_entry` as a future of asyncio.
    fn resume_entry_async<'py>(&self, py: Python<'py>, id: Named) -> PyResult<Bound<'py, PyAny>> {
        self.call_async(py, |outbox| outbox.resume_entry_async(id.0), answers::entry)
    }

    /// A dead entry is sent again with its own key, its tries counted anew (O3). Raises `WrongState`, `PurposeConflict`.
    fn requeue(&self, py: Python<'_>, id: Named) -> PyResult<Py<PyAny>> {
        self.call(py, |outbox| outbox.requeue(id.0), answers::entry)
    }

    /// `requeue` as a future of asyncio.
    fn requeue_async<'py>(&self, py: Python<'py>, id: Named) -> PyResult<Bound<'py, PyAny>> {
        self.call_async(py, |outbox| outbox.requeue_async(id.0), answers::entry)
    }

    /// A person gives a dead or unknown entry up: it is dead, and blocks its lane no more (O4).
    #[pyo3(signature = (id, *, who, note))]
    fn dismiss(&self, py: Python<'_>, id: Named, who: &str, note: &str) -> PyResult<Py<PyAny>> {
        self.call(py, |outbox| outbox.dismiss(id.0, who, note), answers::entry)
    }

    /// `dismiss` as a future of asyncio.
    #[pyo3(signature = (id, *, who, note))]
    fn dismiss_async<'py>(&self, py: Python<'py>, id: Named, who: &str, note: &str) -> PyResult<Bound<'py, PyAny>> {
        self.call_async(py, |outbox| outbox.dismiss_async(id.0, who, note), answers::entry)
    }

    /// Somebody has found out what became of an unknown entry (O7): `answered_yes` or `answered_no` with its response, `dead`, or
    /// `resend`: only for when no earlier send can still arrive; the answer is the entry with a new key that takes its place.
    #[pyo3(signature = (id, resolution, response=None, *, who, note))]
    fn resolve(
        &self,
        py: Python<'_>,
        id: Named,
        resolution: &str,
        response: Option<Answer>,
        who: &str,
        note: &str,
    ) -> PyResult<Py<PyAny>> {
        let resolution = self::resolution(resolution, response)?;
        self.call(py, |outbox| outbox.resolve(id.0, resolution, who, note), answers::entry)
    }

    /// `resolve` as a future of asyncio.
    #[pyo3(signature = (id, resolution, response=None, *, who, note))]
    fn resolve_async<'py>(
        &self,
        py: Python<'py>,
        id: Named,
        resolution: &str,
        response: Option<Answer>,
        who: &str,
        note: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let resolution = self::resolution(resolution, response)?;
        self.call_async(py, |outbox| outbox.resolve_async(id.0, resolution, who, note), answers::entry)
    }
}
