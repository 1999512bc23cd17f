//! From what the ledger says to what goes over the wire (H4, H5, H11, H12, H14, H15).

use keyledger::{Claim, Decision, Replay, Result};

use crate::date::http_date;
use crate::keep::Keep;
use crate::message::{Answer, Fields, Stored, StoredBody};
use crate::problem::{Case, Problem};
use crate::route::Route;

/// The field that marks a replay.
pub const REPLAYED_FIELD: &str = "Idempotent-Replayed";
/// The field that tells how long the key protects.
pub const EXPIRES_FIELD: &str = "Idempotency-Key-Expires";
const EXPOSE_FIELD: &str = "Access-Control-Expose-Headers";
/// What a page's script may read of an answer (H16).
pub const EXPOSED: &str = "Idempotent-Replayed, Idempotency-Key-Expires, Retry-After";

/// What follows from a decision of `begin`.
#[derive(Debug)]
#[must_use = "a claim that is dropped without being settled ends its lease at once"]
pub enum Ruling {
    /// Run the handler under this claim.
    Run(Claim),
    /// The handler does not run; this is the answer.
    Answer(Answer),
}

/// Who has settled the claim, once the handler has ended.
#[derive(Debug)]
pub enum Settled {
    /// The adapter, with the settlement that the route gave: [`Route::settlement`] and its like.
    ByAdapter,
    /// The handler itself.
    ByHandler,
    /// Nobody: settling was answered with this error.
    Not(keyledger::Error),
}

/// What is sent once the handler has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conclusion {
    /// The handler's own response, with these field lines added.
    Own(Fields),
    /// This, and nothing of what the handler gave.
    Instead(Answer),
}

impl Route {
    /// What to do with what `begin` has said. An error lets nothing through: it is a 503.
    pub fn rule(&self, told: Result<Decision>) -> Ruling {
        match told {
            Ok(Decision::Acquired(claim)) => Ruling::Run(claim),
            Ok(told) => Ruling::Answer(self.answer_of(told)),
            Err(_) => Ruling::Answer(exposing(self.not_available())),
        }
    }

    /// What to answer to the request whose handler has given a response of this status.
    ///
    /// `now` is what [`Ledger::ask`](keyledger::Ledger::ask) says after settling: it knows until when the key protects, and who
    /// has won if the claim was lost.
    pub fn conclude(&self, status: u16, settled: &Settled, now: Result<Decision>) -> Conclusion {
        match settled {
            Settled::ByAdapter => Conclusion::Own(exposed(expiry(&now))),
            Settled::ByHandler => self.conclude_for_handler(status, now),
            Settled::Not(keyledger::Error::ClaimLost) => Conclusion::Instead(self.answer_lost(now)),
            Settled::Not(_) => Conclusion::Instead(exposing(self.not_available())),
        }
    }

    /// The field lines to add to a response that leaves before it is settled (H8, H16): when the key expires is not known yet.
    pub fn exposed() -> Fields {
        exposed(None)
    }

    /// The same for a handler that raised an error: what was stored, if it settled or lost its claim, otherwise a 500.
    pub fn conclude_failure(&self, settled: &Settled, now: Result<Decision>) -> Answer {
        match (settled, now) {
            (Settled::Not(keyledger::Error::ClaimLost), now) => self.answer_lost(now),
            (Settled::Not(_), _) => exposing(self.not_available()),
            (Settled::ByHandler, Ok(Decision::Replay(replay))) => exposing(stored(&replay)),
            (Settled::ByAdapter | Settled::ByHandler, Ok(Decision::Parked(_))) => {
                exposing(self.problem(Case::HandlerFailed).unknown().answer())
            }
            (Settled::ByAdapter | Settled::ByHandler, _) => exposing(self.answer(Case::HandlerFailed)),
        }
    }

    /// H14: what the handler stored is the answer. Where it stored none, its response stands if it tells no outcome either.
    fn conclude_for_handler(&self, status: u16, now: Result<Decision>) -> Conclusion {
        match now {
            Ok(Decision::Replay(replay)) => Conclusion::Instead(exposing(stored(&replay))),
            Ok(told) if self.tells_outcome(status) => Conclusion::Instead(self.answer_of(told)),
            Ok(_) => Conclusion::Own(exposed(None)),
            Err(_) => Conclusion::Instead(exposing(self.not_available())),
        }
    }

    fn tells_outcome(&self, status: u16) -> bool {
        match (self.keep)(status, keyledger::Effect::Repeatable) {
            Keep::Complete | Keep::Fail => true,
            Keep::Release | Keep::Park => false,
        }
    }

    /// H15: as `begin` would answer now; [`Ledger::ask`](keyledger::Ledger::ask) grants nothing.
    fn answer_lost(&self, now: Result<Decision>) -> Answer {
        match self.rule(now) {
            Ruling::Answer(answer) => answer,
            // Nothing is granted here: a claim that is dropped ends its lease.
            Ruling::Run(_) => exposing(self.not_available()),
        }
    }

    fn answer_of(&self, told: Decision) -> Answer {
        exposing(match told {
            Decision::Replay(replay) => stored(&replay).with_field(REPLAYED_FIELD, "true"),
            Decision::InProgress(running) => self.problem(Case::InProgress).until(&running).answer(),
            Decision::Mismatch => self.answer(Case::Mismatch),
            Decision::Parked(parked) => self.problem(Case::Parked).saying(parked.reason.as_str()).answer(),
            Decision::Gone => self.answer(Case::Gone),
            Decision::Acquired(_) => self.not_available(),
        })
    }
}

/// What is stored, as it is told again.
fn stored(replay: &Replay) -> Answer {
    let Stored { status, fields, body } = Stored::of_response(&replay.response, replay.outcome);
    let answer = match body {
        StoredBody::Kept(body) => Answer { status, fields, body },
        StoredBody::Omitted(known) => {
            let problem = Problem::of(Case::BodyOmitted, status).with_digest(known).answer();
            let told = fields.into_iter().filter(|(name, _)| !describes_body(name)).chain(problem.fields).collect();
            Answer { status, fields: told, body: problem.body }
        }
    };
    answer.with_field(EXPIRES_FIELD, http_date(replay.expires_at_ms))
}

/// Fields that belong to the body that was omitted, and not to the problem that stands for it.
fn describes_body(name: &str) -> bool {
    ["Content-Type", "Content-Encoding", "Content-Range", "Content-Language", "Content-Location", "ETag", "Digest"]
        .into_iter()
        .chain(["Content-Digest", "Repr-Digest", "Last-Modified", "Accept-Ranges"])
        .any(|own| name.eq_ignore_ascii_case(own))
}

fn expiry(now: &Result<Decision>) -> Option<u64> {
    match now {
        Ok(Decision::Replay(replay)) => Some(replay.expires_at_ms),
        Ok(_) | Err(_) => None,
    }
}

fn exposed(expires_at_ms: Option<u64>) -> Fields {
    let expiry = expires_at_ms.map(|at_ms| (EXPIRES_FIELD.to_owned(), http_date(at_ms).into_bytes()));
    expiry.into_iter().chain([(EXPOSE_FIELD.to_owned(), EXPOSED.as_bytes().to_vec())]).collect()
}

fn exposing(answer: Answer) -> Answer {
    answer.with_field(EXPOSE_FIELD, EXPOSED)
}
