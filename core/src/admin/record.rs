//! A record, as it stands in JSON.

use serde::{Deserialize, Serialize};

use super::content::{Answer, Audit, Content};
use crate::ledger::{RecordView, StateName};

/// A record as a person sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Whose key it is.
    pub scope: String,
    /// What was being done.
    pub operation: String,
    /// The caller's name for it.
    pub key: String,
    /// `in_progress`, `released`, `completed`, `failed`, `parked` or `tombstone`, as it counts now: lapsed and at most once is parked.
    pub state: String,
    /// Stored as in progress, with a lease that is over.
    pub lapsed: bool,
    /// Parked: it goes on only when somebody decides.
    pub needs_decision: bool,
    /// In memory alone: no kill leaves anything of it (E2).
    pub volatile: bool,
    /// `in_ledger`, `repeatable` or `at_most_once`.
    pub effect: String,
    /// How often it was granted.
    pub attempt: u32,
    /// Of its last claim; what `resolve` names.
    pub fence: u64,
    /// Of its first request, in hexadecimal; absent where it was begun unchecked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// When it was first granted.
    pub first_granted_at_ms: u64,
    /// In progress or lapsed: when its lease ends, or ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_end_ms: Option<u64>,
    /// Why it is parked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parked: Option<Parking>,
    /// When it was settled or released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_at_ms: Option<u64>,
    /// Until when its answer is told again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retained_until_ms: Option<u64>,
    /// When nothing is left of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone_at_ms: Option<u64>,
    /// The stored answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Answer>,
    /// What the caller of `begin` left for whoever recovers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memo: Option<Content>,
    /// Results of its steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<NamedContent>,
    /// What persons decided about it, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audit: Vec<Audit>,
}

/// Why a record is parked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parking {
    /// In words.
    pub reason: String,
    /// When it was parked.
    pub since_ms: u64,
}

/// A step's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedContent {
    /// The step's name.
    pub name: String,
    /// What it returned.
    pub value: Content,
}

impl Record {
    /// `with_contents`: also memo, steps, audit trail and the answer's body.
    pub(super) fn of(view: &RecordView, with_contents: bool) -> Self {
        let id = view.key_id();
        let brief = Self {
            scope: id.scope().as_str().to_owned(),
            operation: id.operation().as_str().to_owned(),
            key: id.key().as_str().to_owned(),
            state: view.state().as_str().to_owned(),
            lapsed: view.is_lapsed(),
            needs_decision: view.state() == StateName::Parked,
            volatile: view.is_volatile(),
            effect: view.effect().as_str().to_owned(),
            attempt: view.attempt(),
            fence: view.fence(),
            fingerprint: view.fingerprint().hex(),
            first_granted_at_ms: view.first_granted_at_ms(),
            lease_end_ms: view.lease_end_ms(),
            parked: view.parked().map(|(why, since)| Parking { reason: why.as_str().to_owned(), since_ms: since }),
            settled_at_ms: view.settled_at_ms(),
            retained_until_ms: view.retained_until_ms(),
            gone_at_ms: view.gone_at_ms(),
            response: view.response().map(|response| Answer::of(response, with_contents)),
            memo: None,
            steps: Vec::new(),
            audit: Vec::new(),
        };
        if with_contents { brief.with_contents_of(view) } else { brief }
    }

    fn with_contents_of(self, view: &RecordView) -> Self {
        let step = |step: &crate::machine::record::Step| NamedContent {
            name: step.name.clone(),
            value: Content::of(&step.value),
        };
        Self {
            memo: Some(view.memo()).filter(|memo| !memo.is_empty()).map(Content::of),
            steps: view.steps().iter().map(step).collect(),
            audit: Audit::of(view.audit()),
            ..self
        }
    }
}
