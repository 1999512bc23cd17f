//! The table in README.md: who died, when, and what whoever asks again is told. Each cell links to its test here.
//!
//! Processes die by a real kill: a test starts this very program again as the victim, waits until the victim has come as far as
//! it should, and kills it. Time is told by hand on both sides, so that no test waits for a lease.

use keyledger::{Claim, Decision, Effect, Error, Fingerprint, Key, Ledger, ManualClock, Operation, Response, Scope};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const START_MS: u64 = 1_800_000_000_000;
const LEASE: Duration = Duration::from_secs(30);
const READY: &str = "the victim is ready";

fn operation(effect: Effect) -> Operation {
    Operation::new(effect, "POST /v1/orders").lease(LEASE)
}

fn clock_after(passed: Duration) -> ManualClock {
    let clock = ManualClock::new(START_MS);
    clock.advance(passed);
    clock
}

fn open(path: &Path, clock: &ManualClock) -> Ledger {
    Ledger::builder().clock(clock.clone()).open(path).expect("the ledger opens")
}

fn ask(ledger: &Ledger, effect: Effect) -> Decision {
    let (scope, key) = (Scope::new("user").expect("a scope"), Key::new("order-1").expect("a key"));
    let fingerprint = Fingerprint::of_bytes(&[b"one book"]);
    ledger.begin(&operation(effect), &scope, &key, fingerprint).expect("a decision")
}

fn claimed(decision: Decision) -> Claim {
    match decision {
        Decision::Acquired(claim) => claim,
        other => panic!("not granted: {other:?}"),
    }
}

fn assert_owner_lost(decision: &Decision) {
    assert!(matches!(decision, Decision::Parked(parked) if parked.reason.as_str() == "owner lost"), "{decision:?}");
}

fn assert_replays(decision: &Decision) {
    assert!(matches!(decision, Decision::Replay(replay) if replay.response == answer()), "{decision:?}");
}

fn answer() -> Response {
    Response::text("ordered")
}

/// The handler's row and its answer, in the transaction that completes the claim.
fn complete_with_row(mut claim: Claim) -> Result<Response, Error> {
    claim.complete_with(|tx| {
        tx.put("orders", b"order-1", b"one book")?;
        Ok(answer())
    })
}

/// How far the victim comes before it is killed.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    InHandler,
    Completed,
}

/// A ledger whose owner was killed at `stage`, opened again when `passed` has gone by since it began.
fn after_a_kill(effect: Effect, stage: Stage, passed: Duration) -> (tempfile::TempDir, Ledger, ManualClock) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("orders.kl");
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "victim", "--nocapture"]).stdout(Stdio::piped()).stderr(Stdio::null());
    command.env("VICTIM_PATH", &path).env("VICTIM_EFFECT", effect.as_str());
    if stage == Stage::Completed {
        command.env("VICTIM_COMPLETES", "yes");
    }
    let mut victim = command.spawn().expect("a victim");
    let mut lines = BufReader::new(victim.stdout.take().expect("its output")).lines();
    let ready = lines.any(|line| line.expect("a line").contains(READY));
    victim.kill().expect("it is killed");
    victim.wait().expect("it is dead");
    assert!(ready, "the victim ended before it was killed");
    let clock = clock_after(passed);
    let ledger = open(&path, &clock);
    (folder, ledger, clock)
}

/// No test of its own: what the tests start, to be killed.
#[test]
fn victim() {
    let Some(path) = std::env::var_os("VICTIM_PATH") else { return };
    let name = std::env::var("VICTIM_EFFECT").expect("an effect");
    let effects = [Effect::InLedger, Effect::Repeatable, Effect::AtMostOnce];
    let effect = *effects.iter().find(|effect| effect.as_str() == name).expect("a known effect");
    let ledger = open(Path::new(&path), &clock_after(Duration::ZERO));
    let claim = claimed(ask(&ledger, effect));
    let kept = if std::env::var_os("VICTIM_COMPLETES").is_some() {
        complete_with_row(claim).expect("it completes");
        None
    } else {
        Some(claim)
    };
    println!("{READY}");
    std::thread::sleep(Duration::from_mins(10));
    drop(kept);
}

// The owner's process, while its handler ran; asked again before the lease is over (E2).

#[test]
fn in_ledger_killed_in_its_handler_runs_at_once_as_if_for_the_first_time() {
    let (_folder, ledger, _) = after_a_kill(Effect::InLedger, Stage::InHandler, Duration::ZERO);
    assert_eq!(claimed(ask(&ledger, Effect::InLedger)).attempt(), 1);
}

#[test]
fn repeatable_killed_in_its_handler_is_in_progress_until_the_lease_is_over() {
    let passed = LEASE.saturating_sub(Duration::from_millis(1));
    let (_folder, ledger, _) = after_a_kill(Effect::Repeatable, Stage::InHandler, passed);
    assert!(matches!(ask(&ledger, Effect::Repeatable), Decision::InProgress(_)));
}

#[test]
fn at_most_once_killed_in_its_handler_is_in_progress_until_the_lease_is_over() {
    let passed = LEASE.saturating_sub(Duration::from_millis(1));
    let (_folder, ledger, _) = after_a_kill(Effect::AtMostOnce, Stage::InHandler, passed);
    assert!(matches!(ask(&ledger, Effect::AtMostOnce), Decision::InProgress(_)));
}

