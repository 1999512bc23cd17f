//! The right to run an operation.

use std::sync::{Mutex, MutexGuard, PoisonError};

use keyledger::{Claim, Error, ErrorMeans, Settlement};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::argument::{Answer, Span, seconds};
use crate::error::Told;
use crate::waiting::awaitable;

/// A claim. It is settled once; a second time raises `ClaimSettled`.
#[pyclass(name = "Claim", module = "keyledger", subclass, frozen)]
pub(crate) struct PyClaim {
    /// None while a call has it, and after it was settled.
    claim: Mutex<Option<Claim>>,
}

impl PyClaim {
    pub(crate) fn new(claim: Claim) -> Self {
        Self { claim: Mutex::new(Some(claim)) }
    }

    fn held(&self) -> MutexGuard<'_, Option<Claim>> {
        self.claim.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Told<Claim> {
        Ok(self.held().take().ok_or(Error::ClaimSettled)?)
    }

    /// For adapters: the claim, unless somebody has it or has settled it.
    pub(crate) fn surrender(&self) -> Option<Claim> {
        self.held().take()
    }

    /// Looks at the claim, or says that it was settled.
    fn look<T>(&self, at: impl FnOnce(&Claim) -> T) -> Told<T> {
        Ok(at(self.held().as_ref().ok_or(Error::ClaimSettled)?))
    }

    fn settle(&self, py: Python<'_>, settlement: Settlement) -> Told<()> {
        let claim = self.take()?;
        match py.detach(|| claim.settle(settlement)) {
            Ok(()) => Ok(()),
            Err(failed) => {
                *self.held() = Some(*failed.claim);
                Err(failed.source.into())
            }
        }
    }

    fn settle_async<'py>(slf: &Bound<'py, Self>, settlement: Settlement) -> PyResult<Bound<'py, PyAny>> {
        let (py, own) = (slf.py(), slf.clone().unbind());
        let claim = slf.get().take()?;
        awaitable(py, claim.settle_async(settlement), move |py, settled| match settled {
            Ok(()) => Ok(py.None()),
            Err(failed) => {
                *own.get().held() = Some(*failed.claim);
                Err(crate::error::exception(py, &failed.source))
            }
        })
    }
}

#[pymethods]
impl PyClaim {
    /// Whether nobody can settle it any more.
    #[getter]
    fn is_settled(&self) -> bool {
        self.held().as_ref().is_none_or(|claim| claim.settled().is_some())
    }

    #[getter]
    fn fence(&self) -> Told<u64> {
        self.look(Claim::fence)
    }

    #[getter]
    fn attempt(&self) -> Told<u32> {
        self.look(Claim::attempt)
    }

    fn derive_key(&self, name: &str) -> Told<String> {
        self.look(|claim| claim.derive_key(name).to_string())
    }

    /// The record's effect, the strictest that any granted begin has named (E1).
    #[getter]
    fn effect(&self) -> Told<&'static str> {
        self.look(|claim| claim.effect().as_str())
    }

    /// What the caller of `begin` stored for whoever recovers the record.
    #[getter]
    fn memo<'py>(&self, py: Python<'py>) -> Told<Bound<'py, PyBytes>> {
        self.look(|claim| PyBytes::new(py, claim.memo()))
    }

    /// For how long a lease lasts from its grant, or from a heartbeat.
    #[getter]
    fn lease_seconds(&self) -> Told<f64> {
        self.look(|claim| seconds(claim.lease_time()))
    }

    /// Equal for all claims of one handle, and for no claims of two that are open.
    #[getter]
    fn ledger_number(&self) -> Told<usize> {
        self.look(Claim::ledger_number)
    }

    /// Whether a heartbeat has found the claim lost.
    #[getter]
    fn lost(&self) -> Told<bool> {
        self.look(|claim| claim.lost_signal().is_set())
    }

    /// Renews the lease from now. What the claim is asked for meanwhile waits.
    #[pyo3(signature = (lease=None))]
    fn heartbeat(&self, py: Python<'_>, lease: Option<Span>) -> Told<()> {
        Ok(py.detach(|| {
            // Held without the interpreter only: whoever waits for it here holds that.
            let pulse = self.held().as_ref().ok_or(Error::ClaimSettled)?.pulse();
            match lease {
                Some(Span(lease)) => pulse.heartbeat_for(lease),
                None => pulse.heartbeat(),
            }
        })?)
    }

    /// Ends the lease now, without I/O (S2), and tells whether there was one to end.
    fn drop(&self) -> bool {
        self.held().take().is_some()
    }

    fn complete(&self, py: Python<'_>, response: Answer) -> Told<()> {
        self.settle(py, Settlement::Complete(response.0))
    }

    fn complete_async<'py>(slf: &Bound<'py, Self>, response: Answer) -> PyResult<Bound<'py, PyAny>> {
        Self::settle_async(slf, Settlement::Complete(response.0))
    }

    /// A final no, told again to every retry.
    fn fail(&self, py: Python<'_>, response: Answer) -> Told<()> {
        self.settle(py, Settlement::Fail(response.0))
    }

    fn fail_async<'py>(slf: &Bound<'py, Self>, response: Answer) -> PyResult<Bound<'py, PyAny>> {
        Self::settle_async(slf, Settlement::Fail(response.0))
    }

    /// It surely did not happen.
    fn release(&self, py: Python<'_>) -> Told<()> {
        self.settle(py, Settlement::Release)
    }

    fn release_async<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::settle_async(slf, Settlement::Release)
    }

    /// Nobody knows whether it happened.
    fn park(&self, py: Python<'_>, reason: String) -> Told<()> {
        self.settle(py, Settlement::Park(reason))
    }

    fn park_async<'py>(slf: &Bound<'py, Self>, reason: String) -> PyResult<Bound<'py, PyAny>> {
        Self::settle_async(slf, Settlement::Park(reason))
    }

    /// As the record's effect says of a handler that raised an error (section 3).
    fn settle_by_effect(&self, py: Python<'_>) -> Told<()> {
        let settlement = self.look(by_effect)?;
        self.settle(py, settlement)
    }

    fn settle_by_effect_async<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let settlement = slf.get().look(by_effect)?;
        Self::settle_async(slf, settlement)
    }
}

fn by_effect(claim: &Claim) -> Settlement {
    ErrorMeans::ByEffect.settlement(claim.effect())
}
