//! The search for a way of losing power after which the ledger is not as it was acknowledged (I1 to I9).
//!
//! `KEYLEDGER_SEED` says which schedules are tried, `KEYLEDGER_SCHEDULES` how many; `KEYLEDGER_SCHEDULE` repeats a single one.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use keyledger_harness::disk::Dice;
use keyledger_harness::settings;

use super::checks::hold_after_power_loss;
use super::stops::{Schedule, Stopped, stop_at, syncs_of};
use super::workload::{CHAPTERS, starts};

/// How many schedules a run tries.
const SCHEDULES: u64 = 20_000;
/// How many of them it tries at least at each sync.
const SCHEDULES_PER_SYNC_MIN: u64 = 50;

/// What a search has seen.
#[derive(Debug, Default)]
struct Tally {
    syncs: u64,
    schedules: u64,
    /// Images that differ from all others of their sync.
    images: u64,
    failed: Vec<Schedule>,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.syncs += other.syncs;
        self.schedules += other.schedules;
        self.images += other.images;
        self.failed.extend(other.failed);
    }
}

/// Every sync of the workload.
fn every_sync() -> Vec<(usize, u64)> {
    (0..CHAPTERS.len()).flat_map(|chapter| (1..=syncs_of(chapter)).map(move |sync| (chapter, sync))).collect()
}

/// Looks at every sync, on as many threads as there are processors, and stops at the first failure.
fn search(syncs: &[(usize, u64)], seed: u64, per_sync: u64) -> Tally {
    let (next, tally) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    let work = || {
        while let Some((chapter, sync)) = syncs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let of_sync = search_at(*chapter, *sync, seed, per_sync);
            let has_failed = !of_sync.failed.is_empty();
            tally.lock().unwrap_or_else(PoisonError::into_inner).add(of_sync);
            if has_failed {
                next.store(syncs.len(), Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    tally.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn search_at(chapter: usize, sync: u64, seed: u64, per_sync: u64) -> Tally {
    let mut tally = Tally::default();
    let Some(stopped) = stop_at(chapter, sync) else { return tally };
    tally.syncs = 1;
    let mut dice = Dice::at(seed, &[chapter as u64, sync]);
    let mut images = HashSet::new();
    for number in 0..per_sync {
        let seed = if number <= Schedule::KEEPS_ALL { number } else { dice.roll().max(2) };
        let schedule = Schedule { chapter, sync, seed };
        tally.schedules += 1;
        if !holds(&stopped, schedule, &mut images) {
            tally.failed.push(schedule);
            break;
        }
    }
    tally.images = images.len() as u64;
    tally
}

/// Whether a schedule does no harm. An image that was looked at before is not looked at again: nothing else goes into it.
fn holds(stopped: &Stopped, schedule: Schedule, images: &mut HashSet<u64>) -> bool {
    let looked = catch_unwind(AssertUnwindSafe(|| {
        let image = stopped.image(schedule);
        if images.insert(digest(&image)) {
            stopped.hold(schedule, image);
        }
    }));
    looked.is_ok()
}

/// Tells images apart (FNV-1a, eight bytes at a time). Two that should meet cost one look.
fn digest(image: &[u8]) -> u64 {
    let (words, rest) = image.as_chunks::<8>();
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(23);
    let hash = words.iter().fold(0xCBF2_9CE4_8422_2325, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    rest.iter().fold(mix(hash, image.len() as u64), |hash, byte| mix(hash, u64::from(*byte)))
}

#[test]
fn i1_to_i9_hold_after_a_loss_of_power_at_every_sync_of_the_workload() {
    if let Some(Schedule { chapter, sync, seed }) = settings::number("KEYLEDGER_SCHEDULE") {
        let stopped = stop_at(chapter, sync).expect("the chapter has so many syncs");
        let schedule = Schedule { chapter, sync, seed };
        let image = stopped.image(schedule);
        return stopped.hold(schedule, image);
    }
    let (syncs, seed) = (every_sync(), settings::seed());
    let wanted = settings::number("KEYLEDGER_SCHEDULES").unwrap_or(SCHEDULES);
    let per_sync = wanted.div_ceil(syncs.len() as u64);
    assert!(wanted < SCHEDULES || per_sync >= SCHEDULES_PER_SYNC_MIN, "only {per_sync} at each sync");
    let tally = search(&syncs, seed, per_sync);
    let repeat = |schedule: &Schedule| {
        format!("KEYLEDGER_SCHEDULE={schedule} cargo test -p keyledger-tests --test crash i1_to_i9 -- --nocapture")
    };
    let Tally { syncs, schedules, images, failed } = tally;
    println!("search: {schedules} schedules at {syncs} syncs left {images} different images (seed {seed})");
    assert!(failed.is_empty(), "repeat with\n{}", failed.iter().map(repeat).collect::<Vec<_>>().join("\n"));
    assert!(schedules >= wanted && syncs > 150, "the workload has only {syncs} syncs");
}

#[test]
#[should_panic(expected = "I4")]
fn a_journal_of_something_that_was_never_stored_is_found_out() {
    let mut end = starts()[1].clone();
    end.journal.rows.insert(("accounts", b"top-up".to_vec()), b"21".to_vec());
    hold_after_power_loss(end);
}

#[test]
fn a_schedule_is_repeated_by_its_text() {
    let schedule = Schedule { chapter: 6, sync: 12, seed: u64::MAX };
    assert_eq!(schedule.to_string().parse(), Ok(schedule));
    assert!("6.12".parse::<Schedule>().is_err() && "99.1.1".parse::<Schedule>().is_err());
}
