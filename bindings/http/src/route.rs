//! What a route says of itself (H2, H3), and what it makes of a request.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use keyledger::{Begin, Effect, HttpRequest, Key, Members, Operation, OperationName, Scope};
use sha2::{Digest, Sha256};

use crate::keep::{Keep, by_status};
use crate::key::{KEY_FIELD, key_of_lines};
use crate::message::{Answer, Stored, hex};
use crate::problem::{Case, Problem, TYPES};
use crate::setting::{self, RouteError};

/// How much of a response's body is kept: the ledger's own limit, less what a head may take.
pub const BODY_BYTES_MAX: usize = keyledger::options::RESPONSE_BYTES_MAX - crate::message::HEAD_BYTES_MAX;
/// How long a request's body may be.
pub const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;

type KeepByStatus = dyn Fn(u16, Effect) -> Keep + Send + Sync;
type Redact = dyn Fn(Stored) -> Option<Stored> + Send + Sync;

/// What a route that takes idempotency keys says of itself. There is no default for whether the key is required, nor for the effect;
/// the scope is the adapter's, a function of the request.
///
/// ```
/// use std::time::Duration;
/// use keyledger::Effect;
/// use keyledger_http::{Case, Route};
///
/// let charges = Route::required(Effect::Repeatable).lease(Duration::from_secs(60)).status(Case::Mismatch, 400)?;
/// # drop(charges);
/// # Ok::<_, keyledger_http::RouteError>(())
/// ```
#[derive(Clone)]
pub struct Route {
    is_required: bool,
    operation: Operation,
    is_named: bool,
    methods: Vec<String>,
    wait: Duration,
    members: Members,
    statuses: Vec<(Case, u16)>,
    documentation: String,
    pub(crate) not_kept: Vec<String>,
    pub(crate) keep: Arc<KeepByStatus>,
    pub(crate) redact: Option<Arc<Redact>>,
    pub(crate) body_bytes_max: usize,
    request_bytes_max: usize,
    is_stream: bool,
}

/// What a route makes of a request's method and key field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passage {
    /// The handler runs as if there were no ledger: another method, or no key where it is optional.
    Inert,
    /// There is a key. Read the body, find the scope, and [`begin`](Route::begin).
    Keyed(Key),
    /// The handler does not run; this is the answer.
    Refused(Answer),
}

impl Route {
    /// A route that refuses requests without a key.
    ///
    /// An [`Effect`] alone names its operation by method and path as they come, so that the same key on another path is another
    /// key. A declared [`Operation`] brings its own name, and there it is a mismatch.
    pub fn required(operation: impl Into<RouteOperation>) -> Self {
        Self::new(true, operation.into())
    }

    /// A route that lets requests without a key through, without a record, and so without a claim for the handler.
    pub fn optional(operation: impl Into<RouteOperation>) -> Self {
        Self::new(false, operation.into())
    }

    fn new(is_required: bool, RouteOperation { operation, is_named }: RouteOperation) -> Self {
        Self {
            is_required,
            operation,
            is_named,
            methods: vec!["POST".to_owned(), "PATCH".to_owned()],
            wait: Duration::ZERO,
            members: Members::All,
            statuses: Vec::new(),
            documentation: TYPES.to_owned(),
            not_kept: Vec::new(),
            keep: Arc::new(by_status),
            redact: None,
            body_bytes_max: BODY_BYTES_MAX,
            request_bytes_max: REQUEST_BYTES_MAX,
            is_stream: false,
        }
    }

