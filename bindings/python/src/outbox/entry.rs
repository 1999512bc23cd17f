//! Entries of the outbox, as Python sees them.

use keyledger::{AuditEntry, Enqueued, EntryId, EntryView, Outbox, TryError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::argument::Span;
use crate::client::PyHttpAnswer;
use crate::error::{Told, of_code};
use crate::fingerprint::PyFingerprint;
use crate::outbox::failed;
use crate::patience::interruptible;
use crate::response::PyResponse;
use crate::waiting::patient;

/// An entry of the outbox as it was when it was read. Instants are milliseconds since 1970-01-01 UTC.
///
/// `result` waits for what comes of it, in this process or a later one.
#[pyclass(name = "Entry", module = "keyledger", frozen)]
pub(crate) struct PyEntry {
    pub(crate) view: EntryView,
    outbox: Outbox,
}

/// What `enqueue` answers: the entry, and whether it is new. `entry, created = outbox.enqueue(...)` works too.
#[pyclass(name = "Enqueued", module = "keyledger", frozen)]
pub(crate) struct PyEnqueued {
    /// The entry: a new one, or the one that was there.
    #[pyo3(get)]
    entry: Py<PyEntry>,
    /// Whether it is new.
    #[pyo3(get)]
    created: bool,
}

/// An error of one of an entry's tries.
#[pyclass(name = "TryError", module = "keyledger", frozen)]
pub(crate) struct PyTryError {
    /// Milliseconds since 1970-01-01 UTC.
    #[pyo3(get)]
    at_ms: u64,
    /// What went wrong, or what the server said.
    #[pyo3(get)]
    error: String,
}

#[pymethods]
impl PyTryError {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("TryError(at_ms={}, error={})", self.at_ms, PyString::new(py, &self.error).repr()?))
    }
}

/// What a person decided about an entry.
#[pyclass(name = "Decided", module = "keyledger", frozen)]
pub(crate) struct PyDecided {
    /// Milliseconds since 1970-01-01 UTC.
    #[pyo3(get)]
    at_ms: u64,
    /// What was decided.
    #[pyo3(get)]
    outcome: String,
    /// Who decided it.
    #[pyo3(get)]
    who: String,
    /// Why.
    #[pyo3(get)]
    note: String,
}

/// The number of an entry, or the entry itself.
pub(crate) struct Named(pub(crate) EntryId);

impl<'py> FromPyObject<'_, 'py> for Named {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match given.cast::<PyEntry>() {
            Ok(entry) => Ok(Named(entry.get().view.id())),
            Err(_) => Ok(Named(EntryId::new(given.extract()?))),
        }
    }
}

impl PyEntry {
    pub(crate) fn new(view: EntryView, outbox: &Outbox) -> Self {
        Self { view, outbox: outbox.clone() }
    }

    pub(crate) fn told(py: Python<'_>, view: EntryView, outbox: &Outbox) -> PyResult<Py<PyAny>> {
        Ok(Py::new(py, Self::new(view, outbox))?.into_any())
    }
}

impl PyEnqueued {
    pub(crate) fn new(py: Python<'_>, enqueued: Enqueued, outbox: &Outbox) -> PyResult<Self> {
        let Enqueued { entry, created } = enqueued;
        Ok(Self { entry: Py::new(py, PyEntry::new(entry, outbox))?, created })
    }
}

/// Whether nothing more comes of an entry by itself.
fn has_ended(view: &EntryView) -> bool {
    view.is_settled() || view.unknown().is_some() || view.held().is_some()
}

