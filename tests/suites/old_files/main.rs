//! A ledger file of each format version, opened forever: `tests/fixtures` has the files, and beside each in words what it holds.
//!
//! `KEYLEDGER_FIXTURE_TO` names a folder to which a file of today's format, and its words, are written: for a new version.

mod entries;
mod tell;
mod write;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use keyledger::{Clock, Ledger, ManualClock};

/// What every file has to hold, in the words of `tell`.
const HELD: [&str; 17] = [
    "state in_progress",
    "state released",
    "state completed",
    "state failed",
    "state parked",
    "state tombstone",
    "effect in_ledger",
    "parked owner lost",
    "parked window over",
    "parked attempts",
    "parked effect changed",
    "parked cannot compare",
    "parked the bank is silent",
    "omitted",
    "step quote",
    "audit",
    "row accounts",
];

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let entries = fs::read_dir(folder).expect("there are fixtures");
    entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect()
}

/// Opens a copy of the file an instant after it was written, and holds it against its words.
fn holds_what_is_told(file: &Path, told: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("ledger.kl");
    fs::copy(file, &copy).expect("a copy");
    let clock = ManualClock::new(write::END_MS);
    let ledger = Ledger::builder().clock(clock.clone()).open(&copy).expect("I9: it opens");
    assert_eq!(tell::all(&ledger) + &entries::all(&ledger), told);
    let has_outbox = told.contains("\nentry ");
    for held in HELD.iter().chain(entries::HELD.iter().filter(|_| has_outbox)) {
        assert!(told.contains(held), "it does not hold what every file has to: {held}");
    }
    if has_outbox {
        entries::is_of_use(&ledger, |span| clock.advance(span));
    }
    // It is of use: what is parked waits for a person, and all else goes as time goes by (I6).
    write::one_more(&ledger);
    clock.advance(Duration::from_millis(write::FOREVER_MS).saturating_mul(3));
    while ledger.sweep(100).expect("a sweep").more {}
    let stats = ledger.stats().expect("stats");
    let left = stats.released + stats.completed + stats.failed + stats.tombstones;
    assert_eq!((left, stats.due.count), (0, 0), "at {}", clock.wall_ms());
    ledger.close().expect("it closes");
}

#[test]
fn i9_a_file_of_every_format_version_opens_and_holds_what_it_held() {
    let fixtures = fixtures();
    assert!(!fixtures.is_empty(), "there are no files");
    for fixture in fixtures {
        let told = fs::read_to_string(fixture.join("ledger.txt")).expect("what it holds, in words");
        holds_what_is_told(&fixture.join("ledger.kl"), &told);
    }
}

#[test]
fn i9_a_file_written_today_holds_what_it_held() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, told) = write::file(folder.path());
    holds_what_is_told(&file, &told);
    if let Some(fixture) = std::env::var_os("KEYLEDGER_FIXTURE_TO").map(PathBuf::from) {
        fs::create_dir_all(&fixture).expect("a folder");
        fs::copy(file, fixture.join("ledger.kl")).expect("the file");
        fs::write(fixture.join("ledger.txt"), told).expect("its words");
    }
}