// The same, asked again after the lease (section 3, E3).

#[test]
fn in_ledger_killed_in_its_handler_has_left_no_row_behind() {
    let (_folder, ledger, _) = after_a_kill(Effect::InLedger, Stage::InHandler, LEASE);
    assert_eq!(ledger.get("orders", b"order-1").expect("a read"), None);
    complete_with_row(claimed(ask(&ledger, Effect::InLedger))).expect("it completes");
    assert_eq!(ledger.get("orders", b"order-1").expect("a read").as_deref(), Some(&b"one book"[..]));
}

#[test]
fn repeatable_killed_in_its_handler_runs_again_with_the_same_derived_keys() {
    let first = claimed(ask(&Ledger::in_memory().expect("a ledger"), Effect::Repeatable)).derive_key("charge");
    let (_folder, ledger, _) = after_a_kill(Effect::Repeatable, Stage::InHandler, LEASE);
    let claim = claimed(ask(&ledger, Effect::Repeatable));
    assert_eq!((claim.attempt(), claim.derive_key("charge")), (2, first));
}

#[test]
fn at_most_once_killed_in_its_handler_is_parked_for_a_person() {
    let (_folder, ledger, _) = after_a_kill(Effect::AtMostOnce, Stage::InHandler, LEASE);
    assert_owner_lost(&ask(&ledger, Effect::AtMostOnce));
}

// The handler alone: it panicked or returned early, and dropped its claim; the process goes on (S2).

#[test]
fn in_ledger_dropped_by_its_handler_runs_again_at_once() {
    let ledger = Ledger::in_memory().expect("a ledger");
    drop(claimed(ask(&ledger, Effect::InLedger)));
    assert_eq!(claimed(ask(&ledger, Effect::InLedger)).attempt(), 2);
}

#[test]
fn repeatable_dropped_by_its_handler_runs_again_at_once() {
    let ledger = Ledger::in_memory().expect("a ledger");
    let key = claimed(ask(&ledger, Effect::Repeatable)).derive_key("charge");
    let claim = claimed(ask(&ledger, Effect::Repeatable));
    assert_eq!((claim.attempt(), claim.derive_key("charge")), (2, key));
}

#[test]
fn at_most_once_dropped_by_its_handler_is_parked_for_a_person() {
    let ledger = Ledger::in_memory().expect("a ledger");
    drop(claimed(ask(&ledger, Effect::AtMostOnce)));
    assert_owner_lost(&ask(&ledger, Effect::AtMostOnce));
}

// The owner's process, after the claim was completed and before the caller had the answer (I2, I4, I8).

#[test]
fn in_ledger_killed_after_completing_replays_and_its_row_is_there() {
    let (_folder, ledger, _) = after_a_kill(Effect::InLedger, Stage::Completed, LEASE);
    assert_replays(&ask(&ledger, Effect::InLedger));
    assert_eq!(ledger.get("orders", b"order-1").expect("a read").as_deref(), Some(&b"one book"[..]));
}

#[test]
fn repeatable_killed_after_completing_replays() {
    let (_folder, ledger, _) = after_a_kill(Effect::Repeatable, Stage::Completed, LEASE);
    assert_replays(&ask(&ledger, Effect::Repeatable));
}

#[test]
fn at_most_once_killed_after_completing_replays() {
    let (_folder, ledger, _) = after_a_kill(Effect::AtMostOnce, Stage::Completed, LEASE);
    assert_replays(&ask(&ledger, Effect::AtMostOnce));
}

// Nobody: the owner was slow, its lease ended, somebody else asked, and now the owner completes (I1, S1).

/// The slow owner's claim, and what was told to the one who asked after its lease.
fn slow_owner(effect: Effect) -> (Ledger, Claim, Decision) {
    let clock = ManualClock::new(START_MS);
    let ledger = Ledger::builder().clock(clock.clone()).in_memory().expect("a ledger");
    let slow = claimed(ask(&ledger, effect));
    clock.advance(LEASE);
    let told = ask(&ledger, effect);
    (ledger, slow, told)
}

#[test]
fn in_ledger_slow_owner_is_fenced_and_its_rows_are_thrown_away() {
    let (ledger, slow, told) = slow_owner(Effect::InLedger);
    assert_eq!(claimed(told).attempt(), 2);
    assert_eq!(complete_with_row(slow).expect_err("it is too late").code().as_str(), "claim_lost");
    assert_eq!(ledger.get("orders", b"order-1").expect("a read"), None);
}

#[test]
fn repeatable_slow_owner_is_fenced_and_both_used_the_same_derived_key() {
    let (_ledger, slow, told) = slow_owner(Effect::Repeatable);
    let key = slow.derive_key("charge");
    assert_eq!(claimed(told).derive_key("charge"), key);
    assert_eq!(Error::from(slow.complete(answer()).expect_err("it is too late")).code().as_str(), "claim_lost");
}

#[test]
fn at_most_once_slow_owner_was_parked_and_still_tells_the_outcome() {
    let (ledger, slow, told) = slow_owner(Effect::AtMostOnce);
    assert_owner_lost(&told);
    slow.complete(answer()).expect("being parked is no take-over");
    assert_replays(&ask(&ledger, Effect::AtMostOnce));
}
