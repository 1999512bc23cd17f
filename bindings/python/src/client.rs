//! The client's half of HTTP: what is sent, and what an answer means. The rules are `keyledger_http::client`'s (C1 to C4, O8, O9).

use keyledger::{EntryView, Outcome, Response};
use keyledger_http::Answer as HttpAnswer;
use keyledger_http::client::{KeyField, REDIRECTS_MAX, Redirect, Request, RequestError, Unanswered};
use keyledger_http::client::{answered, redirect, silent, to_send, unsendable};
use keyledger_http::message::{Fields, Stored, StoredBody};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyMapping};

use crate::argument::{Bytes, Text};
use crate::error::{Told, invalid_argument};
use crate::fingerprint::json_body;
use crate::outbox::{PyDelivery, PyOutcome};
use crate::response::PyResponse;

/// How the other side wants its keys (C1). Default: `Idempotency-Key`, quoted.
#[pyclass(name = "KeyField", module = "keyledger", frozen, eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct PyKeyField(KeyField);

/// A field's value: bytes, or text of Latin-1.
pub(crate) struct Value(Vec<u8>);

impl<'py> FromPyObject<'_, 'py> for Value {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match given.extract::<PyBackedStr>() {
            Ok(text) => Ok(Value(text.as_bytes().to_vec())),
            Err(_) => Ok(Value(given.extract::<Bytes>()?.0)),
        }
    }
}

fn fields(given: Vec<(String, Value)>) -> Fields {
    given.into_iter().map(|(name, Value(value))| (name, value)).collect()
}

fn shown<'py>(py: Python<'py>, fields: &Fields) -> Vec<(String, Bound<'py, PyBytes>)> {
    fields.iter().map(|(name, value)| (name.clone(), PyBytes::new(py, value))).collect()
}

fn refused(error: RequestError) -> PyErr {
    invalid_argument(error.to_string())
}

#[pymethods]
impl PyKeyField {
    #[new]
    #[pyo3(signature = (name=None, *, quoted=true))]
    fn new(name: Option<String>, quoted: bool) -> PyResult<Self> {
        let field = name.map_or(Ok(KeyField::default()), |name| KeyField::default().named(name)).map_err(refused)?;
        Ok(Self(if quoted { field } else { field.bare() }))
    }

    /// The field's name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// The value to send: exactly one line holds it. Raises `InvalidArgument` for a key that cannot be said so.
    fn value(&self, key: Text) -> Told<String> {
        Ok(self.0.value(&key.key()?).map_err(refused)?)
    }

    /// The first of the fields added at a send that cannot stand there: what is no field, and the key's own. None: all can.
    fn unsendable(&self, added: Vec<(String, Value)>) -> Option<String> {
        unsendable(&fields(added), &self.0).map(str::to_owned)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// The field lines of a message as callers give them: pairs, in order, or a mapping.
#[derive(Default)]
struct Lines(Fields);

impl<'py> FromPyObject<'_, 'py> for Lines {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let pairs = match given.cast::<PyMapping>() {
            Ok(mapping) => mapping.items()?.extract()?,
            Err(_) => given.extract::<Vec<(String, Value)>>()?,
        };
        Ok(Lines(fields(pairs)))
    }
}

/// A body: bytes, or text, which is UTF-8.
#[derive(Default)]
struct Content(Vec<u8>);

impl<'py> FromPyObject<'_, 'py> for Content {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let Value(bytes) = given.extract()?;
        Ok(Content(bytes))
    }
}

/// What is sent, and the fields with what they say of it.
fn sent(
    py: Python<'_>,
    mut fields: Fields,
    body: Option<Content>,
    json: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Fields, Vec<u8>)> {
    let Some(json) = json else { return Ok((fields, body.unwrap_or_default().0)) };
    if body.is_some() {
        return Err(PyTypeError::new_err("a request has a body, or json=, and not both"));
    }
    if !fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        fields.push(("Content-Type".to_owned(), b"application/json".to_vec()));
    }
    Ok((fields, json_body(py, json)?.into_bytes()))
}

