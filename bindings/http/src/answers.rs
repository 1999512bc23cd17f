//! From what the ledger says to what goes over the wire (H4, H5, H11, H12, H14, H15).

use keyledger::{Claim, Decision, Outcome, Replay, Response, Result, Settlement};

use crate::date::http_date;
use crate::filter::kept;
use crate::keep::Keep;
use crate::message::{Answer, Digested, Fields, Stored, StoredBody};
use crate::problem::{Case, Problem};
use crate::route::Route;

/// The field that marks a replay.
pub const REPLAYED_FIELD: &str = "Idempotent-Replayed";
/// The field that tells how long the key protects.
pub const EXPIRES_FIELD: &str = "Idempotency-Key-Expires";
pub(crate) const EXPOSE_FIELD: &str = "Access-Control-Expose-Headers";
/// What a page's script may read of an answer (H16).
pub const EXPOSED: &str = "Idempotent-Replayed, Idempotency-Key-Expires, Retry-After";
/// Fields that the adapter alone says: what a handler says of them, which it may have from another server, is left out.
pub const OWN_FIELDS: [&str; 2] = [REPLAYED_FIELD, EXPIRES_FIELD];

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
    /// The handler itself; with what, where the claim tells ([`Claim::settled`]).
    ByHandler(Option<Settlement>),
    /// Nobody: settling was answered with this error.
    Not(keyledger::Error),
}

/// What is sent once the handler has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conclusion {
    /// The handler's own response, without its lines of [`OWN_FIELDS`], and with these field lines added.
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
            Err(_) => Ruling::Answer(self.not_available()),
        }
    }

    /// What to answer to the request whose handler has given a response of this status.
    ///
    /// `now` is what [`Ledger::ask`](keyledger::Ledger::ask) says after settling: it knows until when the key protects, and who
    /// has won if the claim was lost.
    pub fn conclude(&self, status: u16, settled: &Settled, now: Result<Decision>) -> Conclusion {
        match settled {
            Settled::ByAdapter => Conclusion::Own(exposed(expiry(&now))),
            Settled::ByHandler(told) => self.conclude_for_handler(status, told.as_ref(), now),
            Settled::Not(keyledger::Error::ClaimLost) => Conclusion::Instead(self.answer_lost(now)),
            Settled::Not(_) => Conclusion::Instead(self.not_available()),
        }
    }

    /// The field lines to add to a response that leaves before it is settled (H8, H16): when the key expires is not known yet.
    pub fn exposed() -> Fields {
        exposed(None)
    }

    /// The same for a handler that raised an error: what was stored, if it settled or lost its claim, otherwise a 500.
    pub fn conclude_failure(&self, settled: &Settled, now: Result<Decision>) -> Answer {
        let is_parked = matches!(now, Ok(Decision::Parked(_)));
        self.conclude_error(settled, now).unwrap_or_else(|| {
            let failed = self.problem(Case::HandlerFailed);
            if is_parked { failed.unknown().answer() } else { failed.answer() }
        })
    }

    /// The same for an error that something around the adapter turns into an answer: none, if that may go on.
    pub fn conclude_error(&self, settled: &Settled, now: Result<Decision>) -> Option<Answer> {
        match settled {
            Settled::ByAdapter => None,
            Settled::ByHandler(told) => self.told_by_handler(told.as_ref(), &now),
            Settled::Not(keyledger::Error::ClaimLost) => Some(self.answer_lost(now)),
            Settled::Not(_) => Some(self.not_available()),
        }
    }

    /// What who sends by the Fetch standard, whose responses have a status from 200 to 599, sends in place of an answer: the answer
    /// itself, or, where somebody has stored another status, the problem that stands for it.
    pub fn fetched(&self, answer: Answer) -> Answer {
        if (200..=599).contains(&answer.status) { answer } else { self.answer(Case::Unsendable) }
    }

    /// H14: what the handler stored is the answer. Where it stored none, its response stands if it tells no outcome either.
    fn conclude_for_handler(&self, status: u16, told: Option<&Settlement>, now: Result<Decision>) -> Conclusion {
        if let Some(answer) = self.told_by_handler(told, &now) {
            return Conclusion::Instead(answer);
        }
        match now {
            Ok(now) if self.tells_outcome(status) => Conclusion::Instead(self.answer_of(now)),
            Ok(_) => Conclusion::Own(exposed(None)),
            Err(_) => Conclusion::Instead(self.not_available()),
        }
    }

    /// What the handler has stored. With a retention of zero the claim alone knows it.
    fn told_by_handler(&self, told: Option<&Settlement>, now: &Result<Decision>) -> Option<Answer> {
        match (now, told) {
            (Ok(Decision::Replay(replay)), _) => Some(self.stored(replay)),
            (_, Some(Settlement::Complete(response))) => Some(self.stored_as(response, Outcome::Completed, None)),
            (_, Some(Settlement::Fail(response))) => Some(self.stored_as(response, Outcome::Failed, None)),
            (_, Some(_) | None) => None,
        }
    }

    fn tells_outcome(&self, status: u16) -> bool {
        match self.keep_by(status, keyledger::Effect::Repeatable) {
            Keep::Complete | Keep::Fail => true,
            Keep::Release | Keep::Park => false,
        }
    }

    /// H15: as `begin` would answer now; [`Ledger::ask`](keyledger::Ledger::ask) grants nothing.
    fn answer_lost(&self, now: Result<Decision>) -> Answer {
        match self.rule(now) {
            Ruling::Answer(answer) => answer,
            // Nothing is granted here: a claim that is dropped ends its lease.
            Ruling::Run(_) => self.not_available(),
        }
    }

    fn answer_of(&self, told: Decision) -> Answer {
        match told {
            Decision::Replay(replay) => self.stored(&replay).with_field(REPLAYED_FIELD, "true"),
            Decision::InProgress(running) => self.problem(Case::InProgress).until(&running).answer(),
            Decision::Mismatch => self.answer(Case::Mismatch),
            // Why it was parked is for the operator: it may say what no client is to know.
            Decision::Parked(_) => self.answer(Case::Parked),
            Decision::Gone => self.answer(Case::Gone),
            Decision::Acquired(_) => self.not_available(),
        }
    }

    /// What is stored, as it is told again.
    fn stored(&self, replay: &Replay) -> Answer {
        self.stored_as(&replay.response, replay.outcome, Some(replay.expires_at_ms))
    }

    /// Whoever stored it, what must not be told again is not. In the order of a first answer.
    fn stored_as(&self, response: &Response, outcome: Outcome, expires_at_ms: Option<u64>) -> Answer {
        let Stored { status, fields, body } = Stored::of_response(response, outcome);
        let fields = kept(&fields, &self.not_kept);
        let mut answer = match body {
            _ if has_no_body(status) => Answer { status, fields, body: Vec::new() },
            StoredBody::Kept(body) => Answer { status, fields, body },
            StoredBody::Omitted(known) => omitted(status, fields, known),
        };
        answer.fields.extend(exposed(expires_at_ms));
        answer
    }
}

