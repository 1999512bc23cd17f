//! What a caller wants to have sent, as a value.

use super::Outbox;
use crate::codec::outbox::Request;
use crate::engine::outbox::Asking;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::key::{Key, LaneName, OperationName, Purpose, Scope};
use crate::limits::check_length;
use crate::machine::enqueue::{SendBy, Wanted};
use crate::options::MEDIA_TYPE_BYTES_MAX;

/// One request, and what is wanted of it: the argument of [`Outbox::enqueue`].
#[derive(Debug, Clone)]
pub struct Enqueue {
    scope: Scope,
    operation: String,
    request: Request,
    lane: Option<String>,
    key: Option<Key>,
    purpose: Option<String>,
    fingerprint: Option<Fingerprint>,
    send_by: SendBy,
    even_if_answered: bool,
}

impl Enqueue {
    /// A request to be sent for `scope`: opaque bytes, and their media type. One to be sent over HTTP is made by
    /// `keyledger_http::client::Request::to_enqueue` instead; its transport sends no other.
    ///
    /// Give it a [`purpose`](Enqueue::purpose) or a [`key`](Enqueue::key): with neither, enqueueing it again is another request.
    pub fn new(
        scope: &Scope,
        operation: impl Into<String>,
        media_type: impl Into<String>,
        request: impl Into<Vec<u8>>,
    ) -> Self {
        Self {
            scope: scope.clone(),
            operation: operation.into(),
            request: Request { media_type: media_type.into(), bytes: request.into() },
            lane: None,
            key: None,
            purpose: None,
            fingerprint: None,
            send_by: SendBy::Never,
            even_if_answered: false,
        }
    }

    /// The caller's name for what the user wants ("pay cart 42"), so that asking again finds the same entry (O3). 1 to 255 bytes.
    pub fn purpose(mut self, purpose: impl Into<String>) -> Self {
        self.purpose = Some(purpose.into());
        self
    }

    /// The lane that it goes in; it must have been declared. Default: `default`.
    pub fn lane(mut self, lane: impl Into<String>) -> Self {
        self.lane = Some(lane.into());
        self
    }

    /// The caller's own key. Default: a new `UUIDv7`.
    pub fn key(mut self, key: &Key) -> Self {
        self.key = Some(key.clone());
        self
    }

    /// What tells this request from another under the same key or purpose. Default: the media type and the bytes.
    pub fn fingerprint(mut self, fingerprint: Fingerprint) -> Self {
        self.fingerprint = Some(fingerprint);
        self
    }

    /// It is cancelled unless it was sent by then (O10): milliseconds since 1970-01-01 UTC. A wall clock that is set later moves it
    /// not.
    pub fn send_by_ms(mut self, at_ms: u64) -> Self {
        self.send_by = SendBy::WallMs(at_ms);
        self
    }

    /// A new entry is wanted even if the purpose was answered before.
    pub fn even_if_answered(mut self) -> Self {
        self.even_if_answered = true;
        self
    }

    /// Checks everything at the door (L1, L4).
    pub(crate) fn check(&self, outbox: &Outbox) -> Result<Asking> {
        check_length("the request's media type", self.request.media_type.len(), MEDIA_TYPE_BYTES_MAX)?;
        check_length("the request", self.request.bytes.len(), outbox.opened.max_request_bytes)?;
        let lane = self.lane.as_ref().map_or(Ok(LaneName::DEFAULT), LaneName::new)?;
        let order = outbox.opened.lanes.get(lane.as_str()).ok_or_else(|| {
            Error::InvalidArgument(format!("the lane {lane} was not declared; declare it when the outbox is opened"))
        })?;
        let fingerprint = self.fingerprint.unwrap_or_else(|| self.own_fingerprint());
        let wanted = Wanted {
            scope: self.scope.clone(),
            lane,
            operation: OperationName::new(&self.operation)?,
            key: self.key.clone(),
            purpose: self.purpose.as_ref().map(Purpose::new).transpose()?,
            fingerprint,
            request_bytes: self.request.bytes.len() as u64,
            send_by: self.send_by,
            even_if_answered: self.even_if_answered,
        };
        Ok(Asking { wanted, request: self.request.clone(), order: *order })
    }

    fn own_fingerprint(&self) -> Fingerprint {
        Fingerprint::of_bytes(&[self.request.media_type.as_bytes(), &self.request.bytes])
    }
}
