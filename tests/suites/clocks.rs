//! L6, L7: clocks that jump, stop and lie, while a claim is held.

use keyledger::{
    Begin, Claim, Decision, Effect, Fingerprint, Janitor, Key, Ledger, ManualClock, Operation, Response, Scope,
};
#[cfg(target_os = "linux")]
use keyledger::{Clock, SystemClock};
use std::path::Path;
use std::time::Duration;

const START_MS: u64 = 1_800_000_000_000;
const HOUR_MS: i64 = 3_600_000;
/// From 2027 to 2099.
const TO_2099_MS: i64 = 72 * 365 * 24 * HOUR_MS;
const LEASE: Duration = Duration::from_secs(30);
const NEARLY_THE_LEASE: Duration = Duration::from_millis(29_999);
const EFFECTS: [Effect; 3] = [Effect::InLedger, Effect::Repeatable, Effect::AtMostOnce];

fn open(path: &Path, clock: &ManualClock) -> Ledger {
    Ledger::builder().clock(clock.clone()).open(path).expect("the ledger opens")
}

fn operation(effect: Effect) -> Operation {
    Operation::new(effect, "POST /v1/orders").lease(LEASE).retention(Duration::from_hours(1))
}

fn ask(ledger: &Ledger, effect: Effect) -> Decision {
    let (scope, key) = (Scope::new("user").expect("a scope"), Key::new("order-1").expect("a key"));
    let operation = operation(effect);
    let begin = Begin::new(&operation, &scope, &key, Fingerprint::of_bytes(&[b"one book"]));
    ledger.begin_with(&begin).expect("a decision")
}

fn claim(ledger: &Ledger, effect: Effect) -> Claim {
    match ask(ledger, effect) {
        Decision::Acquired(claim) => claim,
        other => panic!("not granted: {other:?}"),
    }
}

fn ledger(clock: &ManualClock) -> (tempfile::TempDir, Ledger) {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = open(&folder.path().join("ledger"), clock);
    (folder, ledger)
}

#[test]
fn l7_a_wall_clock_that_jumps_in_mid_lease_neither_ends_the_lease_nor_prolongs_it() {
    for effect in EFFECTS {
        for jump in [HOUR_MS, -HOUR_MS, TO_2099_MS] {
            let clock = ManualClock::new(START_MS);
            let (_folder, ledger) = ledger(&clock);
            let held = claim(&ledger, effect);
            clock.jump_wall(jump);
            clock.advance(NEARLY_THE_LEASE);
            let told = ask(&ledger, effect);
            assert!(
                matches!(&told, Decision::InProgress(told) if told.retry_after <= LEASE),
                "{effect:?} {jump}: {told:?}"
            );
            clock.advance(Duration::from_millis(1));
            let told = ask(&ledger, effect);
            match effect {
                Effect::AtMostOnce => assert!(matches!(told, Decision::Parked(_)), "{jump}: {told:?}"),
                _ => assert!(matches!(told, Decision::Acquired(_)), "{effect:?} {jump}: {told:?}"),
            }
            drop(held);
        }
    }
}

#[test]
fn l7_a_lease_that_another_process_granted_while_this_one_was_suspended_lasts_as_long_as_it_says() {
    for effect in [Effect::Repeatable, Effect::AtMostOnce] {
        let clock = ManualClock::new(START_MS);
        let (folder, ledger) = ledger(&clock);
        ledger.suspend().expect("it lets go");
        clock.advance(Duration::from_hours(1));
        let other = open(&folder.path().join("ledger"), &clock);
        std::mem::forget(claim(&other, effect));
        other.close().expect("it closes");
        ledger.resume().expect("it is back");
        clock.advance(NEARLY_THE_LEASE);
        assert!(matches!(ask(&ledger, effect), Decision::InProgress(_)), "{effect:?}");
        clock.advance(Duration::from_millis(1));
        assert!(!matches!(ask(&ledger, effect), Decision::InProgress(_)), "{effect:?}");
    }
}

#[test]
fn l7_time_asleep_counts() {
    let clock = ManualClock::new(START_MS);
    let (_folder, ledger) = ledger(&clock);
    let held = claim(&ledger, Effect::Repeatable);
    // A machine that sleeps for a night: both clocks have gone on when it wakes.
    clock.advance(Duration::from_hours(8));
    assert!(matches!(ask(&ledger, Effect::Repeatable), Decision::Acquired(_)));
    drop(held);
}

