//! I4, I7, I9: `check` tells a sound file from one that is not.

use keyledger::{Decision, Error, Fingerprint, Key, Ledger, Operation, Response, Scope};
use std::path::Path;

static CHARGE: Operation = Operation::repeatable("POST /v1/charges");

fn fill(path: &Path, records: u32) {
    let ledger = Ledger::open(path).expect("a ledger");
    let scope = Scope::new("user").expect("a scope");
    for number in 0..records {
        let key = Key::new(format!("key-{number}")).expect("a key");
        match ledger.begin(&CHARGE, &scope, &key, Fingerprint::of_bytes(&[])).expect("a decision") {
            Decision::Acquired(claim) if number % 7 == 0 => claim.park("who knows").expect("it parks"),
            Decision::Acquired(claim) => claim.complete(Response::text("done")).expect("it completes"),
            other => panic!("{other:?}"),
        }
    }
    let found = ledger.check().expect("the whole file is read");
    assert!(found.is_well() && found.records == u64::from(records), "{found:?}");
    ledger.close().expect("it closes");
}

#[test]
fn i9_a_byte_that_was_changed_anywhere_in_what_is_stored_is_told_by_check() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger");
    fill(&path, 300);
    let whole = std::fs::read(&path).expect("it is read");
    let stored: Vec<usize> = (0..whole.len() - 4).filter(|at| &whole[*at..*at + 4] == b"done").collect();
    let (mut told, mut refused) = (0, 0);
    for at in stored.iter().step_by(stored.len() / 20) {
        let mut bytes = whole.clone();
        bytes[*at] ^= 4;
        std::fs::write(&path, &bytes).expect("it is written");
        match Ledger::open(&path).and_then(|ledger| ledger.check()) {
            // A page that nothing refers to any more was hit.
            Ok(found) => told += u32::from(!found.is_well()),
            Err(Error::Corrupt(_)) => refused += 1,
            Err(other) => panic!("byte {at}: {other}"),
        }
    }
    assert!(told + refused >= 5, "{told} told, {refused} refused, of {} places", stored.len());
}
