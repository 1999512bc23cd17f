//! What is in the log and not yet in the tree below it, by key, with every version that a snapshot may still want.
//!
//! Versions are never taken away: when the log has been moved into the tree, the whole table is replaced.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Bound;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use super::merge::Changed;
use super::{Change, KeyRange, Space, Writes};

/// How many changes a scan copies at a time, so that it does not keep writers waiting.
const CHUNK: usize = 64;

/// Versions of keys, each under the number of the commit that made it.
#[derive(Debug, Default)]
pub(super) struct Memtable {
    spaces: RwLock<[BTreeMap<Vec<u8>, Versions>; Space::ALL.len()]>,
}

/// The versions of one key, oldest first.
#[derive(Debug)]
struct Versions {
    first: (u64, Change),
    later: Vec<(u64, Change)>,
}

impl Versions {
    /// The newest version of at most `upto`.
    fn at(&self, upto: u64) -> Option<&Change> {
        let later = self.later.iter().rev().find(|(number, _)| *number <= upto);
        later.or_else(|| Some(&self.first).filter(|(number, _)| *number <= upto)).map(|(_, change)| change)
    }

    fn latest(&self) -> &Change {
        self.later.last().map_or(&self.first.1, |(_, change)| change)
    }
}

impl Memtable {
    /// Adds what commit `number` changed. Snapshots of earlier commits do not see it.
    pub(super) fn add(&self, number: u64, writes: Writes) {
        let mut spaces = self.spaces.write().unwrap_or_else(PoisonError::into_inner);
        for (space, changes) in writes.into_spaces() {
            for (key, change) in changes {
                let version = (number, change);
                match spaces[space as usize].entry(key) {
                    Entry::Occupied(versions) => versions.into_mut().later.push(version),
                    Entry::Vacant(place) => {
                        place.insert(Versions { first: version, later: Vec::new() });
                    }
                }
            }
        }
    }

    /// Calls `read` with what `key` became by commit `upto`, if that is known here, and says whether it is.
    pub(super) fn get(&self, space: Space, key: &[u8], upto: u64, read: &mut dyn FnMut(Option<&[u8]>)) -> bool {
        let spaces = self.spaces();
        match spaces[space as usize].get(key).and_then(|versions| versions.at(upto)) {
            Some(change) => {
                read(change.as_deref());
                true
            }
            None => false,
        }
    }

    /// The changes of a range by commit `upto`, in order.
    pub(super) fn changes<'a>(&'a self, space: Space, range: KeyRange<'_>, upto: u64) -> Changes<'a> {
        let (from, to) = (range.0.map(<[u8]>::to_vec), range.1.map(<[u8]>::to_vec));
        Changes { table: self, space, from, to, upto, chunk: Vec::new().into_iter(), ended: false }
    }

    /// What every key has become, and `more` after that.
    pub(super) fn latest_and(&self, more: Option<Writes>) -> Writes {
        let mut writes = self.latest();
        if let Some(more) = more {
            writes.absorb(more);
        }
        writes
    }

    /// What every key has become.
    pub(super) fn latest(&self) -> Writes {
        let spaces = self.spaces();
        let mut writes = Writes::default();
        for space in Space::ALL {
            for (key, versions) in &spaces[space as usize] {
                match versions.latest() {
                    Some(value) => writes.put(space, key.clone(), value.clone()),
                    None => writes.delete(space, key.clone()),
                }
            }
        }
        writes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.spaces().iter().all(BTreeMap::is_empty)
    }

    fn spaces(&self) -> RwLockReadGuard<'_, [BTreeMap<Vec<u8>, Versions>; Space::ALL.len()]> {
        self.spaces.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Changes of a range, copied a chunk at a time: what is visited may take its time, and may read again.
pub(super) struct Changes<'a> {
    table: &'a Memtable,
    space: Space,
    from: Bound<Vec<u8>>,
    to: Bound<Vec<u8>>,
    upto: u64,
    chunk: std::vec::IntoIter<(Vec<u8>, Change)>,
    ended: bool,
}

impl Changes<'_> {
    fn copy_chunk(&mut self) {
        let mut chunk = Vec::new();
        {
            let spaces = self.table.spaces();
            let range = (self.from.as_ref().map(Vec::as_slice), self.to.as_ref().map(Vec::as_slice));
            let rows = spaces[self.space as usize].range::<[u8], _>(range);
            let visible = |(key, versions): (&Vec<u8>, &Versions)| Some((key.clone(), versions.at(self.upto)?.clone()));
            chunk.extend(rows.filter_map(visible).take(CHUNK));
        }
        self.ended = chunk.len() < CHUNK;
        if let Some((last, _)) = chunk.last() {
            self.from = Bound::Excluded(last.clone());
        }
        self.chunk = chunk.into_iter();
    }
}

impl Iterator for Changes<'_> {
    type Item = Changed<'static>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.chunk.len() == 0 && !self.ended {
            self.copy_chunk();
        }
        self.chunk.next().map(|(key, change)| (key.into(), change.map(Cow::from)))
    }
}
