//! Writes a ledger that holds everything there is, as a process leaves it that is killed: some of it in the tree, some in the log.

use std::path::{Path, PathBuf};
use std::time::Duration;

use keyledger::{
    Claim, Clock, Decision, Error, Fingerprint, Key, KeyId, Ledger, ManualClock, Operation, Resolution, Response,
    Scope, SeededEntropy,
};

use super::{entries, tell};

pub(crate) const TABLE: &str = "accounts";

const START_MS: u64 = 1_800_000_000_000;
/// What time it is when the file is finished.
pub(crate) const END_MS: u64 = START_MS + 3 * LEASE_MS;
const LEASE_MS: u64 = 1_000;
/// A hundred years.
pub(crate) const FOREVER_MS: u64 = 100 * 365 * 86_400_000;
const RESPONSE_BYTES_MAX: usize = 64;

const fn kept(operation: Operation) -> Operation {
    let forever = Duration::from_millis(FOREVER_MS);
    operation.lease(Duration::from_millis(LEASE_MS)).retention(forever).tombstone(forever).remembered_for(forever)
}

static WALLET: Operation = kept(Operation::in_ledger("wallet"));
static CHARGE: Operation = kept(Operation::repeatable("charge"));
static LONG_CHARGE: Operation = kept(Operation::repeatable("charge")).lease(Duration::from_millis(FOREVER_MS / 2));
static SHORT_CHARGE: Operation = kept(Operation::repeatable("charge")).remembered_for(Duration::from_millis(LEASE_MS));
static ONE_CHARGE: Operation = kept(Operation::repeatable("charge")).max_attempts(1);
static MAIL_CHARGE: Operation = kept(Operation::at_most_once("charge"));
static MAIL: Operation = kept(Operation::at_most_once("mail"));
static BRIEF: Operation = kept(Operation::repeatable("brief")).retention(Duration::from_millis(LEASE_MS));

struct Author {
    ledger: Ledger,
}

impl Author {
    fn open(file: &Path, clock: &ManualClock) -> Author {
        let builder = Ledger::builder().clock(clock.clone()).entropy(SeededEntropy::new(7));
        Author { ledger: builder.max_response_bytes(RESPONSE_BYTES_MAX).open(file).expect("it opens") }
    }

    fn ask(&self, operation: &Operation, key: &str, fingerprint: Fingerprint) -> Decision {
        let (scope, key) = (Scope::new("shop").expect("a scope"), Key::new(key).expect("a key"));
        let begin = keyledger::Begin::new(operation, &scope, &key, fingerprint).memo("for whoever finds it");
        self.ledger.begin_with(&begin).expect("a decision")
    }

    fn begin(&self, operation: &Operation, key: &str) -> Claim {
        match self.ask(operation, key, asked()) {
            Decision::Acquired(claim) => claim,
            other => panic!("{key} is new: {other:?}"),
        }
    }

    /// Leaves claims whose leases will be over.
    fn leave(&self) -> Vec<Claim> {
        let mut left = Vec::new();
        for key in ["window over", "attempts", "effect changed", "cannot compare", "lapsed"] {
            left.push(self.begin(&CHARGE, key));
        }
        left.push(self.begin(&MAIL, "owner lost"));
        let claim = self.begin(&BRIEF, "tombstone");
        claim.complete(Response::text("forgotten soon")).expect("settled");
        left
    }

    fn settle(&self) -> Result<(), Error> {
        let mut claim = self.begin(&CHARGE, "completed");
        claim.step::<Error>("quote", || Ok(b"12.50".to_vec()))?;
        claim.complete(Response::new("application/json", r#"{"charged":true}"#))?;
        self.begin(&CHARGE, "failed").fail(Response::text("declined"))?;
        self.begin(&CHARGE, "released").release()?;
        self.begin(&MAIL, "parked").park("the bank is silent")?;
        self.begin(&CHARGE, "long").complete(Response::bytes(vec![7; RESPONSE_BYTES_MAX + 1]))?;
        self.ledger.transaction(|tx| tx.put(TABLE, b"ada", "20"))
    }

    /// A begin finds each of the claims that were left, and parks its record for another reason.
    fn find(&self) {
        let found = [(&SHORT_CHARGE, "window over"), (&ONE_CHARGE, "attempts"), (&MAIL_CHARGE, "effect changed")];
        for (operation, key) in found {
            is_parked(&self.ask(operation, key, asked()), key);
        }
        is_parked(&self.ask(&CHARGE, "cannot compare", Fingerprint::Unchecked), "cannot compare");
        is_parked(&self.ask(&MAIL, "owner lost", asked()), "owner lost");
    }

    fn resolve(&self) -> Result<(), Error> {
        for key in ["jar", "jug"] {
            let claim = self.begin(&WALLET, key);
            let fence = claim.fence();
            claim.park("an odd coin")?;
            let scope = Scope::new("shop").expect("a scope");
            let id = KeyId::new(scope, WALLET.name(), Key::new(key).expect("a key")).expect("a key id");
            let resolution =
                if key == "jar" { Resolution::NotDone } else { Resolution::Completed(Response::text("they had it")) };
            self.ledger.resolve(&id, fence, resolution, "ada", "asked the bank")?;
        }
        Ok(())
    }
}

fn is_parked(decision: &Decision, reason: &str) {
    assert!(matches!(decision, Decision::Parked(parked) if parked.reason.as_str() == reason), "{decision:?}");
}

fn asked() -> Fingerprint {
    Fingerprint::of_bytes(&[b"please"])
}

/// The file, and in words what it holds.
pub(crate) fn file(folder: &Path) -> (PathBuf, String) {
    let (open, killed) = (folder.join("open.kl"), folder.join("killed.kl"));
    let clock = ManualClock::new(START_MS);
    let author = Author::open(&open, &clock);
    let left = author.leave();
    author.ledger.close().expect("it closes");
    drop(left);
    let author = Author::open(&open, &clock);
    author.settle().expect("settled");
    clock.advance(Duration::from_millis(END_MS - START_MS));
    author.ledger.sweep(1).expect("a sweep");
    author.find();
    author.resolve().expect("resolved");
    // An InLedger claim out of a live record on disk is on disk (E2); the other one goes on for fifty years.
    let held = [author.begin(&WALLET, "jar"), author.begin(&LONG_CHARGE, "in progress")];
    let sent = entries::write(&author.ledger, END_MS).expect("entries");
    assert_eq!(clock.wall_ms(), END_MS);
    let told = tell::all(&author.ledger) + &entries::all(&author.ledger);
    std::fs::copy(&open, &killed).expect("what a kill would leave");
    drop((held, sent));
    (killed, told)
}

/// A claim and an outcome more.
pub(crate) fn one_more(ledger: &Ledger) {
    let author = Author { ledger: ledger.clone() };
    author.begin(&CHARGE, "one more").complete(Response::text("and on")).expect("settled");
    let replay = author.ask(&CHARGE, "completed", asked());
    assert!(matches!(&replay, Decision::Replay(replay) if replay.response.stored_bytes().is_some()), "{replay:?}");
}
