//! `begin` and `begin_many`: the rows of section 4's first table, in order.

use super::record::{Lease, Reason, Record, State};
use super::values::{Bytes, Effect, Fence, Fingerprint, Id, Millis, Operation, Response};
use super::world::Model;

/// The arguments of `begin`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Begin {
    /// The operation as this caller declares it.
    pub operation: Operation,
    /// Whose key.
    pub scope: String,
    /// The key.
    pub key: String,
    /// What is asked.
    pub fingerprint: Fingerprint,
    /// For whoever recovers it.
    pub memo: Bytes,
}

impl Begin {
    /// The id it is about.
    pub fn id(&self) -> Id {
        Id::new(&self.scope, &self.operation.name, &self.key)
    }
}

/// What `begin` answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// The right to run it.
    Acquired(Granted),
    /// The stored outcome.
    Replay {
        /// Its response.
        response: Response,
        /// Whether it was a final no.
        failed: bool,
        /// When it was settled.
        settled_at: Millis,
        /// When the retention ends.
        expires_at: Millis,
    },
    /// Somebody else has the claim.
    InProgress {
        /// Since the claim was granted.
        running_for: Millis,
        /// Until its lease is over.
        retry_after: Millis,
    },
    /// Another request under the same key.
    Mismatch,
    /// Nobody knows whether it happened.
    Parked {
        /// Why.
        reason: Reason,
        /// Since when.
        since: Millis,
    },
    /// Past its retention.
    Gone,
}

/// A claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Granted {
    /// On which record.
    pub id: Id,
    /// Its fence.
    pub fence: Fence,
    /// Its number among the grants on that record.
    pub attempt: u32,
    /// The record's effect.
    pub effect: Effect,
    /// The record's memo.
    pub memo: Bytes,
    /// The steps recorded so far.
    pub steps: Vec<(String, Bytes)>,
    /// When the first attempt was granted.
    pub first_granted_at: Millis,
}

impl Model {
    /// Decides each as if alone, in order.
    pub fn begin_many(&mut self, calls: &[Begin]) -> Vec<Decision> {
        calls.iter().map(|call| self.begin(call)).collect()
    }

    /// Section 4, row by row.
    pub fn begin(&mut self, call: &Begin) -> Decision {
        let Some(record) = self.current(&call.id()) else { return self.grant(call, None) };
        if matches!(record.state, State::Tombstone { .. }) {
            return Decision::Gone;
        }
        if differ(record.fingerprint, call.fingerprint) {
            return Decision::Mismatch;
        }
        match &record.state {
            State::InProgress if !self.lease_over(&record) => self.in_progress(&record),
            State::InProgress | State::Released(_) => match self.why_parked(&record, call) {
                Some(reason) => self.park_instead(call, record, reason),
                None => self.grant(call, Some(record)),
            },
            State::Completed(response, ended) => Decision::Replay {
                response: response.clone(),
                failed: false,
                settled_at: ended.settled_at,
                expires_at: ended.retained_until,
            },
            State::Failed(response, ended) => Decision::Replay {
                response: response.clone(),
                failed: true,
                settled_at: ended.settled_at,
                expires_at: ended.retained_until,
            },
            State::Parked { reason, since, .. } => Decision::Parked { reason: reason.clone(), since: *since },
            State::Tombstone { .. } => Decision::Gone,
        }
    }

    /// `retry_after` is never more than the lease (L7).
    fn in_progress(&self, record: &Record) -> Decision {
        let lease = self.lease_of(record);
        let here = lease.from.opening == self.opening;
        let by_wall = lease.end().saturating_sub(self.wall);
        let by_sight = self.opened_mono.saturating_add(lease.length).saturating_sub(self.mono);
        let by_mono = lease.from.mono.saturating_add(lease.length).saturating_sub(self.mono);
        let retry_after = if here { by_mono } else { by_wall.min(by_sight) };
        Decision::InProgress { running_for: self.running_for(record), retry_after: retry_after.min(lease.length) }
    }

    fn running_for(&self, record: &Record) -> Millis {
        if record.granted.opening == self.opening {
            self.mono.saturating_sub(record.granted.mono)
        } else {
            self.wall.saturating_sub(record.granted.wall)
        }
    }

