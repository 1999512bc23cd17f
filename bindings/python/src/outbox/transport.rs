//! A transport that is written in Python.

use keyledger::{Delivery, DeliveryOutcome, Outbox, Scope, Transport};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::interpreter::attached;
use crate::outbox::delivery::{PyDelivery, outcome};

/// A callable, or an object with `send`, and perhaps with `has_other_credentials`.
pub(crate) struct PyTransport {
    send: Py<PyAny>,
    has_other_credentials: Option<Py<PyAny>>,
    outbox: Outbox,
}

impl PyTransport {
    pub(crate) fn new(transport: &Bound<'_, PyAny>, outbox: &Outbox) -> PyResult<Self> {
        let send = match transport.getattr_opt("send")? {
            Some(send) => send,
            None if transport.is_callable() => transport.clone(),
            None => {
                return Err(PyTypeError::new_err("a transport is a callable, or has a method send(delivery)"));
            }
        };
        let has_other_credentials = transport.getattr_opt("has_other_credentials")?.map(Bound::unbind);
        Ok(Self { send: send.unbind(), has_other_credentials, outbox: outbox.clone() })
    }

    fn sent(&self, py: Python<'_>, delivery: &Delivery) -> PyResult<DeliveryOutcome> {
        let lent = Py::new(py, PyDelivery::lent(py, delivery, &self.outbox))?;
        outcome(self.send.bind(py).call1((lent,))?.as_any())
    }
}

/// What is raised is told to `sys.unraisablehook`. Its type alone is stored: its words may hold what must not be in the file (O14).
fn raised(py: Python<'_>, error: PyErr, by: &Py<PyAny>) -> String {
    let name = error.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
    error.write_unraisable(py, Some(by.bind(py)));
    name
}

impl Transport for PyTransport {
    fn send(&self, delivery: &Delivery) -> DeliveryOutcome {
        let sent = attached(|py| {
            self.sent(py, delivery).unwrap_or_else(|error| {
                let name = raised(py, error, &self.send);
                DeliveryOutcome::retry(format!("the transport raised {name}"))
            })
        });
        sent.unwrap_or_else(|| DeliveryOutcome::retry("the interpreter was shutting down").not_taken())
    }

    fn has_other_credentials(&self, scope: &Scope) -> bool {
        let Some(ask) = &self.has_other_credentials else { return false };
        let asked = attached(|py| {
            ask.call1(py, (scope.as_str(),)).and_then(|answer| answer.is_truthy(py)).unwrap_or_else(|error| {
                raised(py, error, ask);
                false
            })
        });
        asked.unwrap_or(false)
    }
}
