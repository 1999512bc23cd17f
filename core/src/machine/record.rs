//! What the ledger holds for one key id, and how its lease is judged.

use crate::fingerprint::Fingerprint;
use crate::operation::{Effect, Terms};
use crate::response::Response;

/// An instant as both clocks tell it.
///
/// `opening` names the opening of the ledger whose monotonic clock `mono_ms` belongs to: readings of two openings cannot be
/// compared, so a record says which one its readings come from (L7, E4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) wall_ms: u64,
    pub(crate) mono_ms: u64,
    pub(crate) opening: u64,
}

impl Stamp {
    /// How long ago `earlier` was: by the monotonic clock where both readings are of one opening, else by the wall clock.
    pub(crate) fn since_ms(self, earlier: Stamp) -> u64 {
        if self.opening == earlier.opening {
            self.mono_ms.saturating_sub(earlier.mono_ms)
        } else {
            self.wall_ms.saturating_sub(earlier.wall_ms)
        }
    }
}

/// How long a claim lasts: `ms` from `from`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) from: Stamp,
    pub(crate) ms: u64,
}

impl Lease {
    /// When it ends by the wall clock.
    pub(crate) fn end_wall_ms(self) -> u64 {
        self.from.wall_ms.saturating_add(self.ms)
    }
}

/// Retention as it was when the record was settled (T1). Wall-clock milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) settled_at: u64,
    pub(crate) retained_until: u64,
    pub(crate) gone_at: u64,
}

/// Why a record is parked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParkReason {
    /// The owner's lease ended without an outcome, and the operation may not run twice.
    OwnerLost,
    /// The downstream may have forgotten the derived key (E4).
    WindowOver,
    /// It was granted `max_attempts` times (E4).
    Attempts,
    /// A begin named another effect than the record has (E1).
    EffectChanged,
    /// One begin named a fingerprint and another did not, so nobody can tell whether they ask for the same (F7).
    CannotCompare,
    /// The handler, or a recovery worker, said so.
    Handler(String),
}

impl ParkReason {
    /// The reason in words; a handler's own as it gave it.
    pub fn as_str(&self) -> &str {
        match self {
            ParkReason::OwnerLost => "owner lost",
            ParkReason::WindowOver => "window over",
            ParkReason::Attempts => "attempts",
            ParkReason::EffectChanged => "effect changed",
            ParkReason::CannotCompare => "cannot compare",
            ParkReason::Handler(words) => words,
        }
    }

    /// Whether recovery may take it up: nobody has looked at it yet (section 4, recovery).
    pub(crate) fn is_recoverable(&self) -> bool {
        match self {
            ParkReason::OwnerLost | ParkReason::WindowOver | ParkReason::Attempts => true,
            ParkReason::EffectChanged | ParkReason::CannotCompare | ParkReason::Handler(_) => false,
        }
    }
}

/// Where a record stands (contract section 4). "No record" is the absence of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    InProgress {
        granted: Stamp,
        lease: Lease,
    },
    Released(Kept),
    Completed(Response, Kept),
    Failed(Response, Kept),
    /// `by_begin`: parked by a begin that found the lease over, which is no take-over (S1).
    Parked {
        reason: ParkReason,
        since: u64,
        by_begin: bool,
    },
    Tombstone(Kept),
}

/// The result of one step, stored under its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Unique within a record.
    pub name: String,
    /// What the step returned.
    pub value: Vec<u8>,
}

/// Who decided what about a record, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// What was decided: `completed`, `failed` or `not_done`.
    pub outcome: String,
    /// Who decided it.
    pub who: String,
    /// Why.
    pub note: String,
}

/// How long settled states of this record are kept, fixed when its claim was granted. Milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the unit is part of each name")]
pub(crate) struct Retention {
    pub(crate) lease_ms: u64,
    pub(crate) retention_ms: u64,
    pub(crate) tombstone_ms: u64,
}

impl Retention {
    pub(crate) fn kept_from(self, now: Stamp) -> Kept {
        let retained_until = now.wall_ms.saturating_add(self.retention_ms);
        let gone_at = retained_until.saturating_add(self.tombstone_ms);
        Kept { settled_at: now.wall_ms, retained_until, gone_at }
    }
}

