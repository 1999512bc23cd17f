//! `forget` and `forget_scope`.

use super::record::State;
use super::values::Id;
use super::world::Model;

/// How many of each were removed, and how many were not.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Forgotten {
    /// Completed and failed.
    pub settled: u64,
    /// Released.
    pub released: u64,
    /// Tombstones.
    pub tombstones: u64,
    /// In progress and parked, removed all the same.
    pub unsettled: u64,
    /// In progress and parked, kept.
    pub kept_unsettled: u64,
}

impl Model {
    /// Removes a record; an unsettled or parked one only if told to, because after that it may run again.
    pub fn forget(&mut self, id: &Id, even_if_unknown: bool) -> Forgotten {
        let mut count = Forgotten::default();
        match self.current(id).map(|record| record.state) {
            None => {}
            Some(State::Completed(..) | State::Failed(..)) => count.settled = 1,
            Some(State::Released(_)) => count.released = 1,
            Some(State::Tombstone { .. }) => count.tombstones = 1,
            Some(State::InProgress | State::Parked { .. }) if even_if_unknown => count.unsettled = 1,
            Some(State::InProgress | State::Parked { .. }) => count.kept_unsettled = 1,
        }
        if count.kept_unsettled == 0 {
            self.disk.remove(id);
            self.volatile.remove(id);
        }
        count
    }

    /// The same for every record of a scope.
    pub fn forget_scope(&mut self, scope: &str, even_if_unknown: bool) -> Forgotten {
        let mut ids: Vec<Id> = self.disk.keys().chain(self.volatile.keys()).cloned().collect();
        ids.retain(|id| id.scope == scope);
        ids.sort();
        ids.dedup();
        ids.iter().map(|id| self.forget(id, even_if_unknown)).fold(Forgotten::default(), |sum, one| Forgotten {
            settled: sum.settled + one.settled,
            released: sum.released + one.released,
            tombstones: sum.tombstones + one.tombstones,
            unsettled: sum.unsettled + one.unsettled,
            kept_unsettled: sum.kept_unsettled + one.kept_unsettled,
        })
    }
}
