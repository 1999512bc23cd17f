//! What work sees and changes: the last committed state, the batch so far, and its own writes over both.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use crate::store::merge::scan_with;
use crate::store::{Change, KeyRange, Snapshot, Space, StoreError, Visit, Writes};

/// A buffered write set over reads of a consistent state. It sees its own writes, also in scans (G1).
pub(crate) struct Overlay {
    base: Arc<dyn Snapshot>,
    batch: Writes,
    own: Writes,
}

impl Overlay {
    pub(super) fn new(base: Arc<dyn Snapshot>) -> Self {
        Self { base, batch: Writes::default(), own: Writes::default() }
    }

    pub(crate) fn put(&mut self, space: Space, key: Vec<u8>, value: Vec<u8>) {
        self.own.put(space, key, value);
    }

    pub(crate) fn delete(&mut self, space: Space, key: Vec<u8>) {
        self.own.delete(space, key);
    }

    /// Adds the writes of the work that was just played to the batch.
    pub(super) fn keep(&mut self) {
        self.batch.absorb(mem::take(&mut self.own));
    }

    /// Throws away the writes of the work that was just played.
    pub(super) fn discard(&mut self) {
        self.own = Writes::default();
    }

    /// The batch's writes; the snapshot is let go, so that the commit need not keep its pages.
    pub(super) fn into_writes(self) -> Writes {
        self.batch
    }
}

impl Snapshot for Overlay {
    fn get(&self, space: Space, key: &[u8], read: &mut dyn FnMut(&[u8])) -> Result<bool, StoreError> {
        match self.own.get(space, key).or_else(|| self.batch.get(space, key)) {
            Some(Some(value)) => {
                read(value);
                Ok(true)
            }
            Some(None) => Ok(false),
            None => self.base.get(space, key, read),
        }
    }

    fn scan(&self, space: Space, range: KeyRange<'_>, visit: Visit<'_>) -> Result<(), StoreError> {
        let mut changes: BTreeMap<&[u8], &Change> = BTreeMap::new();
        for writes in [&self.batch, &self.own] {
            changes.extend(writes.of(space).range::<[u8], _>(range).map(|(key, change)| (key.as_slice(), change)));
        }
        if changes.is_empty() {
            return self.base.scan(space, range, visit);
        }
        let changes = changes.into_iter().map(|(key, change)| (key, change.as_deref()));
        scan_with(&*self.base, space, range, changes, visit)
    }
}
