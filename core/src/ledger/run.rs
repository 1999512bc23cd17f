//! The whole of it in one call: begin, run the handler, settle.

use std::fmt;
use std::time::Duration;

use super::Ledger;
use crate::begin::Begin;
use crate::claim::Claim;
use crate::decision::{Decision, Outcome, Replay};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::key::{Key, Scope};
use crate::machine::settle::Settlement;
use crate::operation::{Effect, Operation};
use crate::response::Response;

/// What an error of a handler means for its claim (S8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorMeans {
    /// Nobody says: the record's effect decides. InLedger and Repeatable are released, AtMostOnce is parked.
    ByEffect,
    /// It surely did not happen: released.
    NotDone,
    /// A final no, told again to every retry with this response.
    Final(Response),
    /// Nobody knows whether it happened: parked, for this reason.
    Unknown(String),
}

impl ErrorMeans {
    /// How a claim with this effect is settled, when its handler has raised such an error (contract, section 3; S8).
    pub fn settlement(self, effect: Effect) -> Settlement {
        match (self, effect) {
            (ErrorMeans::ByEffect, Effect::InLedger | Effect::Repeatable) | (ErrorMeans::NotDone, _) => {
                Settlement::Release
            }
            (ErrorMeans::ByEffect, Effect::AtMostOnce) => Settlement::Park("the handler raised an error".into()),
            (ErrorMeans::Final(response), _) => Settlement::Fail(response),
            (ErrorMeans::Unknown(reason), _) => Settlement::Park(reason),
        }
    }
}

/// What the caller of a refused key should do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyAdvice {
    /// The same key later.
    Reuse,
    /// This key is for something else: take another.
    Rotate,
    /// Find out first whether it happened.
    Reconcile,
}

impl KeyAdvice {
    /// The word that every language and HTTP use.
    pub const fn as_str(self) -> &'static str {
        match self {
            KeyAdvice::Reuse => "reuse",
            KeyAdvice::Rotate => "rotate",
            KeyAdvice::Reconcile => "reconcile",
        }
    }
}

/// The handler was not run, and there is no answer to replay (S9).
#[derive(Debug, thiserror::Error)]
#[error("{}", self.advice())]
pub struct Refused {
    /// `InProgress`, `Mismatch`, `Parked` or `Gone`.
    pub decision: Box<Decision>,
}

impl Refused {
    /// The decision's name, the same in every language.
    pub fn code(&self) -> &'static str {
        self.decision.as_str()
    }

    /// When to ask again with the same key, where that makes sense.
    pub fn retry_after(&self) -> Option<Duration> {
        match &*self.decision {
            Decision::InProgress(in_progress) => Some(in_progress.retry_after),
            Decision::Acquired(_) | Decision::Replay(_) | Decision::Mismatch | Decision::Parked(_) | Decision::Gone => {
                None
            }
        }
    }

    /// What to do with the key.
    pub fn key_advice(&self) -> KeyAdvice {
        match &*self.decision {
            Decision::Acquired(_) | Decision::Replay(_) | Decision::InProgress(_) => KeyAdvice::Reuse,
            Decision::Mismatch => KeyAdvice::Rotate,
            Decision::Parked(_) | Decision::Gone => KeyAdvice::Reconcile,
        }
    }

    /// One sentence for whoever asked.
    pub fn advice(&self) -> &'static str {
        match &*self.decision {
            Decision::Acquired(_) | Decision::Replay(_) => "the operation was answered",
            Decision::InProgress(_) => "the operation is in progress; ask again later with the same key",
            Decision::Mismatch => "this key was used for another request; take a new key for a new operation",
            Decision::Parked(_) => {
                "nobody knows whether the operation happened; it is held for a person, find out first"
            }
            Decision::Gone => {
                "the operation was settled so long ago that its answer is gone; find out before asking again"
            }
        }
    }
}

/// Why [`Ledger::run`] has no answer to give.
#[derive(Debug)]
pub enum RunError<E> {
    /// The handler was not run.
    Refused(Refused),
    /// An earlier run ended in a final no; this is the answer that was given then.
    ReplayedFailure(Response),
    /// The handler was run, and said this.
    Handler(E),
    /// The ledger could not answer.
    Ledger(Error),
}

