//! What `enqueue` answers: an entry that is there already, or a new one (O3).

use super::entry::{Entry, Order};
use super::standing::EntryState;
use super::timeline::Moment;
use crate::fingerprint::{Comparison, Fingerprint};
use crate::key::{Key, LaneName, OperationName, Purpose, Scope};

/// What a caller asks to have sent, apart from the request's bytes.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) scope: Scope,
    pub(crate) lane: LaneName,
    pub(crate) operation: OperationName,
    /// The caller's own key; else a new one is made.
    pub(crate) key: Option<Key>,
    pub(crate) purpose: Option<Purpose>,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) request_bytes: u64,
    pub(crate) send_by: SendBy,
    /// An answer that is there does not do.
    pub(crate) even_if_answered: bool,
}

/// Until when it is worth sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SendBy {
    Never,
    /// When the wall clock shows this.
    WallMs(u64),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// That entry answers it.
    Existing,
    /// The purpose has another request.
    PurposeConflict,
    /// The key has another request.
    KeyConflict,
    /// Nothing is in the way.
    New,
}

/// What the newest entry of the same purpose says to it. Unsettled ones come first, whatever their age.
pub(crate) fn by_purpose(found: &Entry, wanted: &Wanted, now: Moment) -> Verdict {
    if !found.is_unsettled() && (wanted.even_if_answered || !found.answers_purpose(now)) {
        return Verdict::New;
    }
    match found.fingerprint.compare(&wanted.fingerprint) {
        Comparison::Different => Verdict::PurposeConflict,
        _ => Verdict::Existing,
    }
}

/// What the entry with the caller's own key says to it.
pub(crate) fn by_key(found: &Entry, wanted: &Wanted) -> Verdict {
    match found.fingerprint.compare(&wanted.fingerprint) {
        Comparison::Different => Verdict::KeyConflict,
        _ => Verdict::Existing,
    }
}

/// A new entry.
pub(crate) fn create(wanted: &Wanted, id: u64, key: Key, order: Order, now: Moment) -> Entry {
    let send_by = match wanted.send_by {
        SendBy::Never => None,
        SendBy::WallMs(wall_ms) => Some(now.when_wall_shows(wall_ms)),
    };
    Entry {
        id,
        position: id,
        scope: wanted.scope.clone(),
        lane: wanted.lane.clone(),
        order,
        operation: wanted.operation.clone(),
        key,
        purpose: wanted.purpose.clone(),
        fingerprint: wanted.fingerprint,
        request_bytes: wanted.request_bytes,
        state: EntryState::Pending,
        fence: 0,
        tries: 0,
        given_back: 0,
        errors: Vec::new(),
        ready_at: now.at,
        ends_at: None,
        in_doubt: false,
        first_unknown: None,
        key_known_until: None,
        send_by,
        created_at: now.at,
        created_at_ms: now.stamp.wall_ms,
        stays: None,
        successor: None,
        audit: Vec::new(),
        change: 0,
    }
}

/// The entry that takes the place of one whose outcome was unknown: the same request under a new key, in the same place of its lane
/// (O7).
pub(crate) fn succeed(old: &Entry, id: u64, key: Key, now: Moment) -> Entry {
    Entry {
        id,
        key,
        fence: 0,
        errors: Vec::new(),
        created_at_ms: now.stamp.wall_ms,
        successor: None,
        audit: Vec::new(),
        ..old.clone().begun_anew(now)
    }
}
