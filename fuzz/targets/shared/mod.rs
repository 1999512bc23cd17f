//! A small ledger on a disk in memory, and what opening it must come to whatever its bytes are (I9).

use std::sync::{Arc, Once};

use keyledger::{
    Decision, ErrorCode, Filter, Fingerprint, Key, Ledger, ManualClock, Operation, Response, Scope, SeededEntropy,
};
use keyledger_harness::disk::{Crash, FakeDisk};

/// The header page.
pub const PAGE: usize = 4096;

/// A ledger that was killed, with a few records in its log.
pub fn killed_ledger() -> Vec<u8> {
    let disk = FakeDisk::new();
    let ledger = open(&disk).expect("a ledger");
    for key in ["a", "b", "c"] {
        let (operation, scope, key) = (Operation::repeatable("charge"), Scope::single(), Key::new(key).expect("a key"));
        let decision = ledger.begin(&operation, &scope, &key, Fingerprint::of_bytes(&[b"ten"])).expect("a decision");
        let Decision::Acquired(claim) = decision else { panic!("it is new") };
        claim.complete(Response::text("charged")).expect("it is stored");
    }
    disk.crash(Crash::LosesAll)
}

fn open(disk: &FakeDisk) -> Result<Ledger, keyledger::Error> {
    let builder = Ledger::builder().clock(ManualClock::new(1_800_000_000_000)).entropy(SeededEntropy::new(7));
    builder.cache_bytes(1 << 20).open_disk(Arc::new(disk.clone()))
}

/// Opens whatever this is and reads all of it. It is a ledger, or it is refused by the right name and not changed; a record
/// that cannot be read is damage.
pub fn open_and_read(image: &[u8]) {
    let disk = FakeDisk::of(image.to_owned());
    match open(&disk) {
        Ok(ledger) => {
            for told in [ledger.list(&Filter::all()).map(drop), ledger.stats().map(drop), ledger.sweep(10).map(drop)] {
                if let Err(error) = told {
                    assert!(matches!(error.code(), ErrorCode::Corrupt | ErrorCode::Poisoned), "{error}");
                }
            }
        }
        Err(error) => {
            assert!(matches!(error.code(), ErrorCode::Corrupt | ErrorCode::WrongFormat), "{error}");
            // What was cut short while it was created is made anew; all else stays as it was.
            assert!(disk.shown() == image, "it was changed: {error}");
        }
    }
}

/// The storage engine panics at some kinds of damage, and the store catches that. libFuzzer's hook would end the process before;
/// what nobody catches ends it all the same.
pub fn let_panics_be_caught() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| std::panic::set_hook(Box::new(|_| ())));
}
