//! A process that asks for keys, does their work, and may be killed at any instant.

use super::diary::{Diary, Event, now_ms};
use keyledger::{Claim, Decision, Effect, Error, Fingerprint, Key, Ledger, Operation, Response, Scope};
use keyledger_harness::settings;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

pub(crate) const SEED: &str = "KEYLEDGER_TEST_SEED";
pub(crate) const DIARY: &str = "KEYLEDGER_TEST_DIARY";

/// Short, so that kills are followed by take-overs.
pub(crate) const LEASE: Duration = Duration::from_millis(250);

/// How many keys are asked for at a time, and how long until the next one joins them.
const KEYS_AT_A_TIME: u64 = 12;
const NEXT_KEY_MS: u64 = 4;

/// Answers are long, so that the log is moved into the tree while processes are killed.
const ANSWER_BYTES: usize = 5000;

/// The table whose rows InLedger operations write.
pub(crate) const EFFECTS: &str = "effects";

pub(crate) fn operation(key: u64) -> Operation {
    let effect = [Effect::InLedger, Effect::Repeatable, Effect::AtMostOnce][usize::try_from(key % 3).unwrap_or(0)];
    Operation::new(effect, ["top-up", "charge", "mail"][usize::try_from(key % 3).unwrap_or(0)]).lease(LEASE)
}

pub(crate) fn key_of(number: u64) -> Key {
    Key::new(format!("key-{number}")).expect("a key")
}

pub(crate) fn scope() -> Scope {
    Scope::new("everybody").expect("a scope")
}

pub(crate) fn open(file: &Path) -> Ledger {
    Ledger::builder().shared().open(file).expect("a shared ledger opens")
}

/// Works until it is killed.
pub(crate) fn work(file: &Path) {
    let seed = settings::number(SEED).expect("a worker is told its seed");
    let path = PathBuf::from(std::env::var_os(DIARY).expect("a worker is told its diary"));
    let ledger = open(file);
    let mut worker = Worker { ledger, diary: Diary::open(&path), random: fastrand::Rng::with_seed(seed) };
    loop {
        worker.ask();
    }
}

/// A long answer that begins with this name.
fn response(name: &str) -> Response {
    Response::text(format!("{name:ANSWER_BYTES$}"))
}

/// The name that an answer begins with.
pub(crate) fn name_in(response: &Response) -> String {
    let bytes = response.stored_bytes().expect("it is short");
    assert_eq!(bytes.len(), ANSWER_BYTES);
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

struct Worker {
    ledger: Ledger,
    diary: Diary,
    random: fastrand::Rng,
}

impl Worker {
    fn ask(&mut self) {
        let key = now_ms() / NEXT_KEY_MS + self.random.u64(0..KEYS_AT_A_TIME);
        let asked_ms = now_ms();
        let fingerprint = Fingerprint::of_bytes(&[&key.to_be_bytes()]);
        match self.ledger.begin(&operation(key), &scope(), &key_of(key), fingerprint).expect("a decision") {
            Decision::Acquired(claim) => {
                let fence = claim.fence();
                self.diary.note(&Event::Granted { key, fence, asked_ms, told_ms: now_ms() });
                self.handle(key, claim);
            }
            Decision::Replay(replay) => {
                let answer = name_in(&replay.response);
                self.diary.note(&Event::Replayed { key, answer });
            }
            Decision::InProgress(_) => sleep(Duration::from_millis(self.random.u64(0..3))),
            Decision::Parked(_) => {}
            Decision::Mismatch | Decision::Gone => panic!("key {key} was asked for alike, and just now"),
        }
    }

    fn handle(&mut self, key: u64, mut claim: Claim) {
        let fence = claim.fence();
        // Some handlers take longer than their lease, some renew it, some say that nothing happened.
        sleep(Duration::from_millis(if self.random.u8(0..20) == 0 { 300 } else { self.random.u64(0..8) }));
        if self.random.u8(0..8) == 0 {
            let asked_ms = now_ms();
            if claim.heartbeat().is_ok() {
                self.diary.note(&Event::Renewed { key, fence, asked_ms });
            }
        }
        self.diary.note(&Event::Ending { key, fence, at_ms: now_ms() });
        if self.random.u8(0..10) == 0 {
            return told(claim.release().map_err(Error::from));
        }
        let answer = format!("{key}-by-{fence}");
        let completed = match operation(key).effect() {
            Effect::InLedger => claim.complete_with(|tx| -> Result<Response, Error> {
                let before = tx.get(EFFECTS, &key.to_be_bytes())?.map_or(0, |row| row[0]);
                tx.put(EFFECTS, &key.to_be_bytes(), [before + 1])?;
                Ok(response(&answer))
            }),
            Effect::Repeatable | Effect::AtMostOnce => {
                claim.complete(response(&answer)).map(|()| Response::empty()).map_err(Error::from)
            }
        };
        if completed.is_ok() {
            self.diary.note(&Event::Completed { key, answer });
        }
        told(completed.map(drop));
    }
}

/// A claim may have been lost to the next one after its lease; anything else is an error.
fn told(settled: Result<(), Error>) {
    match settled {
        Ok(()) | Err(Error::ClaimLost) => {}
        Err(error) => panic!("{error}"),
    }
}
