//! Settling: the second table of section 4, S1 and S2.

use super::record::{Ended, Lease, Reason, Record, State};
use super::values::{Bytes, Code, Effect, Fence, Id, Millis, Response};
use super::world::Model;

/// A settling call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Settlement {
    /// It happened.
    Complete(Response),
    /// A final no.
    Fail(Response),
    /// It surely did not happen.
    Release,
    /// Unknown, in the handler's words.
    Park(String),
}

impl Model {
    /// The first four rows of the table.
    pub fn settle(&mut self, id: &Id, fence: Fence, call: &Settlement) -> Result<(), Code> {
        let record = self.of_fence(id, fence)?;
        let late = match (&record.state, call) {
            (State::Parked { found_lapsed, .. }, Settlement::Complete(_) | Settlement::Fail(_)) => *found_lapsed,
            _ => false,
        };
        if record.state != State::InProgress && !late {
            return if says_the_same(&record.state, call) { Ok(()) } else { Err(Code::ClaimLost) };
        }
        let ended = self.ended(&record);
        match call {
            Settlement::Release => self.release(id, record),
            Settlement::Complete(response) => {
                self.store(id, Record { state: State::Completed(response.clone(), ended), ..record });
            }
            Settlement::Fail(response) => {
                self.store(id, Record { state: State::Failed(response.clone(), ended), ..record });
            }
            Settlement::Park(words) => {
                let reason = Reason::Handler(words.clone());
                let state = State::Parked { reason, since: self.wall, found_lapsed: false };
                self.store(id, Record { state, ..record });
            }
        }
        Ok(())
    }

    /// Volatile: forgotten; else Released.
    pub(super) fn release(&mut self, id: &Id, record: Record) {
        if self.on_disk(id).is_none() {
            self.volatile.remove(id);
        } else {
            let ended = self.ended(&record);
            self.store(id, Record { state: State::Released(ended), ..record });
        }
    }

    /// T1, and "written into the record when it is settled".
    pub(super) fn ended(&self, record: &Record) -> Ended {
        let retained_until = self.wall.saturating_add(record.retention);
        Ended { settled_at: self.wall, retained_until, gone_at: retained_until.saturating_add(record.tombstone) }
    }

    /// The lease is renewed from now, in memory.
    pub fn heartbeat(&mut self, id: &Id, fence: Fence, lease: Millis) -> Result<(), Code> {
        if lease == 0 {
            return Err(Code::InvalidArgument);
        }
        self.in_progress_of(id, fence)?;
        self.dropped.remove(&fence);
        self.renewed.insert(fence, Lease { from: self.now(), length: lease });
        Ok(())
    }

    /// Stores a step; refused for `InLedger` (E2). A name has one value within a record.
    pub fn record_step(&mut self, id: &Id, fence: Fence, name: &str, value: &[u8]) -> Result<(), Code> {
        let record = self.of_fence(id, fence)?;
        let known = record.steps.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        match (&record.state, known) {
            (State::InProgress, _) if record.effect == Effect::InLedger => Err(Code::InvalidArgument),
            // Parked by a begin is not settled by this fence.
            (State::Parked { found_lapsed: true, .. }, _) => Err(Code::ClaimLost),
            (_, Some(known)) if known == value => Ok(()),
            (State::InProgress, Some(_)) => Err(Code::InvalidArgument),
            (State::InProgress, None) => {
                let mut record = record;
                record.steps.push((name.into(), Bytes::from(value)));
                self.store(id, record);
                Ok(())
            }
            _ => Err(Code::ClaimLost),
        }
    }

    /// S2: its lease ends at once, without I/O. Nothing happens if the claim was settled or lost before.
    pub fn drop_claim(&mut self, id: &Id, fence: Fence) {
        if self.in_progress_of(id, fence).is_ok() {
            self.dropped.insert(fence);
        }
    }

    fn of_fence(&self, id: &Id, fence: Fence) -> Result<Record, Code> {
        let tombstone = |record: &Record| matches!(record.state, State::Tombstone { .. });
        self.current(id).filter(|record| record.fence == fence && !tombstone(record)).ok_or(Code::ClaimLost)
    }

    pub(super) fn in_progress_of(&self, id: &Id, fence: Fence) -> Result<Record, Code> {
        self.of_fence(id, fence).ok().filter(|record| record.state == State::InProgress).ok_or(Code::ClaimLost)
    }
}

/// "Settled by this fence, same call and same content".
fn says_the_same(state: &State, call: &Settlement) -> bool {
    match (state, call) {
        (State::Completed(stored, _), Settlement::Complete(given))
        | (State::Failed(stored, _), Settlement::Fail(given)) => stored == given,
        (State::Released(_), Settlement::Release) => true,
        (State::Parked { reason: Reason::Handler(stored), .. }, Settlement::Park(given)) => stored == given,
        _ => false,
    }
}
