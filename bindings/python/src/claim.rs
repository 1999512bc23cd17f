//! The right to run an operation.

use std::sync::{Mutex, MutexGuard, PoisonError};

use keyledger::{Claim, Error, ErrorMeans, KeyId, Ledger, Response, SettleError, Settlement, Step};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use crate::argument::{Answer, Bytes, Span, seconds};
use crate::block::ended;
use crate::borrowed::{Raised, lend, returned};
use crate::error::Told;
use crate::key_id::PyKeyId;
use crate::response::PyResponse;
use crate::rows::PyBatch;
use crate::settling::nothing;
use crate::waiting::awaitable;

/// The right to run an operation, held by one owner at a time under a lease.
///
/// Settle it with `complete`, `fail`, `release` or `park`: once; a second time raises `ClaimSettled`. Where settling failed otherwise the
/// claim is as it was. As a `with` block it is settled by the record's effect when the block raises. One that is dropped without
/// being settled ends its lease at once, without I/O (S2).
///
/// Example:
///
///     match ledger.begin(CHARGE, "user-7", "order-1034", fingerprint):
///         case Acquired(claim):
///             with claim:
///                 bank.charge(990, idempotency_key=claim.derive_key("charge"))
///                 claim.complete(Response.json({"charged": 990}))
#[pyclass(name = "Claim", module = "keyledger", frozen, weakref)]
pub(crate) struct PyClaim {
    /// While a call settles the claim, and after it, what stays behind: it is used up, and can still be looked at. Held for moments
    /// alone, and never while anything waits.
    claim: Mutex<Claim>,
}

impl PyClaim {
    pub(crate) fn new(claim: Claim) -> Self {
        Self { claim: Mutex::new(claim) }
    }

    fn held(&self) -> MutexGuard<'_, Claim> {
        self.claim.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The claim, for a call that uses it up or gives it back.
    fn taken(&self) -> Claim {
        self.held().take()
    }

    /// Whoever was too late has taken what another had left behind, and puts nothing in the place of the claim itself. Steps that were
    /// recorded meanwhile stay known.
    fn give_back(&self, mut claim: Claim) {
        let mut held = self.held();
        if !held.is_open() {
            held.steps().iter().for_each(|step| claim.remember_step(step.clone()));
            *held = claim;
        }
    }

    /// Where a step is recorded: by key id and fence, so that the claim stays where it is, whatever becomes of the call.
    fn place(&self) -> (Ledger, KeyId, u64) {
        let held = self.held();
        (held.ledger(), held.key_id().clone(), held.fence())
    }

    /// For adapters: the claim, open or with what it was settled with; nothing where somebody has it.
    pub(crate) fn surrender(&self) -> Option<Claim> {
        let mut held = self.held();
        (held.is_open() || held.settled().is_some()).then(|| held.take())
    }

    /// Releases the claim without waiting: that is on its way to the disk when this returns (S3).
    pub(crate) fn release_unseen(&self, py: Python<'_>) {
        py.detach(|| drop(self.taken().release_async()));
    }

    fn settle(&self, py: Python<'_>, settlement: Settlement) -> Told<()> {
        let mut claim = self.taken();
        let settled = py.detach(|| claim.settle_in_place(settlement));
        self.give_back(claim);
        Ok(settled?)
    }

    /// Settling failed: the claim is as it was.
    fn failed(&self, SettleError { claim, source }: SettleError) -> Error {
        self.give_back(*claim);
        source
    }

    fn settle_async<'py>(slf: &Bound<'py, Self>, settlement: Settlement) -> PyResult<Bound<'py, PyAny>> {
        let (own, claim) = (slf.clone().unbind(), slf.get());
        let settled = || {
            let settled = claim.taken().settle_async(settlement);
            async move { settled.await.map_err(|failed| own.get().failed(failed)) }
        };
        awaitable(slf.py(), settled, nothing)
    }

    fn by_effect(&self) -> Settlement {
        ErrorMeans::ByEffect.settlement(self.held().effect())
    }
}

