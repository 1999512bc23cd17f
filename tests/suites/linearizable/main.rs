//! P1, P2, I1, I2, I5: whatever eight threads, or three processes, see of one ledger, one order of their calls explains it, by
//! the model of the contract.
//!
//! `KEYLEDGER_HISTORIES` says how many histories are recorded in memory (a quarter as many on a disk, a tenth on a file), and
//! `KEYLEDGER_SEED` what the threads do; how they meet is the system's business, so a failure prints all of its history.

mod processes;

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use keyledger::{
    Builder, Claim, Clock, Decision, Error, Fingerprint, Key, KeyId, Ledger, ManualClock, Operation, Outcome, Replay,
    Response, Scope, Settlement, SystemClock,
};
use keyledger_harness::disk::{Dice, FakeDisk};
use keyledger_harness::history::{Act, Answer, Call, How, Recorder, Scribe, check};
use keyledger_harness::model::Id;
use keyledger_harness::settings;

const HISTORIES: u64 = 1_000;
const THREADS: u32 = 8;
/// How many calls each thread makes.
const CALLS: usize = 40;
const LEASE_MS: u64 = 10;
const ATTEMPTS_MAX: u32 = 6;
const BODIES: [&str; 2] = ["yes", "no"];

static WALLET: Operation = declared(Operation::in_ledger("wallet"));
static CHARGE: Operation = declared(Operation::repeatable("charge"));
static MAIL: Operation = declared(Operation::at_most_once("mail"));
static KEYS: [(&Operation, &str); 5] = [(&WALLET, "1"), (&WALLET, "2"), (&CHARGE, "1"), (&CHARGE, "2"), (&MAIL, "1")];

const fn declared(operation: Operation) -> Operation {
    operation.lease(Duration::from_millis(LEASE_MS)).max_attempts(ATTEMPTS_MAX)
}

/// A thread that calls as its dice say.
struct Caller<'a> {
    ledger: &'a Ledger,
    pass: &'a (dyn Fn(u64) + Sync),
    scribe: Scribe,
    dice: Dice,
    /// What was granted, the latest last. Kept to the end: a claim that is dropped ends its lease (S2).
    claims: Vec<Claim>,
}

impl Caller<'_> {
    fn live(mut self, together: &Barrier) -> (Vec<Act>, Vec<Claim>) {
        together.wait();
        for _ in 0..CALLS {
            match self.dice.below(20) {
                0..=8 => self.begin(),
                9..=14 => self.settle(0),
                15 => self.settle(1),
                16 => self.heartbeat(),
                _ => (self.pass)(1 + self.dice.below(4) as u64),
            }
        }
        (self.scribe.acts(), self.claims)
    }

    fn begin(&mut self) {
        let (operation, key) = KEYS[self.dice.below(KEYS.len())];
        let asks = if self.dice.below(10) == 0 { 2 } else { 1 };
        let effect = operation.effect().as_str().to_owned();
        let call = Call::Begin { effect, lease_ms: LEASE_MS, max_attempts: ATTEMPTS_MAX, asks };
        let (ledger, scope, fingerprint) = (self.ledger, Scope::single(), Fingerprint::of_bytes(&[&[asks]]));
        let id = Id::new(scope.as_str(), operation.name(), key);
        let key = Key::new(key).expect("a key");
        let claim = self
            .scribe
            .record(&id, call, || told(ledger.begin(operation, &scope, &key, fingerprint).expect("a decision")));
        self.claims.extend(claim);
    }

    /// Settles, by id and fence, what was granted to this thread so many claims ago.
    fn settle(&mut self, back: usize) {
        let Some((id, fence)) = self.claim(back) else { return };
        let body = BODIES[self.dice.below(BODIES.len())].to_owned();
        let how = match self.dice.below(16) {
            0 => How::Complete(body),
            1 => How::Fail(body),
            2 => How::Park(body),
            _ => How::Release,
        };
        let settlement = match how.clone() {
            How::Complete(body) => Settlement::Complete(Response::text(body)),
            How::Fail(body) => Settlement::Fail(Response::text(body)),
            How::Release => Settlement::Release,
            How::Park(reason) => Settlement::Park(reason),
        };
        let ledger = self.ledger;
        let call = Call::Settle { fence, how };
        self.scribe.record(&of_model(&id), call, || ((), ended(ledger.settle(&id, fence, settlement))));
    }

    fn heartbeat(&mut self) {
        let Some((id, fence)) = self.claim(0) else { return };
        let (ledger, lease) = (self.ledger, Duration::from_millis(LEASE_MS));
        let call = Call::Heartbeat { fence, lease_ms: LEASE_MS };
        self.scribe.record(&of_model(&id), call, || ((), ended(ledger.heartbeat(&id, fence, lease))));
    }

    fn claim(&self, back: usize) -> Option<(KeyId, u64)> {
        let place = self.claims.len().checked_sub(1 + back)?;
        Some((self.claims[place].key_id().clone(), self.claims[place].fence()))
    }
}

fn of_model(id: &KeyId) -> Id {
    Id::new(id.scope().as_str(), id.operation().as_str(), id.key().as_str())
}