/// An HTTP request as the outbox stores it: without its key and without credentials, which are added at each send (O14).
///
/// The fields are pairs of name and value, or a dict. The body is bytes, or text (UTF-8); or `json` is a JSON value, of which equal
/// ones are equal bytes, and the Content-Type says so unless the fields have one.
///
/// Raises `InvalidArgument` for what must not be stored, or cannot be sent; `secret` names more fields that carry credentials.
///
/// Example:
///
///     request = HttpRequest("POST", "https://bank.example/charges", {"Accept": "application/json"}, json={"cents": 1999})
///     outbox.enqueue("user-7", "charge", request, purpose="pay cart 42")
#[pyclass(name = "HttpRequest", module = "keyledger._native", subclass, frozen)]
pub(crate) struct PyHttpRequest {
    request: Request,
    bytes: Vec<u8>,
}

impl PyHttpRequest {
    /// The bytes for the outbox.
    pub(crate) fn stored(&self) -> Vec<u8> {
        self.bytes.clone()
    }
}

#[pymethods]
impl PyHttpRequest {
    #[new]
    #[pyo3(
        signature = (method, url, fields=Lines::default(), body=None, *, json=None, key_field=None, secret=Vec::new()),
        text_signature = "(method, url, fields=(), body=None, *, json=None, key_field=None, secret=())"
    )]
    fn new(
        py: Python<'_>,
        method: String,
        url: String,
        fields: Lines,
        body: Option<Content>,
        json: Option<&Bound<'_, PyAny>>,
        key_field: Option<PyKeyField>,
        secret: Vec<String>,
    ) -> PyResult<Self> {
        let (fields, body) = sent(py, fields.0, body, json)?;
        let request = Request { method, url, fields, body };
        let key_field = key_field.map(|PyKeyField(field)| field).unwrap_or_default();
        let secret: Vec<&str> = secret.iter().map(String::as_str).collect();
        let bytes = request.to_bytes(&key_field, &secret).map_err(refused)?;
        Ok(Self { request, bytes })
    }

    /// The method.
    #[getter]
    fn method(&self) -> &str {
        &self.request.method
    }

    /// The absolute URL.
    #[getter]
    fn url(&self) -> &str {
        &self.request.url
    }

    /// The field lines, in order: names as they were written, and values.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> Vec<(String, Bound<'py, PyBytes>)> {
        shown(py, &self.request.fields)
    }

    /// The body.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.request.body)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    fn __repr__(&self) -> String {
        format!("<HttpRequest {} {}, {} bytes>", self.request.method, self.request.url, self.request.body.len())
    }
}

/// One send: a request on its way out, hop by hop, and what its end is told as.
#[pyclass(name = "HttpSend", module = "keyledger._native", frozen)]
pub(crate) struct PyHttpSend {
    request: Request,
    fields: Fields,
}

fn at_first(why: Unanswered, hops: u32) -> Unanswered {
    // After a redirect the request had left before.
    if hops == 0 { why } else { Unanswered::MaybeSent }
}

#[pymethods]
impl PyHttpSend {
    /// What is sent of a delivery; or, if nothing can be, the outcome.
    #[staticmethod]
    fn of(py: Python<'_>, delivery: &PyDelivery, key_field: &PyKeyField) -> PyResult<Py<PyAny>> {
        let request = delivery.bytes(py);
        Ok(match to_send(delivery.kind_of_request(), request, &key_field.0, delivery.own_key()) {
            Ok((request, fields)) => Py::new(py, Self { request, fields })?.into_any(),
            Err(outcome) => Py::new(py, PyOutcome(outcome))?.into_any(),
        })
    }

    /// The request as it was stored, for whoever gives credentials for it.
    #[getter]
    fn request(&self) -> PyResult<PyHttpRequest> {
        let request = self.request.clone();
        let bytes = request.to_bytes(&KeyField::default(), &[]).map_err(refused)?;
        Ok(PyHttpRequest { request, bytes })
    }

