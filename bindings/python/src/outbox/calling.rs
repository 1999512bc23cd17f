//! The three ways to make a call of the outbox: on this thread, as a future of asyncio, and as one that hands deliveries out.

use keyledger::Outbox;
use pyo3::prelude::*;

use super::{PyOutbox, failed};
use crate::waiting::{awaitable, handing_out};

/// What makes an object of Python's of an answer.
type Answered<T> = fn(Python<'_>, &Outbox, T) -> PyResult<Py<PyAny>>;

impl PyOutbox {
    /// A call that may sync, and what it answers.
    pub(super) fn call<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&Outbox) -> keyledger::Result<T> + Send,
        tell: Answered<T>,
    ) -> PyResult<Py<PyAny>> {
        let answer = py.detach(|| call(&self.0)).map_err(|error| failed(py, &self.0, error))?;
        tell(py, &self.0, answer)
    }

    /// The same as a future of asyncio.
    pub(super) fn call_async<'py, T: Send + 'static, F: Future<Output = keyledger::Result<T>> + Send + 'static>(
        &self,
        py: Python<'py>,
        make: impl FnOnce(&Outbox) -> F + Send,
        tell: Answered<T>,
    ) -> PyResult<Bound<'py, PyAny>> {
        awaitable(py, || make(&self.0), self.telling(tell))
    }

    /// The same for deliveries: one that nobody was told of is given back.
    pub(super) fn lease_async<'py, T: Send + 'static, F: Future<Output = keyledger::Result<T>> + Send + 'static>(
        &self,
        py: Python<'py>,
        make: impl FnOnce(&Outbox) -> F + Send,
        tell: Answered<T>,
    ) -> PyResult<Bound<'py, PyAny>> {
        handing_out(py, || make(&self.0), self.telling(tell))
    }

    fn telling<T: 'static>(
        &self,
        tell: Answered<T>,
    ) -> impl FnOnce(Python<'_>, keyledger::Result<T>) -> PyResult<Py<PyAny>> + Send + 'static + use<T> {
        let outbox = self.0.clone();
        move |py, answer| {
            let answer = answer.map_err(|error| failed(py, &outbox, error))?;
            tell(py, &outbox, answer)
        }
    }
}
