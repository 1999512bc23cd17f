//! A call of the disk fails once: whoever asked is told so, the handle is opened again, and nothing that was acknowledged is
//! lost (S6, S7).

use std::collections::BTreeMap;

use keyledger::ErrorCode;
use keyledger_harness::disk::{Crash, FakeDisk};

use super::workload::{CHAPTERS, starts, tell};
use super::world::{World, assert_is_of_the_disk};

/// How often callers were told which code.
type Told = BTreeMap<&'static str, u64>;

/// More calls than any chapter has.
const CALLS_MAX: u64 = 10_000;

/// Fails the `call`-th call of the chapter; false if it has not so many.
fn fail_at(chapter: usize, call: u64, told: &mut Told) -> bool {
    let start = &starts()[chapter];
    let mut disk = FakeDisk::of(start.image.clone());
    disk.fail_call(call);
    let failing = disk.clone();
    let mut note = |code: ErrorCode| *told.entry(code.as_str()).or_default() += 1;
    let world = match World::open(&disk, start.wall_ms, start.journal.clone()) {
        Ok(world) => world,
        Err(error) => {
            assert_is_of_the_disk(&error);
            note(error.code());
            if start.image.is_empty() {
                // P5: a file that was not made whole is never opened.
                disk = FakeDisk::new();
            }
            World::open(&disk, start.wall_ms, start.journal.clone()).expect("it can be opened now")
        }
    };
    // Opening again fails once, too, at one place or another.
    let fails_again = Some(call % 30 + 1);
    let (world, ended) = tell(World { repairs: true, fails_again, ..world }, CHAPTERS[chapter]);
    ended.unwrap_or_else(|error| panic!("chapter {chapter}, call {call}: {error}"));
    world.seen_to.iter().copied().for_each(&mut note);
    let image = disk.crash(Crash::LosesAll);
    let next = World::open(&FakeDisk::of(image), world.now(), world.journal.clone());
    next.expect("it is not refused").compare().expect("it can be read");
    call <= failing.counts().calls
}

fn fail_everywhere(chapter: usize) {
    fail_every(chapter, 1);
}

fn fail_every(chapter: usize, step: usize) {
    let mut told = Told::new();
    let calls = (1..CALLS_MAX).step_by(step).take_while(|call| fail_at(chapter, *call, &mut told)).count();
    println!("chapter {chapter}: {calls} calls failed, once each; callers were told {told:?}");
    assert!(told.len() > 1, "the chapter has only {calls} calls, and callers were told {told:?}");
}

#[test]
fn s6_first_steps_survive_a_failure_of_every_call() {
    fail_everywhere(0);
}

#[test]
fn s6_many_at_once_survive_a_failure_of_every_call() {
    fail_everywhere(1);
}

#[test]
fn s6_lost_owners_survive_a_failure_of_every_call() {
    fail_everywhere(2);
}

#[test]
fn s6_decisions_of_persons_survive_a_failure_of_every_call() {
    fail_everywhere(3);
}

#[test]
fn s6_suspending_compacting_and_reopening_survive_a_failure_of_every_call() {
    fail_everywhere(4);
}

#[test]
fn s6_sweeps_survive_a_failure_of_every_call() {
    fail_everywhere(5);
}

#[test]
fn s6_long_answers_survive_a_failure_of_every_third_call() {
    fail_every(6, 3);
}
