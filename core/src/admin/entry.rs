//! An entry of the outbox, as it stands in JSON.

use serde::{Deserialize, Serialize};

use super::content::{Answer, Audit, Content};
use crate::entry::EntryView;
use crate::machine::entry::TryError;
use crate::machine::standing::{DeadReason, UnknownReason};

/// An entry as a person sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What names it in this ledger.
    pub id: u64,
    /// Whose it is.
    pub scope: String,
    /// The lane that it is in.
    pub lane: String,
    /// What is asked for.
    pub operation: String,
    /// The key that goes with it.
    pub key: String,
    /// What the user wants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// `pending`, `sending`, `held`, `unknown`, `answered`, `dead` or `cancelled`.
    pub state: String,
    /// Why it is held, unknown or dead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the answer was a yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yes: Option<bool>,
    /// Whether its lane is held with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
    /// Whether some try may have taken effect without an answer.
    pub may_have_taken_effect: bool,
    /// How many tries count.
    pub tries: u32,
    /// How many were given back.
    pub given_back: u32,
    /// Of its last delivery.
    pub fence: u64,
    /// When it was enqueued.
    pub created_at_ms: u64,
    /// When it may be sent next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at_ms: Option<u64>,
    /// When the lease of the delivery under way ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_end_ms: Option<u64>,
    /// The first send whose outcome is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_unknown_at_ms: Option<u64>,
    /// Until when it is worth sending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_by_ms: Option<u64>,
    /// When it was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_at_ms: Option<u64>,
    /// The entry that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor: Option<u64>,
    /// The length of its request in bytes.
    pub request_bytes: u64,
    /// The request, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Answer>,
    /// The final answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Answer>,
    /// The errors of the last sixteen tries, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Tried>,
    /// What persons decided about it, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audit: Vec<Audit>,
}

/// How an entry is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// It alone: `resume` names the entry.
    Alone,
    /// With its lane: `resume` names the scope.
    WithLane,
}

/// What went wrong in one try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// When.
    pub at_ms: u64,
    /// What.
    pub error: String,
}

impl Entry {
    /// `with_contents`: also errors, audit trail and the answer's body.
    pub(super) fn of(view: &EntryView, with_contents: bool) -> Self {
        let held = view.held();
        let unknown = view.unknown().map(UnknownReason::as_str);
        let dead = view.dead().map(DeadReason::as_str);
        let late = view.is_not_sent_in_time().then_some("not sent in time");
        let tried = |TryError { at_ms, error }: TryError| Tried { at_ms, error };
        let contents = if with_contents { view.errors() } else { &[] };
        Self {
            id: view.id().get(),
            scope: view.scope().as_str().to_owned(),
            lane: view.lane().to_owned(),
            operation: view.operation().to_owned(),
            key: view.key().as_str().to_owned(),
            purpose: view.purpose().map(str::to_owned),
            state: view.state().as_str().to_owned(),
            reason: held.map(|(reason, _)| reason).or(unknown).or(dead).or(late).map(str::to_owned),
            yes: view.response().map(|_| view.is_yes()),
            held: held.map(|(_, with_lane)| if with_lane { Held::WithLane } else { Held::Alone }),
            may_have_taken_effect: view.may_have_taken_effect(),
            tries: view.tries(),
            given_back: view.given_back(),
            fence: view.fence(),
            created_at_ms: view.created_at_ms(),
            due_at_ms: view.due_at_ms(),
            lease_end_ms: view.lease_end_ms(),
            first_unknown_at_ms: view.first_unknown_at_ms(),
            send_by_ms: view.send_by_ms(),
            settled_at_ms: view.settled_at_ms(),
            successor: view.successor().map(crate::entry::EntryId::get),
            request_bytes: view.request_bytes(),
            request: None,
            response: view.response().map(|response| Answer::of(response, with_contents)),
            errors: contents.iter().cloned().map(tried).collect(),
            audit: if with_contents { Audit::of(view.audit()) } else { Vec::new() },
        }
    }

    pub(super) fn with_request(self, request: Option<(String, Vec<u8>)>) -> Self {
        let request = request.map(|(media_type, bytes)| Answer {
            media_type,
            length: bytes.len() as u64,
            omitted_sha256: None,
            content: Some(Content::of(&bytes)),
        });
        Self { request, ..self }
    }
}
