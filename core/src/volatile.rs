//! What this process alone knows of key ids: reservations that need not be on disk (E2), leases renewed in memory, claims that
//! were dropped (S2), leases of other openings that it has seen (L7), and who waits for what (P4).
//!
//! A key id has a slot here only while there is something to know. All of it is lost with the process, and may be.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::codec::address::{Address, RowKey};
use crate::key::KeyId;
use crate::machine::record::{Lease, Record, Stamp, State, Witness};
use crate::wake::Bell;

/// So many that threads with different keys seldom meet.
const SHARDS: usize = 64;

/// All slots of a ledger.
pub(crate) struct Memory {
    shards: Vec<Mutex<Shard>>,
    /// In an exclusive ledger: when this process took the file, by the monotonic clock. Every lease of another opening was granted
    /// before, and counts as seen then (L7): there is nothing to remember of each.
    taken_at: Option<AtomicU64>,
}

#[derive(Default)]
struct Shard {
    slots: HashMap<RowKey, Slot>,
    /// In a shared ledger: leases of other openings with their fences, and when each was first seen (L7). Apart from the slots, since
    /// a look at a million records leaves a million of these.
    seen: HashMap<RowKey, (u64, Lease, u64)>,
    /// Rows of slots with a reservation, so that nobody has to walk all slots for them.
    reserved: BTreeSet<RowKey>,
    /// Rows of slots with a dropped claim.
    dropped: BTreeSet<RowKey>,
}

/// What is known of one key id.
pub(crate) struct Slot {
    pub(crate) id: KeyId,
    /// A reservation that is in memory only. It counts only where the disk has no live record.
    pub(crate) volatile: Option<Record>,
    pub(crate) witness: Witness,
    /// How many commits in hand may change this key id's record. While there are any, only they decide.
    pub(crate) commits: u32,
    pub(crate) waiters: Vec<Arc<Bell>>,
}

impl Slot {
    fn new(id: KeyId) -> Self {
        Self { id, volatile: None, witness: Witness::default(), commits: 0, waiters: Vec::new() }
    }

    /// What is known, without what must be done.
    pub(crate) fn glimpse(&self) -> Glimpse {
        Glimpse { volatile: self.volatile.clone(), witness: self.witness }
    }

    /// What a commit was to take away is as it was, since it failed.
    pub(crate) fn restore(&mut self, known: Glimpse) {
        // Of several the oldest was there before the commit.
        let fence = |record: &Option<Record>| record.as_ref().map_or(u64::MAX, |record| record.fence);
        if fence(&known.volatile) <= fence(&self.volatile) {
            (self.volatile, self.witness) = (known.volatile, known.witness);
        }
    }

    fn is_empty(&self) -> bool {
        self.volatile.is_none() && self.witness.is_empty() && self.commits == 0 && self.waiters.is_empty()
    }

    /// Whether it has a reservation, and whether it has a dropped claim.
    fn marks(&self) -> (bool, bool) {
        (self.volatile.is_some(), self.witness.dropped.is_some())
    }

    /// Wakes everyone who waits; each looks again for itself.
    pub(crate) fn wake(&self) {
        for waiter in &self.waiters {
            waiter.ring();
        }
    }
}

/// A look at a slot.
#[derive(Clone, Default)]
pub(crate) struct Glimpse {
    pub(crate) volatile: Option<Record>,
    pub(crate) witness: Witness,
}

impl Shard {
    /// Runs `change` on a slot that is there, and forgets the slot if there is nothing more to know.
    fn change<R>(&mut self, row: &RowKey, taken_at: Option<u64>, change: impl FnOnce(&mut Slot) -> R) -> Option<R> {
        let slot = self.slots.get_mut(row)?;
        slot.witness.taken_at = taken_at;
        slot.witness.seen = if self.seen.is_empty() { None } else { self.seen.remove(row) };
        let before = slot.marks();
        let result = change(slot);
        let after = slot.marks();
        if let Some(seen) = slot.witness.seen.take() {
            self.seen.insert(*row, seen);
        }
        if slot.is_empty() {
            self.slots.remove(row);
        }
        self.mark(row, before, after);
        Some(result)
    }

    fn mark(&mut self, row: &RowKey, before: (bool, bool), after: (bool, bool)) {
        for (rows, before, after) in [(&mut self.reserved, before.0, after.0), (&mut self.dropped, before.1, after.1)] {
            if after && !before {
                rows.insert(*row);
            } else if before && !after {
                rows.remove(row);
            }
        }
    }