/// The answer of an entry that was answered with a yes; else the error that says how it stands.
fn ending(py: Python<'_>, view: EntryView, outbox: &Outbox) -> PyResult<Py<PyAny>> {
    let id = view.id();
    let (code, message) = match (view.response(), view.dead(), view.unknown(), view.held()) {
        (Some(response), ..) if view.is_yes() => return Ok(Py::new(py, PyResponse(response.clone()))?.into_any()),
        (Some(_), ..) => ("answered_no", format!("entry {id} was answered with a no; its response says why")),
        (_, Some(why), ..) => ("entry_dead", format!("entry {id} was given up: {}", why.as_str())),
        (_, _, Some(why), _) => (
            "entry_unknown",
            format!("nobody knows whether entry {id} took effect ({}); find out, then resolve it", why.as_str()),
        ),
        (.., Some((why, true))) => {
            ("entry_held", format!("entry {id} is held with its lane ({why}); resume its scope"))
        }
        (.., Some((why, false))) => ("entry_held", format!("entry {id} is held ({why}); resume it")),
        _ if view.is_settled() => ("entry_cancelled", format!("entry {id} was cancelled; it took no effect")),
        _ => ("no_result_yet", format!("entry {id} is {}; wait longer, or ask again later", view.state().as_str())),
    };
    let response = view.response().cloned();
    let error = of_code(py, code, &message);
    let raised = error.value(py);
    raised.setattr("entry", PyEntry::told(py, view, outbox)?)?;
    if let Some(response) = response {
        raised.setattr("response", PyResponse(response))?;
    }
    Err(error)
}

#[pymethods]
impl PyEntry {
    /// What names it in this ledger.
    #[getter]
    fn id(&self) -> u64 {
        self.view.id().get()
    }

    /// Whose it is.
    #[getter]
    fn scope(&self) -> &str {
        self.view.scope().as_str()
    }

    /// The lane that it is in.
    #[getter]
    fn lane(&self) -> &str {
        self.view.lane()
    }

    /// What is asked for.
    #[getter]
    fn operation(&self) -> &str {
        self.view.operation()
    }

    /// The key that goes with it, on every try the same (O2).
    #[getter]
    fn key(&self) -> &str {
        self.view.key().as_str()
    }

    /// What the user wants, if the caller named it.
    #[getter]
    fn purpose(&self) -> Option<&str> {
        self.view.purpose()
    }

    /// What tells its request from another under the same key or purpose.
    #[getter]
    fn fingerprint(&self) -> PyFingerprint {
        PyFingerprint(self.view.fingerprint())
    }