impl From<Terms> for Retention {
    fn from(terms: Terms) -> Self {
        Self { lease_ms: terms.lease_ms, retention_ms: terms.retention_ms, tombstone_ms: terms.tombstone_ms }
    }
}

/// What the ledger holds for one key id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) state: State,
    pub(crate) effect: Effect,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) attempt: u32,
    pub(crate) fence: u64,
    pub(crate) first_granted: Stamp,
    pub(crate) retention: Retention,
    pub(crate) memo: Vec<u8>,
    pub(crate) steps: Vec<Step>,
    pub(crate) audit: Vec<AuditEntry>,
}

impl Record {
    pub(crate) fn with_state(mut self, state: State) -> Self {
        self.state = state;
        self
    }
}

/// What this process knows of a record beyond the bytes: all of it is lost with the process, and may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Witness {
    /// A heartbeat kept in memory: the fence it belongs to, and the lease it gave.
    pub(crate) renewed: Option<(u64, Lease)>,
    /// The fence of a claim that was dropped without being settled (S2).
    pub(crate) dropped: Option<u64>,
    /// The fence of a claim object that somebody in this process has.
    pub(crate) held: Option<u64>,
    /// A lease of another opening, the fence it belongs to, and the monotonic reading when it was first seen (L7).
    pub(crate) seen: Option<(u64, Lease, u64)>,
    /// In an exclusive ledger: the monotonic reading when this process took the file. It has seen every lease of another opening by
    /// then, for none was granted or renewed since (L7).
    pub(crate) taken_at: Option<u64>,
}

impl Witness {
    /// Whether it says nothing of this record in particular.
    pub(crate) fn is_empty(&self) -> bool {
        Witness { taken_at: None, ..*self } == Witness::default()
    }

    /// Forgets what belongs to claims with fences below `fence`: they are over.
    pub(crate) fn forget_before(&mut self, fence: u64) {
        self.renewed.take_if(|(known, _)| *known < fence);
        self.dropped.take_if(|known| *known < fence);
        self.held.take_if(|known| *known < fence);
        self.seen.take_if(|(known, ..)| *known < fence);
    }

    /// The lease that counts: the renewed one where this process renewed it.
    pub(crate) fn lease(&self, fence: u64, stored: Lease) -> Lease {
        match self.renewed {
            Some((renewed_fence, lease)) if renewed_fence == fence => lease,
            Some(_) | None => stored,
        }
    }

    /// What is left of a lease, in milliseconds; `None` when it is over (L6, L7, S2). Never more than the lease.
    pub(crate) fn left_ms(&self, fence: u64, stored: Lease, now: Stamp) -> Option<u64> {
        // A claim that was to follow this one and was never delivered ends nothing but what was over before it.
        if self.dropped.is_some_and(|dropped| dropped >= fence) {
            return None;
        }
        let lease = self.lease(fence, stored);
        let left = if lease.from.opening == now.opening {
            left_until(lease.from.mono_ms.saturating_add(lease.ms), now.mono_ms)?
        } else {
            self.left_of_another_opening(fence, lease, now)?
        };
        Some(left.min(lease.ms))
    }

    fn left_of_another_opening(&self, fence: u64, lease: Lease, now: Stamp) -> Option<u64> {
        if now.wall_ms < lease.from.wall_ms {
            return None;
        }
        let by_wall = left_until(lease.end_wall_ms(), now.wall_ms)?;
        let seen = self.seen.filter(|(seen_fence, seen, _)| (*seen_fence, *seen) == (fence, lease));
        match seen.map(|(.., at)| at).or(self.taken_at) {
            Some(at) => Some(by_wall.min(left_until(at.saturating_add(lease.ms), now.mono_ms)?)),
            None => Some(by_wall),
        }
    }
}

/// Milliseconds from `now` to `deadline`; `None` from the deadline on (L6).
fn left_until(deadline: u64, now: u64) -> Option<u64> {
    deadline.checked_sub(now).filter(|left| *left > 0)
}