    /// How long a claim lasts without a heartbeat; the adapter beats at a third of it (H10). So it is how long a key stays in
    /// progress once the process has been killed.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.operation = self.operation.lease(lease);
        self
    }

    /// How long an answer is replayed.
    pub fn retention(mut self, retention: Duration) -> Self {
        self.operation = self.operation.retention(retention);
        self
    }

    /// How long a late retry is refused after that.
    pub fn tombstone(mut self, tombstone: Duration) -> Self {
        self.operation = self.operation.tombstone(tombstone);
        self
    }

    /// How long a duplicate waits for the first to end before it is told "in progress" (P4). Default: not at all.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// The methods that take keys, instead of POST and PATCH (H2): names, or values of the crate `http`. Requests of any other
    /// method pass without protection, also where a key is required.
    ///
    /// # Errors
    /// [`RouteError::Method`] for a name that is none of HTTP's own, in whatever case it is written; [`RouteError::NoMethod`].
    pub fn methods(mut self, methods: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, RouteError> {
        self.methods = methods.into_iter().map(|name| setting::method(name.as_ref())).collect::<Result<_, _>>()?;
        if self.methods.is_empty() { Err(RouteError::NoMethod) } else { Ok(self) }
    }

    /// One more method that takes keys, such as `PURGE`. One that is not HTTP's own is compared as it is written here.
    ///
    /// # Errors
    /// [`RouteError::OtherMethod`] for what is no method's name.
    pub fn other_method(mut self, method: impl AsRef<str>) -> Result<Self, RouteError> {
        self.methods.push(setting::other_method(method.as_ref())?);
        Ok(self)
    }

    /// Which members of a JSON body tell requests apart (F4). Default: all.
    pub fn members(mut self, members: Members) -> Self {
        self.members = members;
        self
    }

    /// Another status for a case that the middleware answers. Stripe's mismatch is 400.
    ///
    /// # Errors
    /// [`RouteError::Status`] for one that is not from 400 to 599; [`RouteError::StatusOfReplay`] for [`Case::BodyOmitted`].
    pub fn status(mut self, case: Case, status: u16) -> Result<Self, RouteError> {
        self.statuses.insert(0, setting::status(case, status)?);
        Ok(self)
    }

    /// Where the answer to a missing key links to. Default: our own guide.
    pub fn documentation(mut self, url: impl Into<String>) -> Self {
        self.documentation = url.into();
        self
    }

    /// One more field that is not stored and not replayed (H5).
    ///
    /// # Errors
    /// [`RouteError::Field`] for what is no name of a field.
    pub fn not_kept(mut self, field: impl Into<String>) -> Result<Self, RouteError> {
        self.not_kept.push(setting::field(field.into())?);
        Ok(self)
    }

    /// Which outcomes are kept, by status and the record's effect (H6). Default: [`by_status`].
    pub fn keep(mut self, keep: impl Fn(u16, Effect) -> Keep + Send + Sync + 'static) -> Self {
        self.keep = Arc::new(keep);
        self
    }

    /// Changes what is stored. `None`, a panic, or a status that nobody can send, is a failure: then the body is omitted (H5). The first answer is not changed.
    pub fn redact(mut self, redact: impl Fn(Stored) -> Option<Stored> + Send + Sync + 'static) -> Self {
        self.redact = Some(Arc::new(redact));
        self
    }

    /// Bodies of responses are kept up to this length in bytes (H8, S4). The ledger's `max_response_bytes` has to be greater by
    /// [`HEAD_BYTES_MAX`](crate::message::HEAD_BYTES_MAX); by default it is. Default [`BODY_BYTES_MAX`].
    pub fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.body_bytes_max = bytes;
        self
    }

    /// Bodies of requests with a key over this length in bytes are refused with 413. Default 16 MiB: they are held in memory.
    /// What reads the body after that, such as an extractor of axum, may have a lower limit of its own.
    pub fn max_request_bytes(mut self, bytes: usize) -> Self {
        self.request_bytes_max = bytes;
        self
    }

    /// `stream: pass through` (H8): the response flows as it comes, and is settled at its end. The route is `AtMostOnce`.
    pub fn stream(mut self) -> Self {
        self.is_stream = true;
        self
    }

    /// Whether requests without a key are refused.
    pub fn is_required(&self) -> bool {
        self.is_required
    }

    /// The methods that take keys.
    pub fn methods_taken(&self) -> &[String] {
        &self.methods
    }

    /// The status with which a case is answered.
    pub fn status_of(&self, case: Case) -> u16 {
        let own = self.statuses.iter().find(|(of, _)| *of == case).map(|(_, status)| *status);
        own.unwrap_or_else(|| case.status())
    }

    /// Whether responses flow as they come.
    pub fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// The longest body of a response that is kept, in bytes.
    pub fn body_bytes_max(&self) -> usize {
        self.body_bytes_max
    }

    /// The longest body of a request, in bytes.
    pub fn request_bytes_max(&self) -> usize {
        self.request_bytes_max
    }

    /// How long a claim lasts without a heartbeat.
    pub fn lease_time(&self) -> Duration {
        self.operation.lease_time()
    }

    /// How long a duplicate waits for the first to end.
    pub fn wait_time(&self) -> Duration {
        self.wait
    }

    /// How often to heartbeat while the handler runs (H10): at a third of the lease.
    pub fn heartbeat_interval(&self) -> Duration {
        (self.lease_time() / 3).max(Duration::from_millis(1))
    }

    /// Looks at a request's method, and at the values of its lines named [`KEY_FIELD`].
    pub fn receive<'a>(&self, method: &str, key_lines: impl IntoIterator<Item = &'a [u8]>) -> Passage {
        if !self.methods.iter().any(|own| own == method) {
            return Passage::Inert;
        }
        match key_of_lines(key_lines) {
            Ok(Some(key)) => Passage::Keyed(key),
            Ok(None) if self.is_required => Passage::Refused(self.missing()),
            Ok(None) => Passage::Inert,
            Err(malformed) => Passage::Refused(self.problem(Case::Malformed).saying(malformed.to_string()).answer()),
        }
    }

    /// What to ask the ledger for a request of this scope. `request.path` is the concrete path as received.
    pub fn begin(&self, scope: &Scope, key: &Key, request: &HttpRequest<'_>) -> Begin {
        let fingerprint = keyledger::Fingerprint::of_http(request, &self.members);
        Begin::new(&self.operation_of(request), scope, key, fingerprint).wait(self.wait)
    }

    /// The operation of a request: declared, or named by method and path (H3).
    pub fn operation_of(&self, request: &HttpRequest<'_>) -> Operation {
        let operation = if self.is_stream { at_most_once(&self.operation) } else { self.operation.clone() };
        if self.is_named { operation } else { operation.named(name_by_path(request.method, request.path)) }
    }

    /// The answer when the scope function raises or returns nothing: 401 (H13).
    pub fn no_principal(&self) -> Answer {
        self.answer(Case::NoPrincipal)
    }

    /// The answer to a request whose body is longer than [`request_bytes_max`](Route::request_bytes_max): 413.
    pub fn too_large(&self) -> Answer {
        self.answer(Case::TooLarge)
    }

    /// Whether `length` bytes are the body that was announced. If not, something before the adapter has read or changed it, and a
    /// fingerprint would be one of something else (H17): the answer is [`body_consumed`](Route::body_consumed).
    pub fn is_whole(content_length: Option<&[u8]>, length: usize) -> bool {
        let announced = content_length.and_then(|value| std::str::from_utf8(value).ok()?.trim().parse().ok());
        announced.is_none_or(|announced: usize| announced == length)
    }

    /// The answer to a request whose raw bytes are gone: 500. The handler does not run (H17).
    pub fn body_consumed(&self) -> Answer {
        self.answer(Case::BodyConsumed)
    }

    /// The answer to a request whose body broke off: 400. The handler does not run.
    pub fn unreadable(&self) -> Answer {
        self.answer(Case::Unreadable)
    }

    /// The answer when the ledger does not answer: 503. Nothing is let through unprotected (H4).
    pub fn not_available(&self) -> Answer {
        self.answer(Case::NotAvailable)
    }

    fn missing(&self) -> Answer {
        let link = format!("<{}>; rel=\"describedby\"; type=\"text/html\"", self.documentation);
        self.answer(Case::Missing).with_field("Link", link)
    }

    pub(crate) fn answer(&self, case: Case) -> Answer {
        self.problem(case).answer()
    }

    pub(crate) fn problem(&self, case: Case) -> Problem {
        Problem::of(case, self.status_of(case))
    }
}

