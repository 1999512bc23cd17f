//! Callers who share a commit: none is harmed by another (S7), and all are told the same when it fails (S6).

use std::io;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use keyledger::test_support::Disk;
use keyledger::{Decision, Error, Ledger, ManualClock, SeededEntropy};
use keyledger_harness::disk::FakeDisk;

use super::commands::{acquired, ask};
use super::names::CHARGE;

const CALLERS: u8 = 12;
const ROUNDS: u8 = 8;

/// A disk whose syncs take their time, so that callers meet.
#[derive(Debug)]
struct Slow(FakeDisk);

impl Disk for Slow {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        thread::sleep(Duration::from_millis(3));
        self.0.sync()
    }

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }
}

fn slow_ledger() -> (FakeDisk, Ledger) {
    let disk = FakeDisk::new();
    let builder = Ledger::builder().clock(ManualClock::new(1_800_000_000_000)).entropy(SeededEntropy::new(7));
    let ledger = builder.open_disk(Arc::new(Slow(disk.clone()))).expect("it opens");
    (disk, ledger)
}

/// Runs `call` on as many threads as there are callers, all at once.
fn all_at_once<T: Send>(call: impl Fn(u8) -> T + Sync) -> Vec<thread::Result<T>> {
    let start = Barrier::new(CALLERS.into());
    thread::scope(|scope| {
        let run = |caller| {
            start.wait();
            call(caller)
        };
        let threads: Vec<_> = (0..CALLERS).map(|caller| scope.spawn(move || run(caller))).collect();
        threads.into_iter().map(thread::ScopedJoinHandle::join).collect()
    })
}

/// One caller in three stores a row, one says no, one panics; the latter two have written before that.
fn store_or_say_no_or_panic(ledger: &Ledger, round: u8, caller: u8) -> Result<(), Error> {
    ledger.transaction(|tx| {
        tx.put("rows", &[round, caller], "written")?;
        match caller % 3 {
            0 => Ok(()),
            1 => tx.insert_unique("rows", &[round, caller], "and once more"),
            // Without the hook, which would print it.
            _ => std::panic::resume_unwind(Box::new("the caller's own")),
        }
    })
}

#[test]
fn s7_a_callers_panic_or_error_harms_nobody_who_shares_the_commit() {
    let (disk, ledger) = slow_ledger();
    let before = disk.counts().syncs;
    for round in 0..ROUNDS {
        let ended = all_at_once(|caller| store_or_say_no_or_panic(&ledger, round, caller));
        for (caller, ended) in ended.into_iter().enumerate() {
            match (caller % 3, ended) {
                (0, Ok(Ok(()))) | (1, Ok(Err(Error::UniqueViolation { .. }))) => {}
                (2, Err(panic)) => assert_eq!(panic.downcast_ref(), Some(&"the caller's own")),
                (_, other) => panic!("caller {caller} of round {round}: {other:?}"),
            }
        }
    }
    let rows = ledger.scan("rows", &[], None, usize::MAX).expect("rows");
    let stored = (0..ROUNDS).flat_map(|round| (0..CALLERS).step_by(3).map(move |caller| vec![round, caller]));
    assert!(rows.into_iter().map(|(key, _)| key).eq(stored), "the good ones are stored, and nobody else");
    let good = u64::from(ROUNDS) * u64::from(CALLERS) / 3;
    assert!(disk.counts().syncs - before < good, "nobody shared a commit, so that nothing was tried");
}

/// Callers of which some meet a commit that fails. How many of them share it, their threads' luck decides.
fn share_a_commit_that_fails() -> usize {
    const KEYS: [&str; CALLERS as usize] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let (disk, ledger) = slow_ledger();
    let begin = |caller: u8| ledger.begin_with(&ask(&CHARGE, KEYS[usize::from(caller)]));
    disk.stop_at_sync(2);
    let ended: Vec<_> = all_at_once(begin).into_iter().map(|ended| ended.expect("nobody panics")).collect();
    disk.heal();
    ledger.reopen().expect("it opens again");
    for (caller, ended) in (0..CALLERS).zip(&ended) {
        let again = begin(caller).expect("an answer");
        match ended {
            Ok(_) => assert!(matches!(again, Decision::InProgress(_)), "it is granted still: {again:?}"),
            Err(Error::Ambiguous(_) | Error::Poisoned) => drop(acquired(again)),
            Err(other) => panic!("{other}"),
        }
    }
    ended.iter().filter(|ended| matches!(ended, Err(Error::Ambiguous(_)))).count()
}

#[test]
fn s6_everyone_who_shared_a_commit_that_failed_is_told_so_and_has_been_granted_nothing() {
    let shared = (0..50).any(|_| share_a_commit_that_fails() > 1);
    assert!(shared, "nobody shared a commit, so that nothing was tried");
}
