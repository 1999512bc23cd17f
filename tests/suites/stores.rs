//! The ledger on every store it can stand on: in memory, on a file, on a disk that a host brings.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use keyledger::{Decision, Disk, Error, ErrorCode, Fingerprint, Key, KeyId, Ledger, Operation, Response, Scope};
use keyledger_harness::disk::{Crash, FakeDisk};

const CHARGE: Operation = Operation::repeatable("charge");

fn on_disk(disk: &FakeDisk) -> Result<Ledger, Error> {
    Ledger::builder().cache_bytes(1 << 20).open_disk(Arc::new(disk.clone()))
}

fn ask(ledger: &Ledger, key: &str) -> Result<Decision, Error> {
    let key = Key::new(key).expect("a key");
    ledger.begin(&CHARGE, &Scope::single(), &key, Fingerprint::of_bytes(&[b"10 francs"]))
}

fn complete(ledger: &Ledger, key: &str) -> Result<(), Error> {
    let Decision::Acquired(claim) = ask(ledger, key)? else { panic!("{key} was asked before") };
    Ok(claim.complete(Response::text(key))?)
}

fn assert_replays(ledger: &Ledger, key: &str) {
    let answer = ask(ledger, key).expect("a decision");
    assert!(matches!(&answer, Decision::Replay(replay) if replay.response == Response::text(key)), "{answer:?}");
}

fn crashes(seeds: u64) -> impl Iterator<Item = Crash> {
    [Crash::LosesAll, Crash::KeepsAll].into_iter().chain((0..seeds).map(Crash::KeepsSome))
}

/// What a ledger goes through in its life, the same on every store.
fn lives(ledger: &Ledger) {
    complete(ledger, "first").expect("completed");
    ledger.close().expect("closed");
    assert_eq!(ask(ledger, "first").expect_err("closed").code(), ErrorCode::Closed);
}

#[test]
fn p7_a_ledger_lives_alike_in_memory_on_a_file_and_on_a_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    lives(&Ledger::in_memory().expect("a ledger"));
    lives(&Ledger::open(folder.path().join("charges.kl")).expect("a ledger"));
    lives(&on_disk(&FakeDisk::new()).expect("a ledger"));
    assert_replays(&Ledger::open(folder.path().join("charges.kl")).expect("the ledger"), "first");
}

/// P5, on a disk without names: whatever sync creation is stopped at, the next open has a ledger that works.
#[test]
fn p5_creation_stopped_at_any_sync_is_started_over() {
    let mut sync = 1;
    loop {
        let disk = FakeDisk::new();
        disk.stop_at_sync(sync);
        let opened = on_disk(&disk);
        if !disk.has_failed() {
            disk.heal();
            complete(&opened.expect("a ledger"), "first").expect("completed");
            break;
        }
        assert!(opened.is_err(), "sync {sync}");
        for crash in crashes(12) {
            let ledger = on_disk(&FakeDisk::of(disk.crash(crash)));
            let ledger = ledger.unwrap_or_else(|error| panic!("sync {sync}, {crash:?}: {error}"));
            complete(&ledger, "first").expect("completed");
            assert_replays(&ledger, "first");
        }
        sync += 1;
    }
    assert!(sync > 5, "creation has {sync} syncs");
}

/// I4, S6: what was acknowledged is told again after any failed call, a reopening, and a loss of power.
#[test]
fn i4_acknowledged_outcomes_survive_any_failed_call_and_a_loss_of_power_after_it() {
    for call in (1..400).step_by(7) {
        let disk = FakeDisk::new();
        let ledger = on_disk(&disk).expect("a ledger");
        disk.fail_call(call);
        let told: Vec<String> =
            (0..12).map(|number| format!("key {number}")).take_while(|key| complete(&ledger, key).is_ok()).collect();
        if disk.has_failed() {
            assert!(told.len() < 12, "call {call}: an error was passed over");
            ledger.reopen().expect("the disk is well again");
        }
        disk.heal();
        complete(&ledger, "after").expect("completed");
        for crash in crashes(4) {
            let ledger = on_disk(&FakeDisk::of(disk.crash(crash))).expect("the ledger");
            for key in told.iter().map(String::as_str).chain(["after"]) {
                assert_replays(&ledger, key);
            }
        }
    }
}

