//! Scans, and whatever a plain map can be asked too.

use std::collections::BTreeMap;
use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::{Row, Subject, all, scan};
use crate::store::{KeyRange, Snapshot, Space, Writes};

pub(super) fn scans_keep_to_their_bounds(subject: &Subject) {
    let keys: [&[u8]; 7] = [b"", b"\0", b"a", b"a\0", b"b", b"\xff", b"\xff\xff"];
    let mut writes = Writes::default();
    for space in Space::ALL {
        for key in keys {
            writes.put(space, key.to_vec(), key.to_vec());
        }
    }
    subject.store.commit(writes).unwrap();
    let snapshot = subject.store.snapshot().unwrap();
    let ends: [&[u8]; 9] = [b"", b"\0", b"a", b"a\0", b"aa", b"b", b"c", b"\xff", b"\xff\xff\xff"];
    let bounds = || ends.into_iter().flat_map(|end| [Included(end), Excluded(end)]).chain([Unbounded]);
    for (from, to) in bounds().flat_map(|from| bounds().map(move |to| (from, to))) {
        let expected: Vec<Row> =
            keys.iter().filter(|key| is_within(key, (from, to))).map(|key| (key.to_vec(), key.to_vec())).collect();
        for space in Space::ALL {
            assert_eq!(scan(&*snapshot, space, (from, to)), expected, "{from:?} {to:?}");
        }
    }
}

fn is_within(key: &[u8], (from, to): KeyRange<'_>) -> bool {
    let after = match from {
        Included(from) => key >= from,
        Excluded(from) => key > from,
        Unbounded => true,
    };
    let before = match to {
        Included(to) => key <= to,
        Excluded(to) => key < to,
        Unbounded => true,
    };
    after && before
}

pub(super) fn a_scan_ends_where_its_visitor_breaks(subject: &Subject) {
    let mut writes = Writes::default();
    for key in 0_u8..100 {
        writes.put(Space::Expiry, vec![key], vec![]);
    }
    subject.store.commit(writes).unwrap();
    let mut seen = Vec::new();
    let mut visit = |key: &[u8], _: &[u8]| {
        seen.push(key[0]);
        if seen.len() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let range = (Bound::Excluded([9_u8].as_slice()), Unbounded);
    subject.store.snapshot().unwrap().scan(Space::Expiry, range, &mut visit).unwrap();
    assert_eq!(seen, [10, 11, 12]);
}

pub(super) fn random_commits_leave_what_a_plain_map_has(subject: &Subject) {
    let mut dice = Dice(42);
    let mut model: BTreeMap<(Space, Vec<u8>), Vec<u8>> = BTreeMap::new();
    for round in 0..60 {
        let mut writes = Writes::default();
        for _ in 0..dice.below(40) {
            let space = Space::ALL[dice.below(4)];
            let key = vec![dice.byte() % 8; dice.below(4)];
            if dice.below(3) == 0 {
                writes.delete(space, key.clone());
                model.remove(&(space, key));
            } else {
                let value = vec![round; dice.below(3000)];
                writes.put(space, key.clone(), value.clone());
                model.insert((space, key), value);
            }
        }
        subject.store.commit(writes).unwrap();
        if dice.below(10) == 0 {
            subject.store.close().unwrap();
            subject.store.reopen().unwrap();
        }
        let snapshot = subject.store.snapshot().unwrap();
        for space in Space::ALL {
            let rows = model.iter().filter(|((of, _), _)| *of == space);
            let rows: Vec<Row> = rows.map(|((_, key), value)| (key.clone(), value.clone())).collect();
            assert!(all(&*snapshot, space) == rows, "round {round}, {space:?}");
        }
    }
}

/// What a store should hold.
type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Big and small commits in turn, so that a store with a log has some of the rows in it and some not.
pub(super) fn random_scans_find_what_a_plain_map_finds(subject: &Subject) {
    let mut dice = Dice(7);
    let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let mut held: Vec<(Arc<dyn Snapshot>, Model)> = Vec::new();
    for round in 0..40 {
        let mut writes = Writes::default();
        for _ in 0..=dice.below(30) {
            let key = vec![dice.byte() % 16; 1 + dice.below(3)];
            if dice.below(3) == 0 {
                writes.delete(Space::Rows, key.clone());
                model.remove(&key);
            } else {
                let value = vec![round; dice.below(if round % 5 == 0 { 90_000 } else { 90 })];
                writes.put(Space::Rows, key.clone(), value.clone());
                model.insert(key, value);
            }
        }
        subject.store.commit(writes).unwrap();
        held.push((subject.store.snapshot().unwrap(), model.clone()));
        if held.len() > 4 {
            held.remove(dice.below(4));
        }
        for (snapshot, model) in &held {
            for _ in 0..10 {
                let (from, to) = (dice.end(), dice.end());
                let range = (from.as_ref().map(Vec::as_slice), to.as_ref().map(Vec::as_slice));
                let within = model.iter().filter(|(key, _)| is_within(key, range));
                let expected: Vec<Row> = within.map(|(key, value)| (key.clone(), value.clone())).collect();
                assert!(scan(&**snapshot, Space::Rows, range) == expected, "round {round} {range:?}");
            }
        }
    }
}

/// Numbers that a seed repeats (xorshift).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 >> 32).unwrap()
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }

    fn end(&mut self) -> Bound<Vec<u8>> {
        let key = vec![self.byte() % 16; 1 + self.below(3)];
        match self.below(3) {
            0 => Included(key),
            1 => Excluded(key),
            _ => Unbounded,
        }
    }

    fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }
}