#[pymethods]
impl PyClaim {
    /// Whose record this is a claim on.
    #[getter]
    fn key_id(&self) -> PyKeyId {
        PyKeyId(self.held().key_id().clone())
    }

    /// A number that strictly rises with every claim granted: hand it to whatever the operation writes to.
    #[getter]
    fn fence(&self) -> u64 {
        self.held().fence()
    }

    /// 1 for the first owner of this key id; higher when earlier owners were lost or released it.
    #[getter]
    fn attempt(&self) -> u32 {
        self.held().attempt()
    }

    /// The record's effect, the strictest that any granted begin has named (E1): errors go by it (S8).
    #[getter]
    fn effect(&self) -> &'static str {
        self.held().effect().as_str()
    }

    /// What the caller of `begin` stored for whoever recovers the record.
    #[getter]
    fn memo<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.held().memo())
    }

    /// The steps that this and earlier attempts have recorded: name and value.
    #[getter]
    fn steps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        steps(py, self.held().steps())
    }

    /// When the key id was first granted: milliseconds since 1970-01-01 UTC.
    #[getter]
    fn first_granted_at_ms(&self) -> u64 {
        self.held().first_granted_at_ms()
    }

    /// Repeatable: for how many seconds the handler may still call out, since the downstream knows derived keys that long (E4). Zero: no
    /// longer. None for other effects.
    #[getter]
    fn remaining_seconds(&self) -> Option<f64> {
        self.held().remaining().map(seconds)
    }

    /// How many seconds a heartbeat renews the lease for, where it does not say: the operation's lease.
    #[getter]
    fn lease_seconds(&self) -> f64 {
        seconds(self.held().lease_time())
    }

    /// Which of the ledgers that this process has opened has granted it.
    #[getter]
    fn ledger_number(&self) -> usize {
        self.held().ledger_number()
    }

    /// Whether a heartbeat was told that the claim is somebody else's: what the handler does will not count.
    #[getter]
    fn is_lost(&self) -> bool {
        self.held().lost_signal().is_set()
    }

    /// Whether nothing more can be done with it: it was settled, lost, or given away.
    #[getter]
    fn is_settled(&self) -> bool {
        !self.held().is_open()
    }

    /// A key for a downstream call. It depends on key id and `name` alone, so it is equal on every attempt, in every language and on
    /// every machine (E3).
    fn derive_key(&self, name: &str) -> String {
        self.held().derive_key(name).as_str().to_owned()
    }

    /// Renews the lease from now: by the operation's own length, or by `lease`.
    ///
    /// Raises `ClaimLost`, also once it is settled, and sets `is_lost`; `InvalidArgument` for a lease of zero.
    #[pyo3(signature = (lease=None))]
    fn heartbeat(&self, py: Python<'_>, lease: Option<Span>) -> Told<()> {
        let (pulse, lease) = (self.held().pulse(), Span::given(lease, "lease")?);
        let beat = py.detach(|| match lease {
            Some(lease) => pulse.heartbeat_for(lease),
            None => pulse.heartbeat(),
        });
        Ok(beat?)
    }

    /// It was done, and this is the answer. On return the answer is on disk, and is replayed from now on.
    ///
    /// Raises `ClaimLost`: throw the result away. `TooLarge` for the media type. `Ambiguous`: `reopen` the ledger and call again (S6).
    fn complete(&self, py: Python<'_>, response: Answer) -> Told<()> {
        self.settle(py, Settlement::Complete(response.0))
    }

    /// A final no, told again to every retry. On return it is on disk. Raises as `complete`.
    fn fail(&self, py: Python<'_>, response: Answer) -> Told<()> {
        self.settle(py, Settlement::Fail(response.0))
    }

    /// It surely did not happen: whoever comes next may run it. Raises as `complete`.
    fn release(&self, py: Python<'_>) -> Told<()> {
        self.settle(py, Settlement::Release)
    }

    /// Nobody knows whether it happened: held for a person. On return that is on disk.
    ///
    /// Raises as `complete`; `TooLarge` for a reason of more than 1 KiB.
    fn park(&self, py: Python<'_>, reason: String) -> Told<()> {
        self.settle(py, Settlement::Park(reason))
    }

    /// Ends it as its record's effect has it for a handler that raised (S8): InLedger and Repeatable are released, AtMostOnce is parked.
    fn settle_by_effect(&self, py: Python<'_>) -> Told<()> {
        let settlement = self.by_effect();
        self.settle(py, settlement)
    }

    /// `complete` on an event loop. What is settled is queued when the call is made, and is stored even if nobody waits for it (S3).
    fn complete_async<'py>(slf: &Bound<'py, Self>, response: Answer) -> PyResult<Bound<'py, PyAny>> {
        Self::settle_async(slf, Settlement::Complete(response.0))
    }

    /// `fail` on an event loop.
    fn fail_async<'py>(slf: &Bound<'py, Self>, response: Answer) -> PyResult<Bound<'py, PyAny>> {
        Self::settle_async(slf, Settlement::Fail(response.0))
    }

    /// `release` on an event loop.
    fn release_async<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::settle_async(slf, Settlement::Release)
    }

    /// `park` on an event loop.
    fn park_async<'py>(slf: &Bound<'py, Self>, reason: String) -> PyResult<Bound<'py, PyAny>> {
        Self::settle_async(slf, Settlement::Park(reason))
    }

    /// `settle_by_effect` on an event loop.
    fn settle_by_effect_async<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let settlement = slf.get().by_effect();
        Self::settle_async(slf, settlement)
    }

    /// Lets it go unsettled: its lease ends at once for everyone in the process, without I/O (S2). Returns whether it was unsettled.
    fn drop(&self) -> bool {
        self.taken().is_open()
    }

    /// Runs `f` with a `Transaction` and stores its changes and the response that it returns together, or nothing of it.
    ///
    /// The fence is checked first: if this fence has completed before, `f` is not run and the stored response is returned (G2). `f` runs at
    /// most once. While it runs others wait: keep it short, and do not call the ledger from inside it. Returns the response. What `f`
    /// raises comes out as it is; then nothing is stored, and the claim is as it was.
    fn complete_with(&self, py: Python<'_>, f: Bound<'_, PyAny>) -> Told<PyResponse> {
        let (mut claim, f) = (self.taken(), f.unbind());
        let done = py.detach(|| claim.complete_with(|tx| answered(tx, &f)));
        self.give_back(claim);
        Ok(PyResponse(done?))
    }

    /// `complete_with` on an event loop: `f` runs on the ledger's own thread. What it stored stays stored even if nobody waits (S3).
    fn complete_with_async<'py>(slf: &Bound<'py, Self>, f: Py<PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (mut claim, own) = (slf.get().taken(), slf.clone().unbind());
        let work = async move {
            let done = claim.complete_with_async(move |tx| answered(tx, &f)).await;
            own.get().give_back(claim);
            done
        };
        awaitable(slf.py(), || work, |py, done| Ok(Py::new(py, PyResponse(done?))?.into_any()))
    }

    /// `complete_with` as a value: the batch and the response are stored together, or not at all. Returns the response.
    fn complete_batch(&self, py: Python<'_>, batch: &PyBatch, response: Answer) -> Told<PyResponse> {
        let (mut claim, batch) = (self.taken(), batch.batch());
        let done = py.detach(|| claim.complete_batch(&batch, response.0));
        self.give_back(claim);
        Ok(PyResponse(done?))
    }

    /// Runs `f` until its result, bytes, is recorded under `name`; from then on, on any later attempt, returns that and does not run it.
    ///
    /// A kill between the two runs `f` again: give what it calls `derive_key(name)`. On return the result is on disk.
    ///
    /// Raises whatever `f` raises; `ClaimLost`; `InvalidArgument` for InLedger operations; `TooLarge`.
    fn step<'py>(&self, py: Python<'py>, name: &str, f: Bound<'py, PyAny>) -> Told<Bound<'py, PyBytes>> {
        if let Some(value) = self.recorded_step(py, name)? {
            return Ok(value);
        }
        let value: Bytes = f.call0()?.extract()?;
        self.record_step(py, name, value.clone())?;
        Ok(PyBytes::new(py, &value.0))
    }

    /// What this or an earlier attempt has recorded under `name`, or None. What `record_step` would refuse is refused here, before the
    /// step is done.
    fn recorded_step<'py>(&self, py: Python<'py>, name: &str) -> Told<Option<Bound<'py, PyBytes>>> {
        Ok(self.held().recorded_step(name)?.map(|value| PyBytes::new(py, value)))
    }

    /// Records a step's result. On return it is on disk.
    ///
    /// Raises `ClaimLost`; `InvalidArgument` for InLedger operations and for a name that has another value; `TooLarge`.
    fn record_step(&self, py: Python<'_>, name: &str, value: Bytes) -> Told<()> {
        let (ledger, id, fence) = self.place();
        py.detach(|| ledger.record_step(&id, fence, name, value.0.clone()))?;
        self.held().remember_step(Step { name: name.to_owned(), value: value.0 });
        Ok(())
    }

    /// `record_step` on an event loop. It is recorded even if nobody waits for it (S3).
    fn record_step_async<'py>(slf: &Bound<'py, Self>, name: String, value: Bytes) -> PyResult<Bound<'py, PyAny>> {
        let Bytes(value) = value;
        let (own, (ledger, id, fence)) = (slf.clone().unbind(), slf.get().place());
        let recorded = || {
            let recorded = ledger.record_step_async(&id, fence, &name, value.clone());
            async move {
                recorded.await?;
                own.get().held().remember_step(Step { name, value });
                Ok(())
            }
        };
        awaitable(slf.py(), recorded, nothing)
    }

    /// A block that this claim is current in, and its lease renewed. What leaving it means is written in Python.
    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        in_python(slf.py(), "entered")?.call1((slf,))
    }

    /// An error that leaves the block settles the claim by its effect; without one, a claim that is not settled yet is let go.
    fn __exit__<'py>(
        slf: &Bound<'py, Self>,
        _class: &Bound<'py, PyAny>,
        error: &Bound<'py, PyAny>,
        _traceback: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let left = in_python(slf.py(), "left")?;
        ended(slf.py(), || left.call1((slf, error)))
    }

    fn __aenter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        in_python(slf.py(), "entered_async")?.call1((slf,))
    }

    fn __aexit__<'py>(
        slf: &Bound<'py, Self>,
        _class: &Bound<'py, PyAny>,
        error: &Bound<'py, PyAny>,
        _traceback: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        in_python(slf.py(), "left_async")?.call1((slf, error))
    }

    fn __repr__(&self) -> String {
        let held = self.held();
        let state = if held.is_open() { "open" } else { "settled" };
        format!("<Claim {:?} fence {} {state}>", held.key_id().key().as_str(), held.fence())
    }
}

fn in_python<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("keyledger._claims")?.getattr(name)
}

/// What a closure of Python's answers inside a transaction.
fn answered(tx: &mut keyledger::Transaction<'_, '_>, f: &Py<PyAny>) -> Result<Response, Raised> {
    returned(|py| Ok(lend(py, tx, f)?.extract::<Answer>()?.0))
}

/// Steps, for Python.
pub(crate) fn steps<'py>(py: Python<'py>, steps: &[Step]) -> PyResult<Bound<'py, PyList>> {
    let pair = |step: &Step| {
        let value = PyBytes::new(py, &step.value).into_any();
        PyTuple::new(py, [step.name.as_str().into_pyobject(py)?.into_any(), value])
    };
    PyList::new(py, steps.iter().map(pair).collect::<PyResult<Vec<_>>>()?)
}
