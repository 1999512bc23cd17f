//! What this process alone knows of key ids: reservations that need not be on disk (E2), leases renewed in memory, claims that
//! were dropped (S2), leases of other openings that it has seen (L7), and who waits for what (P4).
//!
//! A key id has a slot here only while there is something to know. All of it is lost with the process, and may be.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::key::KeyId;
use crate::machine::record::{Record, Stamp, State, Witness};
use crate::wake::Bell;

/// A power of two, so that threads with different keys seldom meet.
const SHARDS: usize = 64;

/// All slots of a ledger.
pub(crate) struct Memory {
    hasher: RandomState,
    shards: Vec<Mutex<HashMap<KeyId, Slot>>>,
}

/// What is known of one key id.
#[derive(Default)]
pub(crate) struct Slot {
    /// A reservation that is in memory only. It counts only where the disk has no live record.
    pub(crate) volatile: Option<Record>,
    pub(crate) witness: Witness,
    /// How many commits in hand may change this key id's record. While there are any, only they decide.
    pub(crate) commits: u32,
    pub(crate) waiters: Vec<Arc<Bell>>,
}

impl Slot {
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
#[derive(Default)]
pub(crate) struct Glimpse {
    pub(crate) volatile: Option<Record>,
    pub(crate) witness: Witness,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self { hasher: RandomState::new(), shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    fn shard(&self, id: &KeyId) -> MutexGuard<'_, HashMap<KeyId, Slot>> {
        let hash = self.hasher.hash_one(id);
        let at = usize::try_from(hash % SHARDS as u64).expect("less than the number of shards");
        self.shards[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn look(&self, id: &KeyId) -> Glimpse {
        match self.shard(id).get(id) {
            Some(slot) => Glimpse { volatile: slot.volatile.clone(), witness: slot.witness },
            None => Glimpse::default(),
        }
    }

    /// Runs `change` on the slot of `id` while nobody else can touch it.
    pub(crate) fn with<R>(&self, id: &KeyId, change: impl FnOnce(&mut Slot) -> R) -> R {
        let mut shard = self.shard(id);
        let slot = shard.entry(id.clone()).or_default();
        let result = change(slot);
        if slot.is_empty() {
            shard.remove(id);
        }
        result
    }

    /// Runs `change` on the slot of `id`, if there is one.
    pub(crate) fn with_existing(&self, id: &KeyId, change: impl FnOnce(&mut Slot)) {
        let mut shard = self.shard(id);
        if let Some(slot) = shard.get_mut(id) {
            change(slot);
            if slot.is_empty() {
                shard.remove(id);
            }
        }
    }

    /// Remembers when a lease of another opening was first seen (L7).
    pub(crate) fn see(&self, id: &KeyId, record: &Record, now: Stamp) {
        let State::InProgress { lease, .. } = record.state else { return };
        if lease.from.opening == now.opening {
            return;
        }
        self.with(id, |slot| {
            if slot.witness.seen.is_none_or(|(fence, _)| fence != record.fence) {
                slot.witness.seen = Some((record.fence, now.mono_ms));
            }
        });
    }

    /// Runs `change` on every slot.
    pub(crate) fn for_each(&self, mut change: impl FnMut(&KeyId, &mut Slot)) {
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.retain(|id, slot| {
                change(id, slot);
                !slot.is_empty()
            });
        }
    }
}
