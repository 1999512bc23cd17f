//! What came of a try to send an entry, as the transport tells it (O5, O8, O9).

use std::time::Duration;

use crate::clock::millis;
use crate::response::Response;

/// What came of one delivery. Made with [`yes`](DeliveryOutcome::yes), [`no`](DeliveryOutcome::no),
/// [`retry`](DeliveryOutcome::retry), [`dead`](DeliveryOutcome::dead), [`unknown`](DeliveryOutcome::unknown),
/// [`hold_lane`](DeliveryOutcome::hold_lane) or [`hold_entry`](DeliveryOutcome::hold_entry).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryOutcome {
    pub(crate) kind: Kind,
    pub(crate) retry_after_ms: Option<u64>,
    pub(crate) pauses_lane: bool,
    /// For so long the server will know the key.
    pub(crate) key_expires_after_ms: Option<u64>,
    /// No answer came: what is wrong may be the network on this side.
    pub(crate) is_unanswered: bool,
}

/// What the answer, or its absence, means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Answered { response: Response, is_yes: bool, is_replay: bool },
    Retry { error: String, may_have_taken_effect: bool, gives_try_back: bool },
    Dead(String),
    Unknown(String),
    Hold { reason: String, whole_lane: bool },
}

impl DeliveryOutcome {
    fn of(kind: Kind) -> Self {
        Self { kind, retry_after_ms: None, pauses_lane: false, key_expires_after_ms: None, is_unanswered: false }
    }

    /// It was done, and this is the answer.
    pub fn yes(response: impl Into<Response>) -> Self {
        Self::of(Kind::Answered { response: response.into(), is_yes: true, is_replay: false })
    }

    /// A final no. It settles the entry only if no other try's outcome is unknown (O9).
    pub fn no(response: impl Into<Response>) -> Self {
        Self::of(Kind::Answered { response: response.into(), is_yes: false, is_replay: false })
    }

    /// Try again. This try may have taken effect, unless it is [`not_taken`](DeliveryOutcome::not_taken).
    pub fn retry(error: impl Into<String>) -> Self {
        Self::of(Kind::Retry { error: error.into(), may_have_taken_effect: true, gives_try_back: false })
    }

    /// Given up: this try certainly took no effect. If another may have, the entry becomes unknown (O9).
    pub fn dead(reason: impl Into<String>) -> Self {
        Self::of(Kind::Dead(reason.into()))
    }

    /// Nobody knows whether it took effect, and asking again will not tell: held for whoever reconciles.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::of(Kind::Unknown(reason.into()))
    }

    /// The credentials are not accepted: nothing of this scope's lane is sent until `resume` (O8). The try is given back.
    pub fn hold_lane(reason: impl Into<String>) -> Self {
        Self::of(Kind::Hold { reason: reason.into(), whole_lane: true })
    }

    /// The principal may not do this: the entry alone is held until it is resumed (O8). The try is given back.
    pub fn hold_entry(reason: impl Into<String>) -> Self {
        Self::of(Kind::Hold { reason: reason.into(), whole_lane: false })
    }

    /// It was not sent: its lease was over first (O7).
    pub(crate) fn lease_was_over() -> Self {
        Self::retry("the lease was over before it was sent").not_taken()
    }

    /// What the panic said is not stored: it may hold what must not be in the file (O14).
    pub(crate) fn transport_panicked() -> Self {
        Self::retry("the transport panicked")
    }

    /// An answer that was told before: it settles the entry from any delivery, whatever other tries' outcomes are.
    pub fn replayed(mut self) -> Self {
        if let Kind::Answered { is_replay, .. } = &mut self.kind {
            *is_replay = true;
        }
        self
    }

    /// A retry after a try that certainly took no effect: no byte left, or it was turned away.
    pub fn not_taken(mut self) -> Self {
        if let Kind::Retry { may_have_taken_effect, .. } = &mut self.kind {
            *may_have_taken_effect = false;
        }
        self
    }

    /// A retry that does not count as a try: the server asks for the same key later.
    pub fn not_counted(mut self) -> Self {
        if let Kind::Retry { gives_try_back, .. } = &mut self.kind {
            *gives_try_back = true;
        }
        self
    }

    /// A retry because no answer came, whether or not the request has arrived: where the network on this side was at fault,
    /// [`Outbox::online`](crate::Outbox::online) has it tried at once.
    pub fn unanswered(mut self) -> Self {
        self.is_unanswered = matches!(self.kind, Kind::Retry { .. });
        self
    }

    /// Not before `span` has passed, up to the outbox's maximum.
    pub fn not_before(mut self, span: Duration) -> Self {
        self.retry_after_ms = Some(millis(span));
        self
    }

    /// Nothing of this scope's lane is sent in that time, either.
    pub fn pausing_lane(mut self) -> Self {
        self.pauses_lane = true;
        self
    }

    /// The server has told for how long it will know the key (O7).
    pub fn key_expires_after(mut self, span: Duration) -> Self {
        self.key_expires_after_ms = Some(millis(span));
        self
    }

    /// The name of what it means: `yes`, `no`, `retry`, `dead`, `unknown`, `hold_lane` or `hold_entry`.
    pub fn as_str(&self) -> &'static str {
        match &self.kind {
            Kind::Answered { is_yes: true, .. } => "yes",
            Kind::Answered { is_yes: false, .. } => "no",
            Kind::Retry { .. } => "retry",
            Kind::Dead(_) => "dead",
            Kind::Unknown(_) => "unknown",
            Kind::Hold { whole_lane: true, .. } => "hold_lane",
            Kind::Hold { whole_lane: false, .. } => "hold_entry",
        }
    }
}
