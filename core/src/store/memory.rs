//! A store without a file, for tests and for hosts that have none.
//!
//! The maps are persistent: a snapshot is a clone of their roots, and a commit copies only the paths that it changes.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rpds::RedBlackTreeMapSync;

use super::health::Health;
use super::{
    Change, CommitError, CreationId, FileReport, KeyRange, OpenError, Snapshot, Space, Store, StoreError, Visit,
    Writes, holds_nothing,
};

type Map = RedBlackTreeMapSync<Vec<u8>, Vec<u8>>;

/// Keeps everything in memory. What was stored outlives `close`, and ends with the store.
#[derive(Debug, Default)]
pub(crate) struct MemoryStore {
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    image: Image,
    health: Arc<Health>,
}

#[derive(Debug, Default, Clone)]
struct Image {
    maps: [Map; Space::ALL.len()],
    bytes: u64,
}

impl MemoryStore {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    // A panic under the lock leaves the image of before it or after it, never one between.
    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn state_mut(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Image {
    fn with(&self, writes: Writes) -> Image {
        let mut image = self.clone();
        for (space, changes) in writes.into_spaces() {
            for (key, change) in changes {
                image.apply(space, key, change);
            }
        }
        image
    }

    fn apply(&mut self, space: Space, key: Vec<u8>, change: Change) {
        let map = &mut self.maps[space as usize];
        if let Some(old) = map.get(&key) {
            self.bytes -= size(&key, old);
        }
        match change {
            Some(value) => {
                self.bytes += size(&key, &value);
                map.insert_mut(key, value);
            }
            None => {
                map.remove_mut(&key);
            }
        }
    }
}

fn size(key: &[u8], value: &[u8]) -> u64 {
    (key.len() + value.len()) as u64
}

impl Store for MemoryStore {
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, StoreError> {
        let state = self.state();
        state.health.check()?;
        Ok(Arc::new(MemorySnapshot { image: state.image.clone(), health: Arc::clone(&state.health) }))
    }

    fn commit(&self, writes: Writes) -> Result<(), CommitError> {
        let mut state = self.state_mut();
        state.health.check().map_err(CommitError::NotStored)?;
        state.image = state.image.with(writes);
        Ok(())
    }

    fn file_bytes(&self) -> Result<u64, StoreError> {
        let state = self.state();
        state.health.check()?;
        Ok(state.image.bytes)
    }

    /// There is no file to be damaged.
    fn check(&self) -> Result<bool, StoreError> {
        self.file_bytes().map(|_| true)
    }

    fn report(&self) -> Result<FileReport, StoreError> {
        let bytes = self.file_bytes()?;
        Ok(FileReport { file_bytes: bytes, stored_bytes: bytes, overhead_bytes: 0, free_bytes: 0, leaked_bytes: 0 })
    }

    fn compact(&self) -> Result<(), StoreError> {
        let state = self.state_mut();
        state.health.check()?;
        // A snapshot holds the health that it was born with; the store itself holds it once.
        if Arc::strong_count(&state.health) > 1 { Err(StoreError::Busy) } else { Ok(()) }
    }

    fn close(&self) -> Result<(), StoreError> {
        self.state().health.close();
        Ok(())
    }

    fn reopen(&self) -> Result<(), OpenError> {
        let mut state = self.state_mut();
        if state.health.check().is_err() {
            state.health = Arc::default();
        }
        Ok(())
    }

    fn copy_to(&self, snapshot: &dyn Snapshot, path: &Path, creation_id: CreationId) -> Result<(), OpenError> {
        super::redb::copy_to(snapshot, path, creation_id)
    }
}

struct MemorySnapshot {
    image: Image,
    health: Arc<Health>,
}

impl Snapshot for MemorySnapshot {
    fn get(&self, space: Space, key: &[u8], read: &mut dyn FnMut(&[u8])) -> Result<bool, StoreError> {
        self.health.check()?;
        let value = self.image.maps[space as usize].get(key);
        if let Some(value) = value {
            read(value);
        }
        Ok(value.is_some())
    }

    fn scan(&self, space: Space, range: KeyRange<'_>, visit: Visit<'_>) -> Result<(), StoreError> {
        self.health.check()?;
        if holds_nothing(range) {
            return Ok(());
        }
        let found = self.image.maps[space as usize].range::<[u8], _>(range);
        for (key, value) in found {
            if let ControlFlow::Break(()) = visit(key, value) {
                break;
            }
        }
        Ok(())
    }
}