/// P7: garbage collection never writes to the file.
#[test]
fn p7_a_ledger_that_is_dropped_writes_nothing() {
    let disk = FakeDisk::new();
    let ledger = on_disk(&disk).expect("a ledger");
    complete(&ledger, "first").expect("completed");
    let before = disk.counts();
    drop(ledger);
    assert_eq!(disk.counts(), before);
    assert_replays(&on_disk(&disk).expect("the ledger"), "first");
}

/// I9: told apart by code, and left as it was.
#[test]
fn i9_files_that_are_no_ledger_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("charges.kl");
    Ledger::open(&path).and_then(|ledger| ledger.close()).expect("a ledger file");
    let whole = fs::read(&path).expect("its bytes");
    let mut damaged = whole.clone();
    damaged[30] ^= 1;
    for (bytes, code) in [
        (b"".as_slice(), ErrorCode::WrongFormat),
        (b"Dear diary, today I lost a ledger.", ErrorCode::WrongFormat),
        (&whole[4096..], ErrorCode::WrongFormat),
        (&damaged, ErrorCode::Corrupt),
        (&whole[..whole.len() / 2], ErrorCode::Corrupt),
    ] {
        assert_eq!(refused(&path, bytes), code);
    }
    fs::write(&path, &whole).expect("written");
    complete(&Ledger::open(&path).expect("the ledger"), "first").expect("completed");
}

fn refused(path: &Path, bytes: &[u8]) -> ErrorCode {
    fs::write(path, bytes).expect("written");
    let error = Ledger::open(path).expect_err("it is refused");
    assert!(fs::read(path).expect("its bytes") == bytes, "the file was changed: {error}");
    error.code()
}

/// A host's disk that calls back into the ledger that it keeps.
#[derive(Debug, Clone, Default)]
struct CallsBack {
    disk: FakeDisk,
    ledger: Arc<OnceLock<Ledger>>,
    told: Arc<Mutex<Vec<ErrorCode>>>,
}

impl CallsBack {
    fn call_back(&self) {
        let Some(ledger) = self.ledger.get() else { return };
        let calls = [
            ask(ledger, "from inside").map(drop),
            ledger
                .inspect(&KeyId::new(Scope::single(), "charge", Key::new("k").expect("a key")).expect("an id"))
                .map(drop),
            ledger.transaction(|_| Ok(())).map(drop),
            ledger.reopen(),
            ledger.close(),
        ];
        let codes = calls.into_iter().map(|call| call.expect_err("it could only wait for itself").code());
        self.told.lock().expect("nobody panics").extend(codes);
    }
}

impl Disk for CallsBack {
    fn len(&self) -> io::Result<u64> {
        self.disk.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.disk.read(offset, out)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.call_back();
        self.disk.write(offset, data)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.call_back();
        self.disk.sync()
    }

    fn close(&self) -> io::Result<()> {
        self.disk.close()
    }
}

#[test]
fn g2_a_disk_that_calls_back_into_its_ledger_is_refused_and_the_call_goes_on() {
    let disk = CallsBack::default();
    let ledger = Ledger::builder().cache_bytes(1 << 20).open_disk(Arc::new(disk.clone())).expect("a ledger");
    disk.ledger.set(ledger).expect("the first");
    let ledger = disk.ledger.get().expect("there is one");
    complete(ledger, "outer").expect("it completes");
    assert_replays(ledger, "outer");
    let told = std::mem::take(&mut *disk.told.lock().expect("nobody panics"));
    assert!(told.len() >= 5 && told.iter().all(|code| *code == ErrorCode::Reentrant), "{told:?}");
}
