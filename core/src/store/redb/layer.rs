//! A table of changes laid over what lies below it.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use crate::store::health::Health;
use crate::store::memtable::Memtable;
use crate::store::merge::scan_with;
use crate::store::{KeyRange, Snapshot, Space, StoreError, Visit, holds_nothing};

/// A view of `below` with a table over it, up to one commit.
pub(super) struct Layer {
    pub(super) below: Arc<dyn Snapshot>,
    pub(super) table: Arc<Memtable>,
    pub(super) upto: u64,
    pub(super) health: Arc<Health>,
}

impl std::fmt::Debug for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Layer").field("upto", &self.upto).finish_non_exhaustive()
    }
}

impl Snapshot for Layer {
    fn get(&self, space: Space, key: &[u8], read: &mut dyn FnMut(&[u8])) -> Result<bool, StoreError> {
        self.health.check()?;
        let mut found = false;
        let is_known = self.table.get(space, key, self.upto, &mut |value| {
            if let Some(value) = value {
                found = true;
                read(value);
            }
        });
        if is_known { Ok(found) } else { self.below.get(space, key, read) }
    }

    fn scan(&self, space: Space, range: KeyRange<'_>, visit: Visit<'_>) -> Result<(), StoreError> {
        self.health.check()?;
        if holds_nothing(range) {
            return Ok(());
        }
        let mut changes = self.table.changes(space, range, self.upto);
        scan_with(&*self.below, space, range, &mut changes, visit)
    }

    fn scan_above(&self, space: Space, range: KeyRange<'_>, visit: Visit<'_>) -> Result<(), StoreError> {
        self.health.check()?;
        if holds_nothing(range) {
            return Ok(());
        }
        let mut changes = self.table.changes(space, range, self.upto);
        scan_with(&Above(&*self.below), space, range, &mut changes, visit)
    }
}

/// Of a view only what lies above the tree.
struct Above<'a>(&'a dyn Snapshot);

impl Snapshot for Above<'_> {
    fn get(&self, space: Space, key: &[u8], read: &mut dyn FnMut(&[u8])) -> Result<bool, StoreError> {
        let mut found = false;
        self.0.scan_above(space, (Bound::Included(key), Bound::Included(key)), &mut |_, value| {
            read(value);
            found = true;
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    fn scan(&self, space: Space, range: KeyRange<'_>, visit: Visit<'_>) -> Result<(), StoreError> {
        self.0.scan_above(space, range, visit)
    }
}
