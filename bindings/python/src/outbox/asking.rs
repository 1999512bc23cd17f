//! What is to be sent, as Python says it.

use keyledger::Enqueue;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::argument::{Bytes, Text};
use crate::client::PyHttpRequest;
use crate::error::Told;
use crate::fingerprint::PyFingerprint;

/// One request and what is wanted of it: for `enqueue_many`, `Transaction.enqueue` and `Batch.enqueue`. The arguments are those of
/// `Outbox.enqueue`: `send_by` is a datetime with a zone, or milliseconds since 1970 UTC.
///
/// Example:
///
///     outbox.enqueue_many([Enqueue("user-7", "mail", b"...", purpose=f"mail {number}") for number in range(3)])
#[pyclass(name = "Enqueue", module = "keyledger", frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct PyEnqueue(pub(crate) Enqueue);

/// A request's media type and its bytes.
struct Body {
    media_type: &'static str,
    bytes: Vec<u8>,
}

impl<'py> FromPyObject<'_, 'py> for Body {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(request) = given.cast::<PyHttpRequest>() {
            return Ok(Body { media_type: keyledger_http::message::MEDIA_TYPE, bytes: request.get().stored() });
        }
        if let Ok(text) = given.cast::<PyString>() {
            return Ok(Body { media_type: "text/plain", bytes: text.to_cow()?.as_bytes().to_vec() });
        }
        match given.extract::<Bytes>() {
            Ok(Bytes(bytes)) => Ok(Body { media_type: "application/octet-stream", bytes }),
            Err(_) => Err(PyTypeError::new_err("a request is a keyledger.HttpRequest, bytes, or text")),
        }
    }
}

/// An instant: milliseconds since 1970 UTC, or a datetime that knows its zone.
struct Instant(u64);

impl<'py> FromPyObject<'_, 'py> for Instant {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(ms) = given.extract::<u64>() {
            return Ok(Instant(ms));
        }
        let unusable =
            || PyTypeError::new_err("an instant is milliseconds since 1970 UTC, or a datetime with a time zone");
        let timestamp = given.getattr_opt("timestamp")?.ok_or_else(unusable)?;
        if given.getattr_opt("tzinfo")?.is_none_or(|zone| zone.is_none()) {
            return Err(unusable());
        }
        let seconds = std::time::Duration::try_from_secs_f64(timestamp.call0()?.extract()?).unwrap_or_default();
        Ok(Instant(u64::try_from(seconds.as_millis()).unwrap_or(u64::MAX)))
    }
}

#[pymethods]
impl PyEnqueue {
    #[new]
    #[pyo3(signature = (
        scope, operation, request, *, media_type=None, purpose=None, lane=None, key=None, fingerprint=None, send_by=None,
        even_if_answered=false,
    ))]
    fn new(
        scope: Text,
        operation: String,
        request: Body,
        media_type: Option<String>,
        purpose: Option<String>,
        lane: Option<String>,
        key: Option<Text>,
        fingerprint: Option<PyFingerprint>,
        send_by: Option<Instant>,
        even_if_answered: bool,
    ) -> Told<Self> {
        let media_type = media_type.unwrap_or_else(|| request.media_type.to_owned());
        let mut enqueue = Enqueue::new(&scope.scope()?, operation, media_type, request.bytes);
        if let Some(purpose) = purpose {
            enqueue = enqueue.purpose(purpose);
        }
        if let Some(lane) = lane {
            enqueue = enqueue.lane(lane);
        }
        if let Some(key) = key {
            enqueue = enqueue.key(&key.key()?);
        }
        if let Some(PyFingerprint(fingerprint)) = fingerprint {
            enqueue = enqueue.fingerprint(fingerprint);
        }
        if let Some(Instant(at_ms)) = send_by {
            enqueue = enqueue.send_by_ms(at_ms);
        }
        Ok(Self(if even_if_answered { enqueue.even_if_answered() } else { enqueue }))
    }
}