fn told(decision: Decision) -> (Option<Claim>, Answer) {
    let answer = match decision {
        Decision::Acquired(claim) => {
            let answer = Answer::Acquired { fence: claim.fence(), attempt: claim.attempt() };
            return (Some(claim), answer);
        }
        Decision::Replay(replay) => replayed(&replay),
        Decision::InProgress(_) => Answer::InProgress,
        Decision::Mismatch => Answer::Mismatch,
        Decision::Parked(parked) => Answer::Parked(parked.reason.as_str().to_owned()),
        Decision::Gone => Answer::Gone,
    };
    (None, answer)
}

fn replayed(replay: &Replay) -> Answer {
    let is_told = |body: &&&str| replay.response == Response::text(**body);
    let body = BODIES.iter().find(is_told).expect("I8: one of the bodies that were stored");
    match replay.outcome {
        Outcome::Completed => Answer::Completed((*body).to_owned()),
        Outcome::Failed => Answer::Failed((*body).to_owned()),
    }
}

fn ended(told: Result<(), Error>) -> Answer {
    match told {
        Ok(()) => Answer::Done,
        Err(Error::ClaimLost) => Answer::ClaimLost,
        Err(other) => panic!("{other}"),
    }
}

/// What the threads see of a ledger.
fn history(ledger: &Ledger, recorder: &Recorder, pass: &(dyn Fn(u64) + Sync), place: &[u64]) -> Vec<Act> {
    history_of(THREADS, ledger, recorder, pass, place)
}

fn history_of(
    threads: u32,
    ledger: &Ledger,
    recorder: &Recorder,
    pass: &(dyn Fn(u64) + Sync),
    place: &[u64],
) -> Vec<Act> {
    let caller = |thread: u32| Caller {
        ledger,
        pass,
        scribe: recorder.scribe(thread),
        dice: Dice::at(settings::seed(), &[place, &[thread.into()]].concat()),
        claims: Vec::new(),
    };
    let together = &Barrier::new(threads as usize);
    let (acts, claims): (Vec<_>, Vec<_>) = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || caller(thread).live(together))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).unzip()
    });
    drop(claims);
    acts.into_iter().flatten().collect()
}

/// Records so many histories, each of a ledger of its own, and has each explained.
fn are_explained(histories: u64, kind: u64, record: impl Fn(&[u64]) -> Vec<Act>) {
    let (mut calls, mut taken_over, mut met) = (0, 0, 0);
    for number in 0..histories {
        let acts = record(&[kind, number]);
        let again = |act: &&Act| matches!(act.answer, Some(Answer::Acquired { attempt, .. }) if attempt > 1);
        (calls, taken_over) = (calls + acts.len(), taken_over + acts.iter().filter(again).count());
        met += acts.iter().filter(|act| acts.iter().any(|other| meet(act, other))).count();
        if let Err(unexplained) = check(&acts, 0) {
            panic!("history {number} (seed {}): {unexplained}", settings::seed());
        }
    }
    println!(
        "{histories} histories are linearizable: {calls} calls, of which {taken_over} were granted a key once more and {met} met \
         another about the same key"
    );
    assert!(taken_over as u64 > histories && met as u64 > histories, "nothing was tried");
}

fn meet(act: &Act, other: &Act) -> bool {
    act.by != other.by && act.id == other.id && act.span.0 <= other.span.1 && other.span.0 <= act.span.1
}

fn histories() -> u64 {
    settings::number("KEYLEDGER_HISTORIES").unwrap_or(HISTORIES)
}

fn pass_by_itself(ms: u64) {
    thread::sleep(SystemClock.sleep_for(Duration::from_millis(ms)));
}

/// A ledger whose clock the threads move.
fn by_hand(place: &[u64], open: impl FnOnce(Builder) -> Result<Ledger, Error>) -> Vec<Act> {
    let clock = ManualClock::new(1_800_000_000_000);
    let ledger = open(Ledger::builder().clock(clock.clone()).cache_bytes(1 << 20)).expect("a ledger");
    let pass = |ms: u64| clock.advance(Duration::from_millis(ms));
    history(&ledger, &Recorder::in_memory(clock.clone()), &pass, place)
}

#[test]
fn i1_histories_of_eight_threads_are_linearizable_in_memory() {
    are_explained(histories(), 1, |place| by_hand(place, Builder::in_memory));
}

#[test]
fn i1_histories_of_eight_threads_are_linearizable_on_a_disk() {
    are_explained(histories() / 4, 2, |place| by_hand(place, |builder| builder.open_disk(Arc::new(FakeDisk::new()))));
}

#[test]
fn i1_histories_of_eight_threads_are_linearizable_on_a_file_by_the_systems_clock() {
    let folder = tempfile::tempdir().expect("a folder");
    are_explained(histories() / 10, 3, |place| {
        let ledger = Ledger::open(folder.path().join(format!("{}.kl", place[1]))).expect("a ledger");
        history(&ledger, &Recorder::in_memory(SystemClock), &pass_by_itself, place)
    });
}