impl<E: fmt::Display> fmt::Display for RunError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Refused(refused) => refused.fmt(f),
            RunError::ReplayedFailure(_) => f.write_str("an earlier run of this key ended in a final no"),
            RunError::Handler(error) => error.fmt(f),
            RunError::Ledger(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for RunError<E> {}

impl<E> From<Error> for RunError<E> {
    fn from(error: Error) -> Self {
        RunError::Ledger(error)
    }
}

impl Ledger {
    /// Begins the key, runs `handler` if the claim is granted, settles the claim with what it returns, and returns that; or
    /// returns the stored answer without running it.
    ///
    /// An error of the handler goes by the record's effect (section 3). A handler may settle the claim itself with
    /// [`complete_with`](Claim::complete_with); what it stored is then the answer. On `Ok` the answer is on disk. An outcome that
    /// cannot be stored, since its media type or reason is over the limit, is parked: nothing of it releases the claim (S4).
    ///
    /// # Locks
    /// The handler runs outside the commit queue; a closure that it gives to `complete_with` does not: see there.
    ///
    /// # Errors
    /// See [`RunError`]. When the claim is lost meanwhile, the handler's result is thrown away, and the caller is answered as
    /// `begin` would answer now, save that nothing is granted (S9).
    pub fn run<E>(
        &self,
        operation: &Operation,
        scope: &Scope,
        key: &Key,
        fingerprint: Fingerprint,
        handler: impl FnOnce(&mut Claim) -> Result<Response, E>,
    ) -> Result<Response, RunError<E>> {
        self.run_with(&Begin::new(operation, scope, key, fingerprint), |_| ErrorMeans::ByEffect, handler)
    }

    /// [`run`](Ledger::run) with a memo or a wait, and with a say in what the handler's errors mean (S8).
    ///
    /// # Errors
    /// As [`run`](Ledger::run).
    pub fn run_with<E>(
        &self,
        begin: &Begin,
        means: impl FnOnce(&E) -> ErrorMeans,
        handler: impl FnOnce(&mut Claim) -> Result<Response, E>,
    ) -> Result<Response, RunError<E>> {
        let mut claim = match self.begin_with(begin)? {
            Decision::Acquired(claim) => claim,
            told => return answer(told),
        };
        match handler(&mut claim) {
            Ok(response) => self.settle_success(begin, claim, response),
            Err(error) => self.settle_error(begin, claim, means(&error), error),
        }
    }

    fn settle_success<E>(&self, begin: &Begin, mut claim: Claim, response: Response) -> Result<Response, RunError<E>> {
        match claim.settled() {
            Some(Settlement::Complete(stored)) => return Ok(stored.clone()),
            Some(Settlement::Fail(stored)) => return Err(RunError::ReplayedFailure(stored.clone())),
            Some(Settlement::Release | Settlement::Park(_)) => return self.answer_now(begin),
            None => {}
        }
        match claim.settle_in_place(Settlement::Complete(response.clone())) {
            Ok(()) => Ok(response),
            Err(Error::ClaimLost) => self.answer_now(begin),
            Err(error) => Err(RunError::Ledger(parked_if_too_large(&mut claim, error))),
        }
    }

    /// As [`begin_with`](Ledger::begin_with) would answer now, save that nothing is granted or stored: where it would grant, the
    /// answer is `InProgress` (S9). It waits for nobody.
    ///
    /// # Errors
    /// As [`begin_with`](Ledger::begin_with).
    pub fn ask(&self, begin: &Begin) -> Result<Decision> {
        let asked = begin.check(self.engine())?;
        Ok(self.decision(self.engine().begin_nothing(&asked)?, begin.operation()))
    }

    fn answer_now<E>(&self, begin: &Begin) -> Result<Response, RunError<E>> {
        answer(self.ask(begin)?)
    }

    /// Settles the claim of a handler that said no. What it stored itself before, or what somebody else stored meanwhile, is the
    /// answer: every retry will be told that (I2, S9).
    fn settle_error<E>(
        &self,
        begin: &Begin,
        mut claim: Claim,
        means: ErrorMeans,
        error: E,
    ) -> Result<Response, RunError<E>> {
        match claim.settled() {
            Some(Settlement::Complete(stored)) => return Ok(stored.clone()),
            Some(Settlement::Fail(stored)) => return Err(RunError::ReplayedFailure(stored.clone())),
            Some(Settlement::Release | Settlement::Park(_)) => return Err(RunError::Handler(error)),
            None => {}
        }
        let settlement = means.settlement(claim.effect());
        match claim.settle_in_place(settlement) {
            Ok(()) => Err(RunError::Handler(error)),
            Err(Error::ClaimLost) => self.answer_now(begin),
            Err(ledger_error) => Err(RunError::Ledger(parked_if_too_large(&mut claim, ledger_error))),
        }
    }
}

/// S4: an outcome that cannot be stored releases nothing. Whether parking went well or not, the first error is the one to tell.
fn parked_if_too_large(claim: &mut Claim, error: Error) -> Error {
    if matches!(error, Error::TooLarge { .. }) {
        let _ = claim.settle_in_place(Settlement::Park(format!("its outcome could not be stored: {error}")));
    }
    error
}

fn answer<E>(decision: Decision) -> Result<Response, RunError<E>> {
    match decision {
        Decision::Replay(Replay { response, outcome: Outcome::Completed, .. }) => Ok(response),
        Decision::Replay(Replay { response, outcome: Outcome::Failed, .. }) => Err(RunError::ReplayedFailure(response)),
        decision @ (Decision::Acquired(_)
        | Decision::InProgress(_)
        | Decision::Mismatch
        | Decision::Parked(_)
        | Decision::Gone) => Err(RunError::Refused(Refused { decision: Box::new(decision) })),
    }
}
