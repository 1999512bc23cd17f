//! One leased try at sending an entry.

use std::sync::{Mutex, MutexGuard, PoisonError};

use keyledger::{Delivery, DeliveryLease, DeliveryOutcome, EntryId, EntryView, Error, Key, Outbox, Report};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::argument::seconds;
use crate::error::Told;
use crate::outbox::entry::PyEntry;
use crate::outbox::failed;
use crate::outbox::outcome::PyOutcome;
use crate::waiting::awaitable;

/// One leased try at sending an entry: nobody else sends it meanwhile (O4). Send `request` with `key` within
/// `lease_left_seconds`, then `settle` it.
///
/// One that is dropped counts as a try whose outcome is unknown, and is due after its backoff (O6). One that a driver hands to a
/// transport is settled by what the transport returns; `settle` and `report` raise `ClaimSettled` there.
#[pyclass(name = "Delivery", module = "keyledger", frozen)]
pub(crate) struct PyDelivery {
    facts: Facts,
    outbox: Outbox,
    /// None where it is a driver's, while a call has it, and after it was settled.
    delivery: Mutex<Option<Delivery>>,
}

/// What there is to know of a delivery.
struct Facts {
    entry: EntryView,
    request: Py<PyBytes>,
    media_type: String,
    is_in_doubt: bool,
    lease: DeliveryLease,
}

impl Facts {
    fn of(py: Python<'_>, delivery: &Delivery) -> Self {
        Self {
            entry: delivery.entry().clone(),
            request: PyBytes::new(py, delivery.request()).unbind(),
            media_type: delivery.media_type().to_owned(),
            is_in_doubt: delivery.is_in_doubt(),
            lease: delivery.lease(),
        }
    }
}

impl PyDelivery {
    /// One that is Python's to settle.
    pub(crate) fn own(py: Python<'_>, delivery: Delivery, outbox: &Outbox) -> Self {
        let facts = Facts::of(py, &delivery);
        Self { facts, outbox: outbox.clone(), delivery: Mutex::new(Some(delivery)) }
    }

    /// One that its driver settles.
    pub(crate) fn lent(py: Python<'_>, delivery: &Delivery, outbox: &Outbox) -> Self {
        Self { facts: Facts::of(py, delivery), outbox: outbox.clone(), delivery: Mutex::new(None) }
    }

    /// The request's bytes.
    pub(crate) fn bytes<'py>(&'py self, py: Python<'py>) -> &'py [u8] {
        self.facts.request.bind(py).as_bytes()
    }

    pub(crate) fn kind_of_request(&self) -> &str {
        &self.facts.media_type
    }

    pub(crate) fn own_key(&self) -> &Key {
        self.facts.entry.key()
    }

    /// Gives it back without waiting: it was not sent, and does not count as a try (O6).
    pub(crate) fn give_back_unsent(&self, py: Python<'_>) {
        if let Some(delivery) = self.held().take() {
            let report = delivery.report(DeliveryOutcome::retry("nobody was there to send it").not_taken());
            py.detach(|| drop(self.outbox.settle_async(&report)));
        }
    }

    fn held(&self) -> MutexGuard<'_, Option<Delivery>> {
        self.delivery.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Told<Delivery> {
        Ok(self.held().take().ok_or(Error::ClaimSettled)?)
    }
}

/// What came of a delivery, for `settle` and `settle_and_lease`; it can be told again after an error.
#[pyclass(name = "Report", module = "keyledger", frozen, eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct PyReport(pub(crate) Report);

#[pymethods]
impl PyReport {
    #[new]
    fn new(id: u64, fence: u64, outcome: PyOutcome) -> Self {
        Self(Report { id: EntryId::new(id), fence, outcome: outcome.0 })
    }

    /// The entry's number.
    #[getter]
    fn id(&self) -> u64 {
        self.0.id.get()
    }

    /// The delivery's fence.
    #[getter]
    fn fence(&self) -> u64 {
        self.0.fence
    }

    /// What came of it.
    #[getter]
    fn outcome(&self) -> PyOutcome {
        PyOutcome(self.0.outcome.clone())
    }

    fn __repr__(&self) -> String {
        format!("<Report on entry {}, fence {}: {}>", self.0.id, self.0.fence, self.0.outcome.as_str())
    }
}

