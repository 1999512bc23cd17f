//! I4: a full half of the log goes into the tree beside those who go on committing.

use super::{folder, open, put, rows};
use crate::store::{Snapshot, Space, Store};

/// Enough to fill a half of the log several times.
const COMMITS: u32 = 60;
const BYTES: usize = 100_000;

fn key(number: u32) -> Vec<u8> {
    number.to_be_bytes().to_vec()
}

fn commit(store: &dyn Store, number: u32) {
    store.commit(put(&key(number), &vec![number.to_le_bytes()[0]; BYTES])).unwrap();
}

fn has(snapshot: &dyn Snapshot, number: u32) -> bool {
    let mut length = 0;
    let found = snapshot.get(Space::Records, &key(number), &mut |value| length = value.len()).unwrap();
    assert!(!found || length == BYTES);
    found
}

#[test]
fn every_view_stays_as_it_was_while_halves_are_moved_under_it() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    let mut views = Vec::new();
    for number in 0..COMMITS {
        commit(&store, number);
        views.push(store.snapshot().unwrap());
    }
    for (number, view) in (0..COMMITS).zip(&views) {
        assert!((0..COMMITS).all(|other| has(&**view, other) == (other <= number)), "view {number}");
    }
    drop(views);
    store.close().unwrap();
    let store = open(&path).unwrap();
    assert_eq!(rows(&store).len(), COMMITS as usize);
}

#[test]
fn i4_a_store_that_is_dropped_while_a_half_is_moved_loses_nothing() {
    let (_folder, path) = folder();
    for number in 0..COMMITS {
        let store = open(&path).unwrap();
        // Each opening commits enough for one move to be under way when it is dropped.
        (0..12).for_each(|more| commit(&store, number * 12 + more));
        drop(store);
    }
    assert_eq!(rows(&open(&path).unwrap()).len(), 12 * COMMITS as usize);
}

#[test]
fn t5_compacting_and_reports_wait_for_the_move_that_is_under_way() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    for number in 0..COMMITS {
        commit(&store, number);
        if number % 12 == 11 {
            store.report().unwrap();
            store.compact().unwrap();
        }
    }
    assert_eq!(rows(&store).len(), COMMITS as usize);
}
