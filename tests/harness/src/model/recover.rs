//! Recovery by a worker, and resolution by a person.

use super::begin::Granted;
use super::record::{Lease, Record, State};
use super::values::{Code, Effect, Fence, Id, Operation, Response};
use super::world::Model;

/// What a person found out about a parked record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Resolution {
    /// It happened.
    Completed(Response),
    /// It was refused for good.
    Failed(Response),
    /// It did not happen, and the old owner can no longer act.
    NotDone,
}

impl Model {
    /// The ids that `recover` would hand out, in no order: lapsed on disk, or parked and not yet looked at.
    pub fn recoverable(&self, operation: &str) -> Vec<Id> {
        let due =
            |id: &&Id| id.operation == operation && self.on_disk(id).is_some_and(|record| self.to_recover(&record));
        self.disk.keys().filter(due).cloned().collect()
    }

    fn to_recover(&self, record: &Record) -> bool {
        match &record.state {
            State::InProgress => self.lease_over(record),
            State::Parked { reason, .. } => reason.unseen(),
            State::Released(_) | State::Completed(..) | State::Failed(..) | State::Tombstone { .. } => false,
        }
    }

    /// Hands out one of those: attempt + 1, a new fence, memo and steps. The effect stays the record's.
    pub fn recover_one(&mut self, operation: &Operation, id: &Id) -> Option<Granted> {
        let record = self.on_disk(id).filter(|record| self.to_recover(record))?;
        let now = self.now();
        let lease = Lease { from: now, length: operation.lease };
        let (retention, tombstone) = (operation.retention, operation.tombstone);
        let claimed = Record { state: State::InProgress, granted: now, lease, retention, tombstone, ..record };
        Some(self.hand_out(id, claimed))
    }

    /// Settles a parked record for a person, or one that `list` and `stats` count as parked; the fence is the one that `inspect` showed.
    pub fn resolve(&mut self, id: &Id, fence: Fence, resolution: &Resolution) -> Result<(), Code> {
        let record = self.on_disk(id).filter(|record| record.fence == fence).ok_or(Code::NotParked)?;
        match &record.state {
            _ if self.counts_as_parked(&record) => {
                self.resolve_parked(id, record, resolution);
                Ok(())
            }
            state if says_the_same(state, resolution) => Ok(()),
            _ => Err(Code::NotParked),
        }
    }

    /// Every parked record of `operation`, as `resolve`; how many there were.
    pub fn resolve_many(&mut self, operation: &str, resolution: &Resolution) -> u64 {
        let ids: Vec<Id> = self.disk.keys().filter(|id| id.operation == operation).cloned().collect();
        let mut count = 0;
        for id in ids {
            let parked = self.on_disk(&id).filter(|record| self.counts_as_parked(record));
            if let Some(record) = parked {
                self.resolve_parked(&id, record, resolution);
                count += 1;
            }
        }
        count
    }

    fn resolve_parked(&mut self, id: &Id, record: Record, resolution: &Resolution) {
        let ended = self.ended(&record);
        let state = match resolution {
            Resolution::Completed(response) => State::Completed(response.clone(), ended),
            Resolution::Failed(response) => State::Failed(response.clone(), ended),
            Resolution::NotDone => State::Released(ended),
        };
        self.store(id, Record { state, ..record });
    }

    /// `inspect`, `list` and `stats` count a lapsed `AtMostOnce` record as parked.
    pub(super) fn counts_as_parked(&self, record: &Record) -> bool {
        match record.state {
            State::Parked { .. } => true,
            State::InProgress => record.effect == Effect::AtMostOnce && self.lease_over(record),
            State::Released(_) | State::Completed(..) | State::Failed(..) | State::Tombstone { .. } => false,
        }
    }
}

/// "The same fence and outcome again is ok."
fn says_the_same(state: &State, resolution: &Resolution) -> bool {
    match (state, resolution) {
        (State::Completed(stored, _), Resolution::Completed(given))
        | (State::Failed(stored, _), Resolution::Failed(given)) => stored == given,
        (State::Released(_), Resolution::NotDone) => true,
        _ => false,
    }
}
