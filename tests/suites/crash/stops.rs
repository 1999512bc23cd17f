//! The machine stops at a sync, and what was not synced is there in part, or not at all.

use keyledger_harness::disk::{Crash, FakeDisk};

use super::checks::hold_after_power_loss;
use super::workload::{CHAPTERS, starts, tell};
use super::world::{Start, World, assert_is_of_the_disk};

/// What a loss of power may leave of what was not synced, for each stop.
fn crashes(stop: u64) -> [Crash; 8] {
    let seed = |number: u64| Crash::KeepsSome(stop * 16 + number);
    [Crash::LosesAll, Crash::KeepsAll, seed(1), seed(2), seed(3), seed(4), seed(5), seed(6)]
}

/// More syncs than any chapter has.
const SYNCS_MAX: u64 = 1_000;

/// Stops the chapter at its `stop`-th sync; false if it has not so many.
fn stop_at(chapter: usize, stop: u64) -> bool {
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
    for crash in crashes(stop) {
        let image = disk.crash(crash);
        let left = Start { image, wall_ms, journal: journal.clone() };
        let held = std::panic::catch_unwind(move || hold_after_power_loss(left));
        assert!(held.is_ok(), "chapter {chapter}, stopped at sync {stop}, {crash:?}");
    }
    true
}

fn stop_everywhere(chapter: usize) {
    let stops = (1..SYNCS_MAX).take_while(|stop| stop_at(chapter, *stop)).count();
    println!("chapter {chapter}: stopped at each of {stops} syncs, {} images each", crashes(0).len());
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
#[should_panic(expected = "I4")]
fn a_journal_of_something_that_was_never_stored_is_found_out() {
    let mut end = starts()[1].clone();
    end.journal.rows.insert(("accounts", b"top-up".to_vec()), b"21".to_vec());
    hold_after_power_loss(end);
}