    /// `pending`, `sending`, `held`, `unknown`, `answered`, `dead` or `cancelled`.
    #[getter]
    fn state(&self) -> &'static str {
        self.view.state().as_str()
    }

    /// Whether there is a final answer, or never will be one.
    #[getter]
    fn is_settled(&self) -> bool {
        self.view.is_settled()
    }

    /// The final answer, a yes or a no.
    #[getter]
    fn response(&self) -> Option<PyResponse> {
        self.view.response().cloned().map(PyResponse)
    }

    /// The final answer, a yes or a no, as one over HTTP.
    #[getter]
    fn http_answer(&self) -> Option<PyHttpAnswer> {
        PyHttpAnswer::of_entry(&self.view)
    }

    /// Whether it was answered with a yes.
    #[getter]
    fn is_yes(&self) -> bool {
        self.view.is_yes()
    }

    /// Why it is held, unknown, dead, or cancelled by time, in words.
    #[getter]
    fn reason(&self) -> Option<&str> {
        let view = &self.view;
        let held = view.held().map(|(why, _)| why);
        let in_doubt = view.unknown().map(keyledger::UnknownReason::as_str);
        let dead = view.dead().map(keyledger::DeadReason::as_str);
        held.or(in_doubt).or(dead).or(view.is_not_sent_in_time().then_some("not sent in time"))
    }

    /// Whether its whole lane is held with it.
    #[getter]
    fn is_held_with_lane(&self) -> bool {
        self.view.held().is_some_and(|(_, with_lane)| with_lane)
    }

    /// How many tries count.
    #[getter]
    fn tries(&self) -> u32 {
        self.view.tries()
    }

    /// How many tries were given back: the server asked for the same key later, or turned it away (O6).
    #[getter]
    fn given_back(&self) -> u32 {
        self.view.given_back()
    }

    /// The errors of the last sixteen tries, the oldest first.
    #[getter]
    fn errors(&self) -> Vec<PyTryError> {
        let told = |TryError { at_ms, error }: &TryError| PyTryError { at_ms: *at_ms, error: error.clone() };
        self.view.errors().iter().map(told).collect()
    }

    /// Whether some try may have taken effect without an answer (O9).
    #[getter]
    fn may_have_taken_effect(&self) -> bool {
        self.view.may_have_taken_effect()
    }

    /// When it may be sent next, as far as it alone is concerned.
    #[getter]
    fn due_at_ms(&self) -> Option<u64> {
        self.view.due_at_ms()
    }

    /// When the lease of the delivery under way ends.
    #[getter]
    fn lease_end_ms(&self) -> Option<u64> {
        self.view.lease_end_ms()
    }

    /// The first send whose outcome is unknown: the window counts from it (O7).
    #[getter]
    fn first_unknown_at_ms(&self) -> Option<u64> {
        self.view.first_unknown_at_ms()
    }

    /// Until when it is worth sending, if the caller said so.
    #[getter]
    fn send_by_ms(&self) -> Option<u64> {
        self.view.send_by_ms()
    }

    /// When it was enqueued.
    #[getter]
    fn created_at_ms(&self) -> u64 {
        self.view.created_at_ms()
    }

    /// When it was settled.
    #[getter]
    fn settled_at_ms(&self) -> Option<u64> {
        self.view.settled_at_ms()
    }

    /// The number of the entry that took its place (O7).
    #[getter]
    fn successor(&self) -> Option<u64> {
        self.view.successor().map(EntryId::get)
    }

    /// The fence of its last delivery; zero before the first.
    #[getter]
    fn fence(&self) -> u64 {
        self.view.fence()
    }

    /// What persons decided about it.
    #[getter]
    fn audit(&self) -> Vec<PyDecided> {
        let told = |AuditEntry { at_ms, outcome, who, note }: AuditEntry| PyDecided { at_ms, outcome, who, note };
        self.view.audit().iter().cloned().map(told).collect()
    }

    /// The length of its request in bytes.
    #[getter]
    fn request_bytes(&self) -> u64 {
        self.view.request_bytes()
    }

    /// Rises with every change of any entry: where `changes` goes on after this one.
    #[getter]
    fn change(&self) -> u64 {
        self.view.change()
    }

    /// Waits for what comes of it, at most `timeout` seconds (None: as long as it takes), and returns the response of a yes. Any
    /// later process can ask: `outbox.get(id).result(30)`. Nothing is sent by this: a driver does that, here or elsewhere.
    ///
    /// Raises `AnsweredNo` (with `.response`), `EntryDead`, `EntryCancelled`; as soon as a person is needed `EntryUnknown` or
    /// `EntryHeld`; when the time is up `NoResultYet`, which is a `TimeoutError` too. All have `.entry` as it is then. `NotFound`: it
    /// was swept. Ctrl-C ends the wait.
    #[pyo3(signature = (timeout=None))]
    fn result(&self, py: Python<'_>, timeout: Option<Span>) -> Told<Py<PyAny>> {
        let timeout = Span::or_ever(timeout, "timeout")?;
        let ended = self.outbox.wait_until_async(self.view.id(), timeout, has_ended);
        let view = interruptible(py, ended)?.map_err(|error| failed(py, &self.outbox, error))?;
        Ok(ending(py, view, &self.outbox)?)
    }

    /// The same as a future of asyncio.
    #[pyo3(signature = (timeout=None))]
    fn result_async<'py>(&self, py: Python<'py>, timeout: Option<Span>) -> PyResult<Bound<'py, PyAny>> {
        let timeout = Span::or_ever(timeout, "timeout")?;
        let ended = || self.outbox.wait_until_async(self.view.id(), timeout, has_ended);
        let outbox = self.outbox.clone();
        patient(py, ended, move |py, ended| {
            let view = ended.map_err(|error| failed(py, &outbox, error))?;
            ending(py, view, &outbox)
        })
    }

    /// The same entry as it was after the same change.
    fn __eq__(&self, other: &Self) -> bool {
        (self.view.id(), self.view.change()) == (other.view.id(), other.view.change())
    }

    fn __hash__(&self) -> u64 {
        self.view.id().get()
    }

    fn __repr__(&self) -> String {
        let view = &self.view;
        format!(
            "<Entry {} {:?} of {:?}: {}>",
            view.id(),
            view.operation(),
            view.scope().as_str(),
            view.state().as_str()
        )
    }
}

#[pymethods]
impl PyEnqueued {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("entry", "created")
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let pair = (self.entry.clone_ref(py), self.created).into_pyobject(py)?;
        Ok(pair.try_iter()?.into_any().unbind())
    }

    fn __repr__(&self) -> String {
        let created = if self.created { "True" } else { "False" };
        format!("Enqueued({}, created={created})", self.entry.get().__repr__())
    }
}
