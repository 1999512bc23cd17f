//! The machine stops at a sync, and what was not synced is there in part, or not at all.

use keyledger_harness::disk::{Crash, FakeDisk};

use super::checks::hold_after_power_loss;
use super::workload::{CHAPTERS, starts, tell};
use super::world::{Start, World, assert_is_of_the_disk};

/// What a loss of power may leave of what was not synced, for each stop.
fn crashes(stop: u64, count: usize) -> Vec<Crash> {
    let seed = |number: u64| Crash::KeepsSome(stop * 16 + number);
    [Crash::LosesAll, Crash::KeepsAll].into_iter().chain((1..16).map(seed)).take(count).collect()
}

/// More syncs than any chapter has.
const SYNCS_MAX: u64 = 1_000;

/// Stops the chapter at its `stop`-th sync; false if it has not so many.
fn stop_at(chapter: usize, stop: u64, images: usize) -> bool {
    let start = &starts()[chapter];
    let disk = FakeDisk::of(start.image.clone());
    disk.stop_at_sync(stop);
    let (wall_ms, journal, told) = match World::open(&disk, start.wall_ms, start.journal.clone()) {
        Ok(world) => {
            let (world, told) = tell(world, CHAPTERS[chapter]);
            (world.now(), world.journal.clone(), told)
        }
        Err(error) => (start.wall_ms, start.journal.clone(), Err(error)),
    };
    if !disk.has_failed() {
        told.expect("nothing fails");
        return false;
    }
    assert_is_of_the_disk(&told.expect_err("nothing is told to be stored after the stop"));
    for crash in crashes(stop, images) {
        let left = Start { image: disk.crash(crash), wall_ms, journal: journal.clone() };
        let held = std::panic::catch_unwind(move || {
            stop_again(&left);
            hold_after_power_loss(left);
        });
        assert!(held.is_ok(), "chapter {chapter}, stopped at sync {stop}, {crash:?}");
    }
    true
}

/// The power goes once more, while the next process opens the ledger: at each sync of that.
fn stop_again(left: &Start) {
    for stop in 1..SYNCS_MAX {
        let disk = FakeDisk::of(left.image.clone());
        disk.stop_at_sync(stop);
        if World::open(&disk, left.wall_ms, left.journal.clone()).is_ok() {
            return;
        }
        for crash in [Crash::LosesAll, Crash::KeepsSome(stop)] {
            let image = disk.crash(crash);
            let next = World::open(&FakeDisk::of(image), left.wall_ms, left.journal.clone());
            next.expect("it is not refused").compare().expect("it can be read");
        }
    }
}

fn stop_everywhere(chapter: usize) {
    stop_with(chapter, 5);
}

fn stop_with(chapter: usize, images: usize) {
    let stops = (1..SYNCS_MAX).take_while(|stop| stop_at(chapter, *stop, images)).count();
    println!("chapter {chapter}: stopped at each of {stops} syncs, {images} images each");
    assert!(stops > 10, "the chapter has only {stops} syncs");
}

#[test]
fn i4_first_steps_survive_a_stop_at_every_sync_from_creation_on() {
    stop_everywhere(0);
}

#[test]
fn i4_many_at_once_survive_a_stop_at_every_sync() {
    stop_everywhere(1);
}

#[test]
fn i4_lost_owners_survive_a_stop_at_every_sync() {
    stop_everywhere(2);
}

#[test]
fn i4_decisions_of_persons_survive_a_stop_at_every_sync() {
    stop_everywhere(3);
}

#[test]
fn i4_suspending_compacting_and_reopening_survive_a_stop_at_every_sync() {
    stop_everywhere(4);
}

#[test]
fn i4_sweeps_survive_a_stop_at_every_sync() {
    stop_everywhere(5);
}

#[test]
fn i4_long_answers_survive_a_stop_at_every_sync() {
    stop_with(6, 4);
}

#[test]
#[should_panic(expected = "I4")]
fn a_journal_of_something_that_was_never_stored_is_found_out() {
    let mut end = starts()[1].clone();
    end.journal.rows.insert(("accounts", b"top-up".to_vec()), b"21".to_vec());
    hold_after_power_loss(end);
}
