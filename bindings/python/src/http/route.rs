//! What a route says of itself, and what it makes of a request's head.

use std::sync::Arc;

use keyledger::HttpRequest;
use keyledger_http::{Passage, Route};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::answer::{PyAnswer, list};
use super::asked::Asked;
use super::setting;
use crate::argument::{Bytes, Text, seconds};
use crate::error::Told;
use crate::ledger::PyLedger;

/// What a route that takes idempotency keys says of itself: `Route.required(...)` or `Route.optional(...)`.
#[pyclass(name = "Route", module = "keyledger.http", frozen)]
pub(crate) struct PyRoute(Arc<Route>);

#[pymethods]
impl PyRoute {
    /// A route that refuses requests without a key, 400.
    ///
    /// `operation` is an effect, whose operation is then named by method and path as received, or a declared `Operation`, with one
    /// name on whatever path.
    ///
    /// Settings: `lease`, `retention`, `tombstone` and `wait` (seconds or timedelta); `methods` (instead of POST and PATCH),
    /// `other_methods` (your own, in addition); `leave_out` or `only` (JSON pointers to what tells bodies apart); `statuses` (by case, such
    /// as `{"mismatch": 400}`); `documentation` (a URL); `not_kept` (names of fields); `keep`, a function of status and effect that returns
    /// `complete`, `fail`, `release`, `park`, or None for the default; `redact`, a function from what is to be stored (`Stored`) to what is
    /// stored; `max_body_bytes` of a response that is kept; `max_request_bytes`; `stream`.
    ///
    /// Raises:
    ///     `InvalidArgument`: a setting with which the route would not do what it says.
    ///
    /// Example:
    ///
    ///     charges = Route.required("repeatable", lease=60, statuses={"mismatch": 400})
    #[staticmethod]
    #[pyo3(signature = (operation, **settings))]
    fn required(operation: &Bound<'_, PyAny>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let route = Route::required(setting::operation(operation)?);
        Ok(PyRoute(Arc::new(setting::with_all(route, settings)?)))
    }

    /// The same, but requests without a key pass, without a record and without a claim.
    #[staticmethod]
    #[pyo3(signature = (operation, **settings))]
    fn optional(operation: &Bound<'_, PyAny>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let route = Route::optional(setting::operation(operation)?);
        Ok(PyRoute(Arc::new(setting::with_all(route, settings)?)))
    }

    /// Whether requests without a key are refused.
    #[getter]
    fn is_required(&self) -> bool {
        self.0.is_required()
    }

    /// The methods that take keys.
    #[getter]
    fn methods(&self) -> Vec<String> {
        self.0.methods_taken().to_vec()
    }

    /// The status with which a case, such as `mismatch`, is answered.
    ///
    /// Raises:
    ///     `InvalidArgument`: there is no such case.
    fn status_of(&self, case: &str) -> PyResult<u16> {
        Ok(self.0.status_of(setting::case(case)?))
    }

    /// Whether responses flow as they come, and are settled at their end (H8).
    #[getter]
    fn is_stream(&self) -> bool {
        self.0.is_stream()
    }

    /// The longest body of a response that is kept, in bytes.
    #[getter]
    fn max_body_bytes(&self) -> usize {
        self.0.body_bytes_max()
    }

    /// The longest body of a request, in bytes.
    #[getter]
    fn max_request_bytes(&self) -> usize {
        self.0.request_bytes_max()
    }

    /// How long a duplicate waits for the first to end, in seconds.
    #[getter]
    fn wait_seconds(&self) -> f64 {
        seconds(self.0.wait_time())
    }

    /// What a request's method and the values of its lines named Idempotency-Key come to: its key; an `Answer` that refuses it; or None,
    /// if it passes as if there were no ledger (H2).
    fn receive<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        key_lines: Vec<Bytes>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(match self.0.receive(method, key_lines.iter().map(|Bytes(line)| line.as_slice())) {
            Passage::Inert => None,
            Passage::Keyed(key) => Some(PyString::new(py, key.as_str()).into_any()),
            Passage::Refused(answer) => Some(Bound::new(py, PyAnswer(answer))?.into_any()),
        })
    }

    /// What to ask the ledger for a request. `path` is the concrete one as received.
    ///
    /// Raises:
    ///     `InvalidKey`: a scope that L1 refuses.
    #[pyo3(signature = (ledger, scope, key, *, method, path, query, content_type, body))]
    #[expect(clippy::too_many_arguments, reason = "they are a request's parts, by name")]
    fn begin(
        &self,
        ledger: &PyLedger,
        scope: Text,
        key: Text,
        method: &str,
        path: &[u8],
        query: &[u8],
        content_type: Option<&[u8]>,
        body: &[u8],
    ) -> Told<Asked> {
        let request = HttpRequest { method: method.as_bytes(), path, query, content_type, body };
        let (scope, key) = (scope.scope()?, key.key()?);
        let (begin, operation) = (self.0.begin(&scope, &key, &request), self.0.operation_of(&request));
        let key_id = [scope.as_str().to_owned(), operation.name().to_owned(), key.as_str().to_owned()];
        Ok(Asked::new(ledger.0.clone(), self.0.clone(), begin, key_id))
    }

    /// Whether `length` bytes are the body that was announced; if not, somebody else has read of it (H17).
    #[staticmethod]
    fn is_whole(content_length: Option<&[u8]>, length: usize) -> bool {
        Route::is_whole(content_length, length)
    }

    /// The answer where nobody is known to be asking: 401.
    fn no_principal(&self) -> PyAnswer {
        PyAnswer(self.0.no_principal())
    }

    /// The answer to a body over `max_request_bytes`: 413.
    fn too_large(&self) -> PyAnswer {
        PyAnswer(self.0.too_large())
    }

    /// The answer where the raw bytes of a body are gone: 500.
    fn body_consumed(&self) -> PyAnswer {
        PyAnswer(self.0.body_consumed())
    }

    /// The answer to a body that broke off: 400.
    fn unreadable(&self) -> PyAnswer {
        PyAnswer(self.0.unreadable())
    }

    /// The answer where the ledger does not answer: 503.
    fn not_available(&self) -> PyAnswer {
        PyAnswer(self.0.not_available())
    }

    /// The fields to add to a response that leaves before it is settled.
    #[staticmethod]
    fn exposed(py: Python<'_>) -> PyResult<Bound<'_, pyo3::types::PyList>> {
        list(py, &Route::exposed())
    }
}
