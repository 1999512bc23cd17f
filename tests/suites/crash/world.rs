//! A ledger on a fake disk, the claims that somebody holds on it, and the journal of what was acknowledged.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use keyledger::{Claim, Clock, Error, ErrorCode, Ledger, ManualClock, SeededEntropy};
use keyledger_harness::disk::FakeDisk;

use super::faults::Mishap;
use super::journal::{Journal, Landed, Shown};

/// Where a chapter of the workload begins: what is on disk, what time it is, and what was acknowledged so far.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub(crate) image: Vec<u8>,
    pub(crate) wall_ms: u64,
    pub(crate) journal: Journal,
}

pub(crate) struct World {
    pub(crate) ledger: Ledger,
    pub(crate) clock: ManualClock,
    pub(crate) disk: FakeDisk,
    pub(crate) claims: BTreeMap<&'static str, Claim>,
    pub(crate) journal: Journal,
    /// Whether a command that ends in an error is seen to, or ends the run.
    pub(crate) repairs: bool,
    /// What goes wrong while the first failure is seen to.
    pub(crate) fails_again: Option<Mishap>,
    /// What goes wrong after that, one after the other.
    pub(crate) later: Vec<Mishap>,
    /// The codes of the errors that were seen to.
    pub(crate) seen_to: Vec<ErrorCode>,
}

/// What one command does. It may be told to do it once more.
pub(crate) type Command<'a> = &'a dyn Fn(&mut World) -> Result<(), Error>;

impl World {
    /// Opens, or creates, a ledger on `disk` as a process does that was just started.
    pub(crate) fn open(disk: &FakeDisk, wall_ms: u64, journal: Journal) -> Result<World, Error> {
        let clock = ManualClock::new(wall_ms);
        let ledger = open(disk, &clock)?;
        let (disk, claims) = (disk.clone(), BTreeMap::new());
        let (fails_again, later, seen_to) = (None, Vec::new(), Vec::new());
        Ok(World { ledger, clock, disk, claims, journal, repairs: false, fails_again, later, seen_to })
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.wall_ms()
    }

    pub(crate) fn pass(&self, ms: u64) {
        self.clock.advance(Duration::from_millis(ms));
    }

    /// Does a command that is safe to repeat, whether or not it had taken effect.
    pub(crate) fn act(&mut self, command: Command<'_>) -> Result<(), Error> {
        self.act_again(command, false)
    }

    /// Does a command that must not be repeated once it has taken effect.
    pub(crate) fn act_once(&mut self, command: Command<'_>) -> Result<(), Error> {
        self.act_again(command, true)
    }

    fn act_again(&mut self, command: Command<'_>, only_once: bool) -> Result<(), Error> {
        while let Err(error) = command(self) {
            if !self.repairs {
                return Err(error);
            }
            self.see_to(&error)?;
            let landed = self.compare()?;
            if let Some((call, fault)) = self.later.pop() {
                self.disk.fail_call_with(call, fault);
            }
            if only_once && landed == Landed::Whole {
                break;
            }
        }
        Ok(())
    }

    /// What the ledger shows is what was acknowledged.
    pub(crate) fn compare(&mut self) -> Result<Landed, Error> {
        let shown = Shown::by(&self.ledger)?;
        let now = self.now();
        Ok(self.journal.compare(&shown, now))
    }

    /// S6, S7: after an error of the disk the handle is of use again once it is opened again.
    fn see_to(&mut self, error: &Error) -> Result<(), Error> {
        assert_is_of_the_disk(error);
        self.seen_to.push(error.code());
        self.journal.expect_orphans_released(self.now());
        if let Some((call, fault)) = self.fails_again.take() {
            self.disk.fail_call_with(call, fault);
            if let Err(error) = self.reopen_somehow() {
                assert_is_of_the_disk(&error);
            }
            self.disk.heal();
        }
        self.reopen_somehow()
    }

    fn reopen_somehow(&mut self) -> Result<(), Error> {
        match self.ledger.reopen() {
            Err(Error::Suspended) => self.ledger.resume(),
            Err(Error::Closed) => {
                self.ledger = open(&self.disk, &self.clock)?;
                Ok(())
            }
            reopened => reopened,
        }
    }
}

pub(crate) fn open(disk: &FakeDisk, clock: &ManualClock) -> Result<Ledger, Error> {
    let builder = Ledger::builder().clock(clock.clone()).entropy(SeededEntropy::new(7)).cache_bytes(1 << 20);
    builder.open_disk(Arc::new(disk.clone()))
}

/// A failed call of the disk is told as what it is, and as nothing else.
pub(crate) fn assert_is_of_the_disk(error: &Error) {
    let codes = [ErrorCode::Ambiguous, ErrorCode::Storage, ErrorCode::Poisoned, ErrorCode::Unavailable];
    assert!(codes.contains(&error.code()), "{}: {error}", error.code().as_str());
}