    /// Why a lapsed or released record may not run again: the effect's own row, F7, E1, E4.
    fn why_parked(&self, record: &Record, call: &Begin) -> Option<Reason> {
        let lapsed = record.state == State::InProgress;
        let cannot_compare = record.fingerprint != call.fingerprint;
        match record.effect {
            Effect::AtMostOnce if lapsed => Some(Reason::OwnerLost),
            Effect::Repeatable | Effect::AtMostOnce if cannot_compare => Some(Reason::CannotCompare),
            Effect::Repeatable if call.operation.effect != Effect::Repeatable => Some(Reason::EffectChanged),
            Effect::Repeatable if self.window_over(record, &call.operation) => Some(Reason::WindowOver),
            Effect::Repeatable if record.attempt >= call.operation.max_attempts => Some(Reason::Attempts),
            Effect::Repeatable | Effect::AtMostOnce | Effect::InLedger => None,
        }
    }

    /// E4: not over only if `now + lease <= first granted at + remembered_for`, judged as L7 judges leases.
    fn window_over(&self, record: &Record, operation: &Operation) -> bool {
        let first = record.first_granted;
        if first.opening == self.opening {
            self.mono.saturating_add(operation.lease) > first.mono.saturating_add(operation.remembered_for)
        } else {
            self.wall < first.wall
                || self.wall.saturating_add(operation.lease) > first.wall.saturating_add(operation.remembered_for)
        }
    }

    fn park_instead(&mut self, call: &Begin, record: Record, reason: Reason) -> Decision {
        let (since, found_lapsed) = (self.wall, record.state == State::InProgress);
        let state = State::Parked { reason: reason.clone(), since, found_lapsed };
        self.store(&call.id(), Record { state, ..record });
        Decision::Parked { reason, since }
    }

    /// E1 raises the effect, F7 says whose fingerprint stays, E2 says where the record is kept.
    fn grant(&mut self, call: &Begin, old: Option<Record>) -> Decision {
        let id = call.id();
        let now = self.now();
        let operation = &call.operation;
        let fresh = Record {
            state: State::InProgress,
            effect: operation.effect,
            fingerprint: call.fingerprint,
            attempt: 0,
            fence: 0,
            memo: call.memo.clone(),
            steps: Vec::new(),
            first_granted: now,
            granted: now,
            lease: Lease { from: now, length: operation.lease },
            retention: operation.retention,
            tombstone: operation.tombstone,
        };
        let record = match old {
            None => fresh,
            Some(old) => Record {
                effect: old.effect.max(fresh.effect),
                fingerprint: if old.effect == Effect::InLedger { fresh.fingerprint } else { old.fingerprint },
                attempt: old.attempt,
                memo: if call.memo.is_empty() { old.memo } else { fresh.memo },
                steps: old.steps,
                first_granted: old.first_granted,
                ..fresh
            },
        };
        Decision::Acquired(self.hand_out(&id, record))
    }

    /// Gives the record its next attempt and fence, and keeps it where E2 says. A row that is past its time, but not swept, keeps
    /// a reservation out of memory: a wall clock set back would bring the row to life beside it (I1).
    pub(super) fn hand_out(&mut self, id: &Id, record: Record) -> Granted {
        let fence = self.next_fence;
        self.next_fence += 1;
        let record = Record { attempt: record.attempt + 1, fence, ..record };
        let granted = Granted {
            id: id.clone(),
            fence,
            attempt: record.attempt,
            effect: record.effect,
            memo: record.memo.clone(),
            steps: record.steps.clone(),
            first_granted_at: record.first_granted.wall,
        };
        if record.effect == Effect::InLedger && !self.is_shared && !self.disk.contains_key(id) {
            self.volatile.insert(id.clone(), record);
        } else {
            self.store(id, record);
        }
        granted
    }
}

/// F7: two values differ if unequal; `Unchecked` differs from nothing.
fn differ(stored: Fingerprint, asked: Fingerprint) -> bool {
    match (stored, asked) {
        (Fingerprint::Value(stored), Fingerprint::Value(asked)) => stored != asked,
        (Fingerprint::Unchecked, _) | (_, Fingerprint::Unchecked) => false,
    }
}
