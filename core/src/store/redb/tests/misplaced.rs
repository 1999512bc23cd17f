//! I9: a page in the place of another. Its rows match their seals, and may lead round in a circle.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::disk::FakeDisk;
use super::{folder, open, open_disk, try_rows};
use crate::store::{OpenError, Space, Store, StoreError, Writes};

const STORAGE: usize = 4096 + (2 << 20);
const PAGE: usize = 4096;

/// A ledger whose rows fill a dozen pages, and how many there are.
fn ledger() -> (Vec<u8>, usize) {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    let mut writes = Writes::default();
    for number in 0_u32..120 {
        writes.put(Space::Records, number.to_be_bytes().to_vec(), vec![3; 300]);
    }
    store.commit(writes).unwrap();
    store.close().unwrap();
    (std::fs::read(path).unwrap(), 120)
}

/// Leaves: pages with a row of the ledger's in them. And what leads to them: in a leaf's place it makes a circle.
fn pages(bytes: &[u8]) -> (Vec<usize>, Vec<usize>) {
    const BRANCH: u8 = 2;
    let pages = || (STORAGE..bytes.len() - PAGE).step_by(PAGE);
    let has_rows = |at: &usize| bytes[*at..*at + PAGE].windows(100).any(|window| window == [3; 100]);
    (pages().filter(has_rows).collect(), pages().filter(|at| bytes[*at] == BRANCH).collect())
}

/// What a copy of the ledger says, and a walk through it; `None`: the file is refused.
fn copied(bytes: Vec<u8>) -> Option<(Result<(), OpenError>, Result<usize, StoreError>)> {
    let store = open_disk(&FakeDisk::of(bytes)).ok()?;
    let (_folder, path) = folder();
    let walked = try_rows(&store).map(|rows| rows.len());
    Some((store.copy_to(&*store.snapshot().unwrap(), &path, [8; 16]), walked))
}

#[test]
fn i9_a_page_in_the_place_of_another_is_told_and_no_walk_goes_round_for_ever() {
    let (ended, end) = mpsc::channel();
    thread::spawn(move || {
        let (whole, count) = ledger();
        let (leaves, branches) = pages(&whole);
        assert!(leaves.len() > 8 && !branches.is_empty(), "{leaves:?} {branches:?}");
        let from = || leaves.iter().chain(&branches);
        let mut told = 0;
        for (to, from) in leaves.iter().flat_map(|to| from().map(move |from| (*to, *from))) {
            let mut bytes = whole.clone();
            bytes.copy_within(from..from + PAGE, to);
            match copied(bytes) {
                None => {}
                Some((Ok(()), Ok(found))) => assert_eq!(found, count, "I2: {from} at {to}: other rows are told"),
                Some((Err(OpenError::Corrupt(_) | OpenError::Store(StoreError::Corrupt(_))), Err(_))) => told += 1,
                Some(other) => panic!("{from} at {to}: {other:?}"),
            }
        }
        ended.send(told).unwrap();
    });
    let told = end.recv_timeout(Duration::from_mins(1)).expect("the walks come to an end");
    assert!(told > 50, "{told} pages in the place of another are told");
}