/// An operation as a route takes it: declared, or an effect alone.
#[derive(Debug, Clone)]
pub struct RouteOperation {
    operation: Operation,
    is_named: bool,
}

impl From<Effect> for RouteOperation {
    fn from(effect: Effect) -> Self {
        Self { operation: Operation::new(effect, ""), is_named: false }
    }
}

impl From<Operation> for RouteOperation {
    fn from(operation: Operation) -> Self {
        Self { operation, is_named: true }
    }
}

impl From<&Operation> for RouteOperation {
    fn from(operation: &Operation) -> Self {
        operation.clone().into()
    }
}

/// The same operation, whose effect nobody can tell: its answer has left before it was stored.
fn at_most_once(operation: &Operation) -> Operation {
    operation.clone().with_effect(Effect::AtMostOnce)
}

/// Method and path; method and SHA-256 of the path where L1 has something against that.
fn name_by_path(method: &[u8], path: &[u8]) -> String {
    let method = String::from_utf8_lossy(method);
    let plain = std::str::from_utf8(path).ok().map(|path| format!("{method} {path}"));
    let hashed = || format!("{method} sha256:{}", hex(&Sha256::digest(path).into()));
    plain.filter(|name| OperationName::new(name).is_ok()).unwrap_or_else(hashed)
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Route")
            .field("field", &KEY_FIELD)
            .field("is_required", &self.is_required)
            .field("operation", &self.operation)
            .field("methods", &self.methods)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::name_by_path;

    #[test]
    fn h3_an_operation_is_named_by_method_and_path_or_its_hash() {
        assert_eq!(name_by_path(b"POST", b"/v1/charges"), "POST /v1/charges");
        let longest = [b"/".as_slice(), &[b'a'; 249]].concat();
        assert_eq!(name_by_path(b"POST", &longest).len(), 255);
        let longer = [longest.as_slice(), b"a"].concat();
        let names = [name_by_path(b"POST", &longer), name_by_path(b"POST", b"/\xff"), name_by_path(b"PATCH", &longer)];
        assert!(names.iter().all(|name| name.contains(" sha256:") && name.len() <= 77), "{names:?}");
        assert!(names[0] != names[1] && names[0] != names[2]);
    }
}