/// The problem that stands for a body that was not kept.
fn omitted(status: u16, fields: Fields, known: Option<Digested>) -> Answer {
    let mut answer = Problem::of(Case::BodyOmitted, status).with_digest(known).answer();
    answer.fields.retain(|(name, _)| name != EXPOSE_FIELD);
    answer.fields = fields.into_iter().filter(|(name, _)| !describes_body(name)).chain(answer.fields).collect();
    answer
}

/// Statuses whose responses end with their head (RFC 9110, sections 15.2, 15.3.5, 15.3.6 and 15.4.5).
fn has_no_body(status: u16) -> bool {
    matches!(status, 100..=199 | 204 | 205 | 304)
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

#[cfg(test)]
mod tests {
    use super::{Outcome, Response, Route};
    use crate::message::MEDIA_TYPE;
    use keyledger::Effect;

    #[test]
    fn h5_what_another_has_stored_is_told_without_what_is_never_kept() {
        let fields = "Set-Cookie: a=1\r\nContent-Length: 9\r\nDate: x\r\nX-Mine: 1\r\nA: b\r\n";
        let stored = Response::new(MEDIA_TYPE, format!("HTTP/1.1 201 Created\r\n{fields}\r\nbody"));
        let route = Route::required(Effect::Repeatable).not_kept("x-mine").unwrap();
        let answer = route.stored_as(&stored, Outcome::Completed, None);
        let names: Vec<&str> = answer.fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((answer.status, names), (201, vec!["A", "Access-Control-Expose-Headers"]));
    }
}