/// The outcome of a transport's own making.
pub(crate) fn outcome(returned: &Bound<'_, PyAny>) -> PyResult<DeliveryOutcome> {
    let Ok(outcome) = returned.cast::<PyOutcome>() else {
        let what = returned.get_type().name()?;
        return Err(PyTypeError::new_err(format!("a transport returns a keyledger.DeliveryOutcome, not {what}")));
    };
    Ok(outcome.get().0.clone())
}

#[pymethods]
impl PyDelivery {
    /// The entry as it is while this delivery is out.
    #[getter]
    fn entry(&self) -> PyEntry {
        PyEntry::new(self.facts.entry.clone(), &self.outbox)
    }

    /// The entry's number.
    #[getter]
    fn id(&self) -> u64 {
        self.facts.entry.id().get()
    }

    /// Whose request it is.
    #[getter]
    fn scope(&self) -> &str {
        self.facts.entry.scope().as_str()
    }

    /// What is asked for.
    #[getter]
    fn operation(&self) -> &str {
        self.facts.entry.operation()
    }

    /// The key to send: the same on every try (O2).
    #[getter]
    fn key(&self) -> &str {
        self.facts.entry.key().as_str()
    }

    /// The request's bytes, read from the ledger for this try (O2).
    #[getter]
    fn request<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.facts.request.bind(py).clone()
    }

    /// The request's media type.
    #[getter]
    fn media_type(&self) -> &str {
        &self.facts.media_type
    }

    /// Which fence this delivery has: a number that strictly rises.
    #[getter]
    fn fence(&self) -> u64 {
        self.facts.entry.fence()
    }

    /// Whether an earlier try may have taken effect.
    #[getter]
    fn is_in_doubt(&self) -> bool {
        self.facts.is_in_doubt
    }

    /// How long the lease still lasts: a transport neither sends nor waits longer (O7, C4).
    #[getter]
    fn lease_left_seconds(&self) -> f64 {
        seconds(self.facts.lease.left())
    }

    /// What came of it, as a value, for `settle` and `settle_and_lease` of the outbox. The delivery is over then.
    ///
    /// Raises `ClaimSettled` where it was settled or reported before.
    fn report(&self, outcome: PyOutcome) -> Told<PyReport> {
        Ok(PyReport(self.take()?.report(outcome.0)))
    }

    /// Settles it. On return the outcome is on disk.
    ///
    /// Raises `ClaimLost`: the entry is no longer this delivery's, and what it says does not count (O5); `ClaimSettled`: it was
    /// settled before; those of storage: it can be settled again then.
    fn settle(&self, py: Python<'_>, outcome: PyOutcome) -> Told<()> {
        let delivery = self.take()?;
        match py.detach(|| delivery.settle(outcome.0)) {
            Ok(()) => Ok(()),
            Err(failed) => {
                *self.held() = Some(*failed.delivery);
                Err(failed.source.into())
            }
        }
    }

    /// The same as a future of asyncio. The outcome is stored even if that is cancelled.
    fn settle_async<'py>(slf: &Bound<'py, Self>, outcome: PyOutcome) -> PyResult<Bound<'py, PyAny>> {
        let (py, own) = (slf.py(), slf.clone().unbind());
        let delivery = slf.get().take()?;
        let (id, fence) = (delivery.id(), delivery.fence());
        let outbox = &slf.get().outbox;
        let settled = || outbox.settle_async(&Report { id, fence, outcome: outcome.0 });
        awaitable(py, settled, move |py, settled| {
            let own = own.get();
            match settled {
                Ok(()) => {
                    let _ = delivery.report(DeliveryOutcome::retry(""));
                    Ok(py.None())
                }
                Err(error) => {
                    *own.held() = Some(delivery);
                    Err(failed(py, &own.outbox, error))
                }
            }
        })
    }

    /// Lets it go, as if it were dropped: a try whose outcome is unknown, due after its backoff (O6).
    fn drop(&self) {
        drop(self.held().take());
    }

    fn __repr__(&self) -> String {
        format!("<Delivery of entry {}, fence {}>", self.facts.entry.id(), self.fence())
    }
}
