//! The whole ledger, and which record decides.

use std::collections::{BTreeMap, BTreeSet};

use super::record::{Lease, Record, State};
use super::rows::Table;
use super::time::Stamp;
use super::values::{Bytes, Effect, Fence, Id, Millis};

/// The ledger: what is on disk, what is in memory, and what time it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    /// The wall clock.
    pub wall: Millis,
    /// The monotonic clock.
    pub mono: Millis,
    pub(super) opening: u32,
    pub(super) next_fence: Fence,
    pub(super) disk: BTreeMap<Id, Record>,
    /// Volatile reservations (E2).
    /// Nothing is volatile.
    pub(super) is_shared: bool,
    pub(super) volatile: BTreeMap<Id, Record>,
    /// Leases renewed by a heartbeat, kept in memory (section 4, exclusive).
    pub(super) renewed: BTreeMap<Fence, Lease>,
    /// Claims that were dropped (S2).
    pub(super) dropped: BTreeSet<Fence>,
    /// When this process opened the ledger, by the monotonic clock: whoever looks at every record at once, as the tests do,
    /// has seen every lease by then (L7).
    pub(super) opened_mono: Millis,
    pub(super) rows: BTreeMap<(Table, Bytes), Bytes>,
}

impl Model {
    /// An empty ledger, opened now.
    pub fn new(wall: Millis, mono: Millis) -> Self {
        Self {
            wall,
            mono,
            opening: 1,
            next_fence: 1,
            disk: BTreeMap::new(),
            volatile: BTreeMap::new(),
            renewed: BTreeMap::new(),
            dropped: BTreeSet::new(),
            opened_mono: mono,
            rows: BTreeMap::new(),
            is_shared: false,
        }
    }

    /// A ledger that several processes share: what they must know of each other is on disk (E2).
    pub fn shared(wall: Millis, mono: Millis) -> Self {
        Self { is_shared: true, ..Self::new(wall, mono) }
    }

    /// Time passes, on both clocks.
    pub fn advance(&mut self, span: Millis) {
        self.wall = self.wall.saturating_add(span);
        self.mono = self.mono.saturating_add(span);
    }

    /// Somebody sets the wall clock.
    pub fn jump_wall(&mut self, by: i64) {
        self.wall = self.wall.saturating_add_signed(by);
    }

    /// This instant.
    pub fn now(&self) -> Stamp {
        Stamp { wall: self.wall, mono: self.mono, opening: self.opening }
    }

    /// The lease that counts: the one renewed in memory, else the stored one.
    pub fn lease_of(&self, record: &Record) -> Lease {
        self.renewed.get(&record.fence).copied().unwrap_or(record.lease)
    }

    /// L7 and S2.
    pub fn lease_over(&self, record: &Record) -> bool {
        let lease = self.lease_of(record);
        self.dropped.contains(&record.fence)
            || lease.from.passed_here(lease.length, self.now()).unwrap_or_else(|| {
                self.wall >= lease.end()
                    || self.wall < lease.from.wall
                    || self.mono >= self.opened_mono.saturating_add(lease.length)
            })
    }

    /// Section 4: a record past its time counts as its next state, swept or not.
    pub fn aged(&self, record: &Record) -> Option<Record> {
        match &record.state {
            State::Released(ended) | State::Completed(_, ended) | State::Failed(_, ended) => {
                if self.wall < ended.retained_until {
                    return Some(record.clone());
                }
                let in_ledger_released =
                    record.effect == Effect::InLedger && matches!(record.state, State::Released(_));
                let tombstone = Record { state: State::Tombstone { gone_at: ended.gone_at }, ..record.clone() };
                if in_ledger_released { None } else { self.aged(&tombstone) }
            }
            State::Tombstone { gone_at } => (self.wall < *gone_at).then(|| record.clone()),
            State::InProgress => (!self.forgotten_by_itself(record)).then(|| record.clone()),
            State::Parked { .. } => Some(record.clone()),
        }
    }

    /// "An `InLedger` `InProgress` record whose lease has been over for its retention becomes no record."
    fn forgotten_by_itself(&self, record: &Record) -> bool {
        let end = self.lease_of(record).end().saturating_add(record.retention);
        record.effect == Effect::InLedger && self.lease_over(record) && self.wall >= end
    }

    /// The live record on disk, if there is one.
    pub(super) fn on_disk(&self, id: &Id) -> Option<Record> {
        self.disk.get(id).and_then(|record| self.aged(record))
    }

    /// The record that decides: the one on disk; the volatile one only where the disk has none that is live.
    pub fn current(&self, id: &Id) -> Option<Record> {
        self.on_disk(id).or_else(|| self.volatile.get(id).and_then(|record| self.aged(record)))
    }

    /// Writes to disk; nothing volatile is left beside it.
    pub(super) fn store(&mut self, id: &Id, record: Record) {
        self.volatile.remove(id);
        self.disk.insert(id.clone(), record);
    }
}
