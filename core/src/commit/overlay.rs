//! What work sees and changes: the last committed state, the batch so far, and its own writes over both.

use std::borrow::Cow;
use std::sync::Arc;

use crate::store::merge::scan_with;
use crate::store::{Change, KeyRange, Snapshot, Space, StoreError, Visit, Writes};

/// A buffered write set over reads of a consistent state. It sees its own writes, also in scans (G1).
pub(crate) struct Overlay {
    base: Arc<dyn Snapshot>,
    batch: Writes,
    /// What the batch said of each key that the work being played has changed, oldest change first.
    before: Vec<(Space, Vec<u8>, Option<Change>)>,
}

impl Overlay {
    pub(super) fn new(base: Arc<dyn Snapshot>) -> Self {
        Self { base, batch: Writes::default(), before: Vec::new() }
    }

    pub(crate) fn put(&mut self, space: Space, key: Vec<u8>, value: Vec<u8>) {
        self.change(space, key, Some(value));
    }

    pub(crate) fn delete(&mut self, space: Space, key: Vec<u8>) {
        self.change(space, key, None);
    }

    fn change(&mut self, space: Space, key: Vec<u8>, change: Change) {
        let before = self.batch.set(space, key.clone(), change);
        self.before.push((space, key, before));
    }

    /// The writes of the work that was just played stay in the batch.
    pub(super) fn keep(&mut self) {
        self.before.clear();
    }

    /// Throws away the writes of the work that was just played.
    pub(super) fn discard(&mut self) {
        while let Some((space, key, before)) = self.before.pop() {
            match before {
                Some(change) => drop(self.batch.set(space, key, change)),
                None => self.batch.unset(space, &key),
            }
        }
    }

    /// The batch's writes; the snapshot is let go, so that the commit need not keep its pages.
    pub(super) fn into_writes(self) -> Writes {
        self.batch
    }
}

impl Snapshot for Overlay {
    fn get(&self, space: Space, key: &[u8], read: &mut dyn FnMut(&[u8])) -> Result<bool, StoreError> {
        match self.batch.get(space, key) {
            Some(Some(value)) => {
                read(value);
                Ok(true)
            }
            Some(None) => Ok(false),
            None => self.base.get(space, key, read),
        }
    }

    fn scan(&self, space: Space, range: KeyRange<'_>, visit: Visit<'_>) -> Result<(), StoreError> {
        let changes = self.batch.of(space).range::<[u8], _>(range);
        let mut changes = changes.map(|(key, change)| (key.into(), change.as_ref().map(Cow::from)));
        scan_with(&*self.base, space, range, &mut changes, visit)
    }
}
