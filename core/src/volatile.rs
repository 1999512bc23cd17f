//! What this process alone knows of key ids: reservations that need not be on disk (E2), leases renewed in memory, claims that
//! were dropped (S2), leases of other openings that it has seen (L7), and who waits for what (P4).
//!
//! A key id has a slot here only while there is something to know. All of it is lost with the process, and may be.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::codec::address::{Address, RowKey};
use crate::key::KeyId;
use crate::machine::record::{Record, Stamp, State, Witness};
use crate::wake::Bell;

/// So many that threads with different keys seldom meet.
const SHARDS: usize = 64;

/// All slots of a ledger.
pub(crate) struct Memory {
    shards: Vec<Mutex<HashMap<RowKey, Slot>>>,
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
        self.volatile.is_none() && self.witness == Witness::default() && self.commits == 0 && self.waiters.is_empty()
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

impl Memory {
    pub(crate) fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    fn shard(&self, row: &RowKey) -> MutexGuard<'_, HashMap<RowKey, Slot>> {
        self.shards[usize::from(row.spread()) % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn look(&self, row: &RowKey) -> Glimpse {
        self.shard(row).get(row).map_or_else(Glimpse::default, Slot::glimpse)
    }

    /// Runs `change` on the slot of a key id while nobody else can touch it.
    pub(crate) fn with<R>(&self, address: &Address, change: impl FnOnce(&mut Slot) -> R) -> R {
        let mut shard = self.shard(&address.row);
        let slot = shard.entry(address.row).or_insert_with(|| Slot::new(address.id.clone()));
        let result = change(slot);
        if slot.is_empty() {
            shard.remove(&address.row);
        }
        result
    }

    /// Runs `change` on the slot of a row, if there is one.
    pub(crate) fn with_existing(&self, row: &RowKey, change: impl FnOnce(&mut Slot)) {
        let mut shard = self.shard(row);
        if let Some(slot) = shard.get_mut(row) {
            change(slot);
            if slot.is_empty() {
                shard.remove(row);
            }
        }
    }

    /// Remembers when a lease of another opening was first seen (L7).
    pub(crate) fn see(&self, address: &Address, record: &Record, now: Stamp) {
        let State::InProgress { lease, .. } = record.state else { return };
        if lease.from.opening == now.opening {
            return;
        }
        self.with(address, |slot| {
            if slot.witness.seen.is_none_or(|(fence, seen, _)| (fence, seen) != (record.fence, lease)) {
                slot.witness.seen = Some((record.fence, lease, now.mono_ms));
            }
        });
    }

    /// Runs `change` on every slot.
    pub(crate) fn for_each(&self, mut change: impl FnMut(&RowKey, &mut Slot)) {
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.retain(|row, slot| {
                change(row, slot);
                !slot.is_empty()
            });
        }
    }
}