#[test]
fn l7_a_wall_clock_that_was_set_to_2099_and_back_loses_no_answer_and_sweeps_none() {
    let clock = ManualClock::new(START_MS);
    let (_folder, ledger) = ledger(&clock);
    claim(&ledger, Effect::Repeatable).complete(Response::text("ordered")).expect("it completes");
    let janitor = Janitor::builder(&ledger).build().expect("a janitor");
    clock.jump_wall(TO_2099_MS);
    janitor.tick().expect("a tick");
    clock.jump_wall(-TO_2099_MS);
    let told = ask(&ledger, Effect::Repeatable);
    assert!(matches!(&told, Decision::Replay(told) if told.response == Response::text("ordered")), "{told:?}");
}

#[test]
fn l7_a_file_that_was_written_in_2099_is_judged_by_the_clock_of_today() {
    for effect in [Effect::Repeatable, Effect::AtMostOnce] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger");
        let wrong = ManualClock::new(START_MS);
        wrong.jump_wall(TO_2099_MS);
        let ledger = open(&path, &wrong);
        let held = claim(&ledger, effect);
        ledger.close().expect("it closes");
        drop(held);
        let right = ManualClock::new(START_MS);
        let ledger = open(&path, &right);
        // It was granted in a future that is not: its lease is over at once, and nobody waits until 2099. How long ago that was
        // nobody can tell, so a person decides (E4).
        let told = ask(&ledger, effect);
        assert!(matches!(told, Decision::Parked(_)), "{effect:?}: {told:?}");
    }
}

#[test]
fn l7_a_lease_of_another_opening_is_over_one_lease_after_it_was_first_seen_though_the_wall_clock_stands() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger");
    let clock = ManualClock::new(START_MS);
    let ledger = open(&path, &clock);
    let held = claim(&ledger, Effect::Repeatable);
    ledger.close().expect("it closes");
    drop(held);
    let ledger = open(&path, &clock);
    assert!(matches!(ask(&ledger, Effect::Repeatable), Decision::InProgress(_)));
    // The wall clock is held where it is: only the monotonic one goes on.
    for _ in 0..30 {
        clock.advance(Duration::from_secs(1));
        clock.jump_wall(-1000);
    }
    assert!(matches!(ask(&ledger, Effect::Repeatable), Decision::Acquired(_)));
}

/// A clock whose wall was set back by an hour.
#[cfg(target_os = "linux")]
struct SetBack;

#[cfg(target_os = "linux")]
impl Clock for SetBack {
    fn wall_ms(&self) -> u64 {
        SystemClock.wall_ms().saturating_sub(HOUR_MS.unsigned_abs())
    }

    fn monotonic_ms(&self) -> u64 {
        SystemClock.monotonic_ms()
    }

    fn boot_id(&self) -> Option<[u8; 16]> {
        SystemClock.boot_id()
    }
}

#[cfg(target_os = "linux")]
const FILE: &str = "KEYLEDGER_TEST_FILE";

#[test]
#[cfg(target_os = "linux")]
fn l7_in_a_shared_ledger_a_wall_clock_that_is_set_back_ends_no_claim_of_another_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger");
    let ledger = Ledger::builder().shared().open(&path).expect("a shared ledger");
    let held = claim(&ledger, Effect::Repeatable);
    let output = keyledger_harness::again::this_program("a_process_whose_wall_clock_was_set_back")
        .env(FILE, &path)
        .output()
        .expect("a process runs");
    assert!(String::from_utf8_lossy(&output.stdout).contains("told: in progress"), "{output:?}");
    held.complete(Response::text("ordered")).expect("the claim went on");
}

/// Not a test of its own: the process that the test above starts.
#[test]
#[cfg(target_os = "linux")]
fn a_process_whose_wall_clock_was_set_back() {
    let Some(path) = std::env::var_os(FILE) else { return };
    let ledger = Ledger::builder().shared().clock(SetBack).open(path).expect("a shared ledger");
    println!(
        "told: {}",
        if let Decision::InProgress(_) = ask(&ledger, Effect::Repeatable) { "in progress" } else { "else" }
    );
}
