//! P1 and I1 under real threads: one key that all of them want, and many keys that a few of them want each.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

use keyledger::{Decision, Fingerprint, Key, Ledger, Operation, Response, Scope};

const THREADS: usize = 64;
const KEYS: usize = 10_000;
/// How many threads want each key.
const WANTED_BY: usize = 4;
/// Far more than it takes: a thread that is not done by then never will be.
const DEADLOCK_AFTER: Duration = Duration::from_mins(2);

static WALLET: Operation = Operation::in_ledger("wallet");
static CHARGE: Operation = Operation::repeatable("charge");

fn asked() -> Fingerprint {
    Fingerprint::of_bytes(&[b"the same"])
}

/// The names of the decisions, counted, and the claims' responses stored.
fn all_want_one_key(operation: &Operation) {
    let ledger = Ledger::in_memory().unwrap();
    let (scope, key) = (Scope::single(), Key::new("k").unwrap());
    let together = Barrier::new(THREADS);
    let decisions: Vec<Decision> = thread::scope(|threads| {
        let begin = || {
            together.wait();
            ledger.begin(operation, &scope, &key, asked()).unwrap()
        };
        let running: Vec<_> = (0..THREADS).map(|_| threads.spawn(begin)).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (claims, others): (Vec<_>, Vec<_>) =
        decisions.into_iter().partition(|told| matches!(told, Decision::Acquired(_)));
    assert_eq!((claims.len(), others.len()), (1, THREADS - 1), "I1");
    assert!(others.iter().all(|told| matches!(told, Decision::InProgress(_))), "{others:?}");
}

#[test]
fn of_64_threads_on_one_key_one_acquires_it() {
    for _ in 0..20 {
        all_want_one_key(&WALLET);
        all_want_one_key(&CHARGE);
    }
}

/// Thread `thread` wants every key that is its own by this rule; the order differs from thread to thread.
fn keys_of(thread: usize) -> impl Iterator<Item = usize> {
    (0..KEYS)
        .map(move |number| (number * 7 + thread * 131) % KEYS)
        .filter(move |key| (key + thread).is_multiple_of(THREADS / WANTED_BY))
}

fn operation_of(key: usize) -> &'static Operation {
    if key.is_multiple_of(2) { &WALLET } else { &CHARGE }
}

/// Begins its keys; runs what it acquires; what is in progress elsewhere it asks for again.
fn work(ledger: &Ledger, thread: usize, runs: &Mutex<BTreeMap<usize, usize>>) {
    let scope = Scope::single();
    for number in keys_of(thread) {
        let key = Key::new(number.to_string()).unwrap();
        loop {
            match ledger.begin(operation_of(number), &scope, &key, asked()).unwrap() {
                Decision::Acquired(claim) => {
                    *runs.lock().unwrap().entry(number).or_default() += 1;
                    claim.complete(Response::text(format!("{number} by {thread}"))).unwrap();
                }
                Decision::Replay(_) => break,
                Decision::InProgress(_) => thread::yield_now(),
                other => panic!("key {number}: {other:?}"),
            }
        }
    }
}

#[test]
fn of_64_threads_on_10_000_keys_none_hangs_and_no_outcome_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.kl");
    let ledger = Ledger::open(&path).unwrap();
    let runs = Mutex::new(BTreeMap::new());
    let (done, all_done) = channel::<()>();
    thread::scope(|threads| {
        for thread in 0..THREADS {
            let (ledger, runs, done) = (ledger.clone(), &runs, done.clone());
            threads.spawn(move || {
                work(&ledger, thread, runs);
                drop(done);
            });
        }
        drop(done);
        if all_done.recv_timeout(DEADLOCK_AFTER) == Err(RecvTimeoutError::Timeout) {
            eprintln!("P1: threads hang after {DEADLOCK_AFTER:?}");
            std::process::abort();
        }
    });
    let runs = runs.into_inner().unwrap();
    assert_eq!(runs.len(), KEYS, "every key was run");
    assert!(runs.values().all(|times| *times == 1), "no key twice");
    ledger.close().unwrap();
    every_outcome_is_there(&Ledger::open(&path).unwrap());
}

fn every_outcome_is_there(ledger: &Ledger) {
    let scope = Scope::single();
    for number in 0..KEYS {
        let key = Key::new(number.to_string()).unwrap();
        match ledger.begin(operation_of(number), &scope, &key, asked()).unwrap() {
            Decision::Replay(replay) => {
                let told = String::from_utf8(replay.response.stored_bytes().unwrap().to_vec()).unwrap();
                assert!(told.starts_with(&format!("{number} by ")), "key {number}: {told}");
            }
            other => panic!("key {number} is lost: {other:?}"),
        }
    }
    assert_eq!(ledger.stats().unwrap().completed, KEYS as u64, "I7");
}
