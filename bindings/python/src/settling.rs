//! Settling by key id and fence, recovery, and a person's decisions.

use keyledger::{Claim, Error, Filter, Resolution, Settlement};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::argument::{Answer, Bytes, Span};
use crate::claim::PyClaim;
use crate::error::{Told, exception, invalid_argument};
use crate::key_id::PyKeyId;
use crate::ledger::PyLedger;
use crate::looking::filter;
use crate::operation::PyOperation;
use crate::waiting::{awaitable, patient};

impl PyLedger {
    fn settle(&self, py: Python<'_>, id: &PyKeyId, fence: u64, settlement: Settlement) -> Told<()> {
        Ok(py.detach(|| self.0.settle(&id.0, fence, settlement))?)
    }
}

/// What a person has found out.
fn resolution(outcome: &str, response: Option<Answer>) -> PyResult<Resolution> {
    match (outcome, response) {
        ("completed", Some(Answer(response))) => Ok(Resolution::Completed(response)),
        ("failed", Some(Answer(response))) => Ok(Resolution::Failed(response)),
        ("not_done", None) => Ok(Resolution::NotDone),
        _ => Err(invalid_argument("an outcome is completed or failed with a response, or not_done without one")),
    }
}

fn handed(py: Python<'_>, claims: Vec<Claim>) -> PyResult<Vec<Py<PyClaim>>> {
    claims.into_iter().map(|claim| Py::new(py, PyClaim::new(claim))).collect()
}

#[pymethods]
impl PyLedger {
    /// Completes a claim by key id and fence: for whoever holds no `Claim`. On return the answer is on disk.
    ///
    /// Raises `ClaimLost`, also where nothing is left of the record; `TooLarge`; `Ambiguous`, after which `reopen` and the same call are
    /// safe (S6).
    fn complete(&self, py: Python<'_>, id: &PyKeyId, fence: u64, response: Answer) -> Told<()> {
        self.settle(py, id, fence, Settlement::Complete(response.0))
    }

    /// Fails a claim by key id and fence; as `complete`.
    fn fail(&self, py: Python<'_>, id: &PyKeyId, fence: u64, response: Answer) -> Told<()> {
        self.settle(py, id, fence, Settlement::Fail(response.0))
    }

    /// Releases a claim by key id and fence; as `complete`.
    fn release(&self, py: Python<'_>, id: &PyKeyId, fence: u64) -> Told<()> {
        self.settle(py, id, fence, Settlement::Release)
    }

    /// Parks a claim by key id and fence; as `complete`.
    fn park(&self, py: Python<'_>, id: &PyKeyId, fence: u64, reason: String) -> Told<()> {
        self.settle(py, id, fence, Settlement::Park(reason))
    }

    /// Renews a claim's lease from now, by key id and fence. Raises `ClaimLost`; `InvalidArgument` for a lease of zero.
    fn heartbeat(&self, py: Python<'_>, id: &PyKeyId, fence: u64, lease: Span) -> Told<()> {
        let lease = lease.of("lease")?;
        Ok(py.detach(|| self.0.heartbeat(&id.0, fence, lease))?)
    }

    /// Records a step's result, by key id and fence. On return it is on disk. Raises as `Claim.record_step`.
    fn record_step(&self, py: Python<'_>, id: &PyKeyId, fence: u64, name: &str, value: Bytes) -> Told<()> {
        Ok(py.detach(|| self.0.record_step(&id.0, fence, name, value.0))?)
    }

    /// Hands out claims on at most `limit` records of this operation that are lapsed, or parked without a person having looked, oldest
    /// first; each at most once per lease. Whoever asks finds out what happened, and settles them.
    #[pyo3(signature = (operation, limit=100))]
    fn recover(&self, py: Python<'_>, operation: &PyOperation, limit: usize) -> Told<Vec<Py<PyClaim>>> {
        let claims = py.detach(|| self.0.recover(&operation.0, limit))?;
        Ok(handed(py, claims)?)
    }

    /// `recover` on an event loop. Claims that it was to hand out when it is cancelled end their leases at once.
    #[pyo3(signature = (operation, limit=100))]
    fn recover_async<'py>(
        &self,
        py: Python<'py>,
        operation: &PyOperation,
        limit: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        patient(
            py,
            || self.0.recover_async(&operation.0, limit),
            |py, claims| {
                let claims = handed(py, claims.map_err(|error| exception(py, &error))?)?;
                Ok(claims.into_pyobject(py)?.into_any().unbind())
            },
        )
    }

    /// Settles a parked record for a person, who found out what happened: `outcome` is `completed` or `failed`, with the response, or
    /// `not_done`, **only when the old owner can no longer act**. `fence` is the one that `inspect` showed; who and note stay in the audit
    /// trail. On return it is on disk.
    ///
    /// Raises `NotParked` for another fence, a record that is not parked, or none; the same fence and outcome again is fine. `TooLarge` for
    /// who (255 bytes), note (4 KiB) or a media type.
    #[pyo3(signature = (id, fence, outcome, response=None, *, who, note))]
    fn resolve(
        &self,
        py: Python<'_>,
        id: &PyKeyId,
        fence: u64,
        outcome: &str,
        response: Option<Answer>,
        who: &str,
        note: &str,
    ) -> Told<()> {
        let resolution = resolution(outcome, response)?;
        Ok(py.detach(|| self.0.resolve(&id.0, fence, resolution, who, note))?)
    }

    /// `resolve` on an event loop.
    #[pyo3(signature = (id, fence, outcome, response=None, *, who, note))]
    fn resolve_async<'py>(
        &self,
        py: Python<'py>,
        id: &PyKeyId,
        fence: u64,
        outcome: &str,
        response: Option<Answer>,
        who: &str,
        note: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let resolution = resolution(outcome, response)?;
        awaitable(py, || self.0.resolve_async(&id.0, fence, resolution, who, note), nothing)
    }

    /// Resolves every parked record that the filter lets through, page by page; returns how many. The filter's arguments are those of
    /// `list`. Raises as `resolve`, save that a record which somebody else settles meanwhile is passed over.
    #[pyo3(signature = (outcome, response=None, *, who, note, **which))]
    fn resolve_many(
        &self,
        py: Python<'_>,
        outcome: &str,
        response: Option<Answer>,
        who: &str,
        note: &str,
        which: Option<&Bound<'_, PyDict>>,
    ) -> Told<u64> {
        let resolution = resolution(outcome, response)?;
        let filter: Filter = filter(which)?;
        Ok(py.detach(|| self.0.resolve_many(&filter, &resolution, who, note))?)
    }
}

/// What a call that answers nothing tells Python.
pub(crate) fn nothing(py: Python<'_>, done: Result<(), Error>) -> PyResult<Py<PyAny>> {
    done.map(|()| py.None()).map_err(|error| exception(py, &error))
}
