//! A call of the disk fails once: whoever asked is told so, the handle is opened again, and nothing that was acknowledged is
//! lost (S6, S7).
//!
//! `KEYLEDGER_FAULTS` says how many plans of several faults each are tried, `KEYLEDGER_SEED` which; `KEYLEDGER_FAULT_PLAN`
//! repeats a single one.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use keyledger::ErrorCode;
use keyledger_harness::disk::{Crash, Dice, FakeDisk, Fault};
use keyledger_harness::settings;

use super::workload::{CHAPTERS, starts, tell};
use super::world::{World, assert_is_of_the_disk};

/// How many plans of several faults a run tries.
const PLANS: u64 = 300;
/// More calls than any chapter has.
const CALLS_MAX: u64 = 10_000;

/// How often callers were told which code.
type Told = BTreeMap<&'static str, u64>;

/// One thing that goes wrong: the kind, and at which of the calls that it can befall.
pub(crate) type Mishap = (u64, Fault);

/// What goes wrong in one telling of a chapter.
#[derive(Debug)]
struct Plan {
    chapter: usize,
    /// One after the other, each counted from where the one before was seen to.
    mishaps: Vec<Mishap>,
    /// While the first one is seen to.
    again: Mishap,
}

impl Plan {
    fn of_seed(seed: u64) -> Plan {
        let mut dice = Dice::new(seed);
        let mut mishap = |calls: usize| (1 + dice.below(calls) as u64, Fault::ALL[dice.below(Fault::ALL.len())]);
        let (mishaps, again) = (vec![mishap(60), mishap(60), mishap(60)], mishap(30));
        Plan { chapter: dice.below(CHAPTERS.len()), mishaps, again }
    }

    /// Tells the chapter; false if it had not calls enough for the first mishap.
    fn run(&self, told: &mut Told) -> bool {
        let start = &starts()[self.chapter];
        let ((call, fault), later) = self.mishaps.split_first().expect("something goes wrong");
        let mut disk = FakeDisk::of(start.image.clone());
        disk.fail_call_with(*call, *fault);
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
        let world = World { repairs: true, fails_again: Some(self.again), later: later.to_vec(), ..world };
        let (world, ended) = tell(world, CHAPTERS[self.chapter]);
        ended.unwrap_or_else(|error| panic!("{self:?}: {error}"));
        world.seen_to.iter().copied().for_each(&mut note);
        let image = disk.crash(Crash::LosesAll);
        let next = World::open(&FakeDisk::of(image), world.now(), world.journal.clone());
        next.expect("it is not refused").compare().expect("it can be read");
        failing.has_failed() || !world.seen_to.is_empty()
    }
}

/// Fails every call of the chapter once, and of those that another kind of fault can befall every `step`-th with that.
fn fail_every(chapter: usize, step: usize) {
    for fault in Fault::ALL {
        let mut told = Told::new();
        let step = if fault == Fault::Io { 1 } else { step };
        // Opening again fails once, too, at one place or another.
        let plan = |call: u64| Plan { chapter, mishaps: vec![(call, fault)], again: (call % 30 + 1, fault) };
        let calls = (1..CALLS_MAX).step_by(step).take_while(|call| plan(*call).run(&mut told)).count();
        println!("chapter {chapter}: {calls} calls failed with {fault:?}, once each; callers were told {told:?}");
        assert!(calls > 2 && !told.is_empty(), "the chapter has only {calls} calls, and callers were told {told:?}");
    }
}

#[test]
fn s6_first_steps_survive_a_failure_of_every_call() {
    fail_every(0, 1);
}

#[test]
fn s6_many_at_once_survive_a_failure_of_every_call() {
    fail_every(1, 1);
}

#[test]
fn s6_lost_owners_survive_a_failure_of_every_call() {
    fail_every(2, 1);
}

#[test]
fn s6_decisions_of_persons_survive_a_failure_of_every_call() {
    fail_every(3, 1);
}

#[test]
fn s6_suspending_compacting_and_reopening_survive_a_failure_of_every_call() {
    fail_every(4, 1);
}

#[test]
fn s6_sweeps_survive_a_failure_of_every_call() {
    fail_every(5, 1);
}

#[test]
fn s6_long_answers_survive_a_failure_of_every_call() {
    // Each telling writes megabytes.
    fail_every(6, 7);
}

#[test]
fn s6_claims_and_outcomes_survive_several_faults_one_after_the_other() {
    let mut told = Told::new();
    if let Some(seed) = settings::number("KEYLEDGER_FAULT_PLAN") {
        Plan::of_seed(seed).run(&mut told);
        return;
    }
    let (plans, mut dice) = (settings::number("KEYLEDGER_FAULTS").unwrap_or(PLANS), Dice::new(settings::seed()));
    for _ in 0..plans {
        let seed = dice.roll();
        let ran = catch_unwind(AssertUnwindSafe(|| Plan::of_seed(seed).run(&mut told)));
        let repeat = format!("KEYLEDGER_FAULT_PLAN={seed} cargo test -p keyledger-tests --test crash s6_claims");
        assert!(ran.is_ok(), "{:?}: repeat with\n{repeat}", Plan::of_seed(seed));
    }
    println!("faults: {plans} plans of three faults and one more; callers were told {told:?}");
    assert!(told.len() > 2, "callers were told only {told:?}");
}
