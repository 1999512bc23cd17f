//! T2, and the counters of T4.

use std::collections::BTreeSet;

use super::record::{Record, State};
use super::values::{Id, Millis};
use super::world::Model;

/// What a sweep did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Swept {
    /// Records that became tombstones.
    pub tombstoned: u64,
    /// Records that became no record.
    pub removed: u64,
    /// Whether more are due.
    pub more: bool,
}

/// Records by state, as stored.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Claimed.
    pub in_progress: u64,
    /// Given back.
    pub released: u64,
    /// Completed.
    pub completed: u64,
    /// Failed.
    pub failed: u64,
    /// Parked, and lapsed where nobody can tell.
    pub parked: u64,
    /// Tombstones.
    pub tombstones: u64,
}

impl Model {
    /// What is due on disk, oldest first.
    pub fn due(&self) -> Vec<(Millis, Id)> {
        let is_due = |record: &Record| self.aged(record).as_ref() != Some(record);
        let mut due: Vec<(Millis, Id)> = self
            .disk
            .iter()
            .filter(|(_, record)| is_due(record))
            .map(|(id, record)| (self.due_at(record), id.clone()))
            .collect();
        due.sort();
        due
    }

    /// When a record's present state ends.
    fn due_at(&self, record: &Record) -> Millis {
        match &record.state {
            State::Released(ended) | State::Completed(_, ended) | State::Failed(_, ended) => ended.retained_until,
            State::Tombstone { gone_at } => *gone_at,
            State::InProgress => self.lease_of(record).end().saturating_add(record.retention),
            State::Parked { .. } => Millis::MAX,
        }
    }

    /// Turns at most `limit` expired records into their next state. Reservations past their time go too: they are in memory
    /// alone, and nobody counts them.
    pub fn sweep(&mut self, limit: usize) -> Swept {
        let due = self.due();
        let mut swept = Swept { more: due.len() > limit, ..Swept::default() };
        for (_, id) in due.into_iter().take(limit) {
            if let Some(next) = self.on_disk(&id) {
                self.disk.insert(id, next);
                swept.tombstoned += 1;
            } else {
                self.disk.remove(&id);
                swept.removed += 1;
            }
        }
        self.drop_dead_reservations();
        swept
    }

    fn drop_dead_reservations(&mut self) {
        let dead = |record: &Record| self.aged(record).is_none();
        let ids: Vec<Id> = self.volatile.iter().filter(|(_, record)| dead(record)).map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.volatile.remove(&id);
        }
    }

    /// Whether a sweep of `limit` has to choose between records that are equally old.
    pub fn sweep_has_a_choice(&self, limit: usize) -> bool {
        let due = self.due();
        limit > 0 && limit < due.len() && due[limit - 1].0 == due[limit].0
    }

    /// Records by state, as stored or reserved; a lapsed `AtMostOnce` one counts as parked.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { in_progress: self.volatile_count(), ..Counts::default() };
        for record in self.disk.values() {
            self.count(record, &mut counts);
        }
        counts
    }

    /// The same of records as they count now, whether or not a sweep has come by.
    pub fn counts_now(&self) -> Counts {
        let mut counts = Counts::default();
        let ids: BTreeSet<&Id> = self.disk.keys().chain(self.volatile.keys()).collect();
        for record in ids.into_iter().filter_map(|id| self.current(id)) {
            self.count(&record, &mut counts);
        }
        counts
    }

    fn count(&self, record: &Record, counts: &mut Counts) {
        *match &record.state {
            State::InProgress if self.counts_as_parked(record) => &mut counts.parked,
            State::InProgress => &mut counts.in_progress,
            State::Released(_) => &mut counts.released,
            State::Completed(..) => &mut counts.completed,
            State::Failed(..) => &mut counts.failed,
            State::Parked { .. } => &mut counts.parked,
            State::Tombstone { .. } => &mut counts.tombstones,
        } += 1;
    }

    /// How many reservations are in memory only, and not at the end of their time.
    pub fn volatile_count(&self) -> u64 {
        let lives = |(id, record): (&Id, &Record)| self.on_disk(id).is_none() && self.aged(record).is_some();
        self.volatile.iter().filter(|entry| lives((entry.0, entry.1))).count() as u64
    }
}