    fn look(&self, row: &RowKey, taken_at: Option<u64>) -> Glimpse {
        let mut glimpse = self.slots.get(row).map_or_else(Glimpse::default, Slot::glimpse);
        glimpse.witness.taken_at = taken_at;
        glimpse.witness.seen = self.seen.get(row).copied();
        glimpse
    }
}

impl Memory {
    /// Of an exclusive ledger whose file was `taken_at`, by the monotonic clock, or of a shared one.
    pub(crate) fn new(taken_at: Option<u64>) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { shards, taken_at: taken_at.map(AtomicU64::new) }
    }

    /// Another process may have had the file, and granted leases, until `at`.
    pub(crate) fn taken_again(&self, at: u64) {
        if let Some(taken_at) = &self.taken_at {
            taken_at.store(at, Ordering::Release);
        }
    }

    fn taken_at(&self) -> Option<u64> {
        self.taken_at.as_ref().map(|at| at.load(Ordering::Acquire))
    }

    fn shard(&self, row: &RowKey) -> MutexGuard<'_, Shard> {
        self.shards[usize::from(row.spread()) % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn look(&self, row: &RowKey) -> Glimpse {
        self.shard(row).look(row, self.taken_at())
    }

    /// Runs `change` on the slot of a key id while nobody else can touch it.
    pub(crate) fn with<R>(&self, address: &Address, change: impl FnOnce(&mut Slot) -> R) -> R {
        let mut shard = self.shard(&address.row);
        shard.slots.entry(address.row).or_insert_with(|| Slot::new(address.id.clone()));
        shard.change(&address.row, self.taken_at(), change).expect("the slot was just made")
    }

    /// Runs `change` on the slot of a row, if there is one.
    pub(crate) fn with_existing(&self, row: &RowKey, change: impl FnOnce(&mut Slot)) {
        self.shard(row).change(row, self.taken_at(), change);
    }

    /// Remembers when a lease of another opening was first seen (L7).
    pub(crate) fn see(&self, row: &RowKey, record: &Record, now: Stamp) {
        let State::InProgress { lease, .. } = record.state else { return };
        if lease.from.opening == now.opening || self.taken_at.is_some() {
            return;
        }
        let mut shard = self.shard(row);
        if shard.seen.get(row).is_none_or(|(fence, seen, _)| (*fence, *seen) != (record.fence, lease)) {
            shard.seen.insert(*row, (record.fence, lease, now.mono_ms));
        }
    }

    /// Forgets a lease that was seen, if its fence is below `fence`.
    pub(crate) fn forget_seen(&self, row: &RowKey, fence: u64) {
        let mut shard = self.shard(row);
        if shard.seen.get(row).is_some_and(|(known, ..)| *known < fence) {
            shard.seen.remove(row);
        }
    }

    /// Runs `change` on every slot.
    pub(crate) fn for_each(&self, mut change: impl FnMut(&RowKey, &mut Slot)) {
        let taken_at = self.taken_at();
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            let rows: Vec<RowKey> = shard.slots.keys().copied().collect();
            for row in rows {
                shard.change(&row, taken_at, |slot| change(&row, slot));
            }
        }
    }

    /// At most `limit` reservations in the order of their rows, from the first after `after` on.
    pub(crate) fn reserved_after(&self, after: Option<RowKey>, limit: usize) -> Vec<(Address, Glimpse)> {
        let rows = self.rows_after(|shard| &shard.reserved, after, limit);
        let taken_at = self.taken_at();
        let look = |row: RowKey| {
            let shard = self.shard(&row);
            let id = shard.slots.get(&row)?.id.clone();
            Some((Address { id, row }, shard.look(&row, taken_at)))
        };
        rows.into_iter().filter_map(look).collect()
    }

    /// At most `limit` rows of dropped claims, in their order, from the first after `after` on.
    pub(crate) fn dropped_after(&self, after: Option<RowKey>, limit: usize) -> Vec<RowKey> {
        self.rows_after(|shard| &shard.dropped, after, limit)
    }

    fn rows_after(&self, of: fn(&Shard) -> &BTreeSet<RowKey>, after: Option<RowKey>, limit: usize) -> Vec<RowKey> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut rows = Vec::new();
        for shard in &self.shards {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            rows.extend(of(&shard).range((from, Bound::Unbounded)).take(limit));
        }
        rows.sort_unstable();
        rows.truncate(limit);
        rows
    }
}
