//! The right to run an operation.

use std::sync::{Mutex, MutexGuard, PoisonError};

use keyledger::{Claim, Error, Settlement};
use pyo3::prelude::*;

use crate::argument::{Answer, Span};
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

    #[pyo3(signature = (lease=None))]
    fn heartbeat(&self, py: Python<'_>, lease: Option<Span>) -> Told<()> {
        let held = self.held();
        let claim = held.as_ref().ok_or(Error::ClaimSettled)?;
        Ok(py.detach(|| match lease {
            Some(Span(lease)) => claim.heartbeat_for(lease),
            None => claim.heartbeat(),
        })?)
    }

    fn complete(&self, py: Python<'_>, response: Answer) -> Told<()> {
        self.settle(py, Settlement::Complete(response.0))
    }

    fn complete_async<'py>(slf: &Bound<'py, Self>, response: Answer) -> PyResult<Bound<'py, PyAny>> {
        Self::settle_async(slf, Settlement::Complete(response.0))
    }
}