    /// The field lines to send, the one key field with them.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> Vec<(String, Bound<'py, PyBytes>)> {
        shown(py, &self.fields)
    }

    /// Where the request goes after an answer with that status and Location to the hop that went to `url`; None: it is the answer.
    #[pyo3(signature = (url, status, location, hops))]
    fn redirected(&self, url: &str, status: u16, location: Option<Value>, hops: u32) -> Option<String> {
        let location = location.as_ref().map(|Value(bytes)| bytes.as_slice());
        match redirect(&self.request.method, url, status, location) {
            Redirect::Follow(url) if hops < REDIRECTS_MAX => Some(url),
            Redirect::Follow(_) | Redirect::Stay => None,
        }
    }

    /// What a delivery is told that was not answered after so many redirects.
    #[staticmethod]
    #[pyo3(signature = (error, *, may_have_left, hops))]
    fn silent(error: String, may_have_left: bool, hops: u32) -> PyOutcome {
        let why = if may_have_left { Unanswered::MaybeSent } else { Unanswered::BeforeConnecting };
        PyOutcome(silent(at_first(why, hops), error))
    }
}

/// An answer over HTTP: as it came, or as an entry of the outbox keeps it.
#[pyclass(name = "HttpAnswer", module = "keyledger", frozen)]
pub(crate) struct PyHttpAnswer {
    answer: HttpAnswer,
    /// Whether the body is all there.
    is_whole: bool,
}

impl PyHttpAnswer {
    fn of_stored(stored: Stored) -> Self {
        let Stored { status, fields, body } = stored;
        let (body, is_whole) = match body {
            StoredBody::Kept(body) => (body, true),
            StoredBody::Omitted(_) => (Vec::new(), false),
        };
        Self { answer: HttpAnswer { status, fields, body }, is_whole }
    }

    /// The answer of an entry, if it has one.
    pub(crate) fn of_entry(view: &EntryView) -> Option<Self> {
        Stored::of_entry(view).map(Self::of_stored)
    }
}

#[pymethods]
impl PyHttpAnswer {
    #[new]
    #[pyo3(
        signature = (status, fields=Lines::default(), body=Content::default(), *, is_whole=true),
        text_signature = "(status, fields=(), body=b'', *, is_whole=True)"
    )]
    fn new(status: u16, fields: Lines, body: Content, is_whole: bool) -> Self {
        Self { answer: HttpAnswer { status, fields: fields.0, body: body.0 }, is_whole }
    }

    /// What the ledger keeps of an answer, read again: `HttpAnswer.of(entry.result(30))`.
    #[staticmethod]
    fn of(response: &PyResponse) -> Self {
        let response: &Response = &response.0;
        Self::of_stored(Stored::of_response(response, Outcome::Completed))
    }

    /// The status code.
    #[getter]
    fn status(&self) -> u16 {
        self.answer.status
    }

    /// The field lines, in order.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> Vec<(String, Bound<'py, PyBytes>)> {
        shown(py, &self.answer.fields)
    }

    /// The first line of that name, as text of Latin-1; None: there is none.
    fn field(&self, name: &str) -> Option<String> {
        self.answer.field(name).map(|value| value.iter().map(|&byte| char::from(byte)).collect())
    }

    /// The body. Of one that was too long to keep there is nothing, or its beginning: see `is_whole`.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.answer.body)
    }

    /// Whether the body is all there.
    #[getter]
    fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// What a delivery is told that was answered so, by default (O8, O9). `now_ms` stands in where the answer has no Date;
    /// at most `body_bytes_max` bytes of the body are kept.
    fn outcome(&self, now_ms: u64, body_bytes_max: usize) -> PyOutcome {
        PyOutcome(answered(&self.answer, self.is_whole, now_ms, body_bytes_max))
    }

    fn __repr__(&self) -> String {
        format!("<HttpAnswer {}, {} bytes>", self.answer.status, self.answer.body.len())
    }
}

/// How many bytes of an answer's body are kept where nothing else is said.
#[pyfunction]
pub(crate) fn answer_bytes_max() -> usize {
    keyledger::options::RESPONSE_BYTES_MAX - keyledger_http::message::HEAD_BYTES_MAX
}
