//! Which outcomes are kept, and how: from a response to a settlement (H6, H8).

use std::panic::{AssertUnwindSafe, catch_unwind};

use keyledger::{Effect, ErrorMeans, Outcome, Response, Settlement};

use crate::filter::kept;
use crate::message::{Answer, Digested, Stored, StoredBody};
use crate::route::Route;

/// How a claim is settled because of a response's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Keep {
    /// Stored, and replayed to every retry.
    Complete,
    /// The same, as a final no.
    Fail,
    /// It surely took no effect: a retry runs.
    Release,
    /// Nobody knows whether it took effect.
    Park,
}

impl Keep {
    /// What is meant by one of the words `complete`, `fail`, `release` and `park`.
    pub fn named(word: &str) -> Option<Self> {
        Some(match word {
            "complete" => Keep::Complete,
            "fail" => Keep::Fail,
            "release" => Keep::Release,
            "park" => Keep::Park,
            _ => return None,
        })
    }
}

/// The default: below 500 complete, except what was turned away before taking effect (401, 403, 409, 425, 429), which is
/// released; 500 and above, and 408, go by the effect (H6).
pub fn by_status(status: u16, effect: Effect) -> Keep {
    match status {
        408 | 500.. if effect == Effect::AtMostOnce => Keep::Park,
        401 | 403 | 408 | 409 | 425 | 429 | 500.. => Keep::Release,
        _ => Keep::Complete,
    }
}

/// The settlement as a ledger can store it that keeps at most `bytes_max` bytes of a response
/// ([`Ledger::max_response_bytes`](keyledger::Ledger::max_response_bytes)). What is longer the ledger would drop status and all (S4);
/// so only its body is left out, or, if the head alone is too long, its fields as well.
pub fn fitting(settlement: Settlement, bytes_max: usize) -> Settlement {
    let is_longer = |response: &Response| response.stored_bytes().is_some_and(|bytes| bytes.len() > bytes_max);
    let fit = |response: Response, outcome| {
        if is_longer(&response) {
            Stored::of_response(&response, outcome).to_response_within(bytes_max)
        } else {
            response
        }
    };
    match settlement {
        Settlement::Complete(response) => Settlement::Complete(fit(response, Outcome::Completed)),
        Settlement::Fail(response) => Settlement::Fail(fit(response, Outcome::Failed)),
        other => other,
    }
}

impl Route {
    /// What becomes of the claim of a handler that has answered. `effect` is the claim's.
    pub fn settlement(&self, effect: Effect, response: &Answer) -> Settlement {
        let body = if response.body.len() > self.body_bytes_max {
            StoredBody::Omitted(Some(Digested::of(&response.body)))
        } else {
            StoredBody::Kept(response.body.clone())
        };
        self.settlement_of(effect, response, body)
    }

    /// The same for a response that has passed the limit and goes on: `response.body` is what has come of it so far (H8).
    pub fn settlement_past_limit(&self, effect: Effect, response: &Answer) -> Settlement {
        self.settlement_of(effect, response, StoredBody::Omitted(None))
    }

    /// What becomes of the claim of a handler that raised an error, panicked, or whose response broke off (S8).
    pub fn settlement_of_failure(&self, effect: Effect) -> Settlement {
        ErrorMeans::ByEffect.settlement(effect)
    }

    fn settlement_of(&self, effect: Effect, response: &Answer, body: StoredBody) -> Settlement {
        let stored = |body| {
            let fields = kept(&response.fields, &self.not_kept);
            self.redacted(Stored { status: response.status, fields, body }).to_response()
        };
        match self.keep_by(response.status, effect) {
            Keep::Complete => Settlement::Complete(stored(body)),
            Keep::Fail => Settlement::Fail(stored(body)),
            Keep::Release => Settlement::Release,
            Keep::Park => Settlement::Park(format!("the handler answered {}", response.status)),
        }
    }

    /// A function that panics decides nothing: then it is as if there were none.
    pub(crate) fn keep_by(&self, status: u16, effect: Effect) -> Keep {
        catch_unwind(AssertUnwindSafe(|| (self.keep)(status, effect))).unwrap_or_else(|_| by_status(status, effect))
    }

    /// A hook that fails must not let out what it was to hide: nothing of the body is stored then, and its hash is not either.
    fn redacted(&self, stored: Stored) -> Stored {
        let Some(redact) = &self.redact else { return stored };
        let hidden = Stored { status: stored.status, fields: Vec::new(), body: StoredBody::Omitted(None) };
        let can_be_sent = |changed: &Stored| changed.status == hidden.status || (200..=599).contains(&changed.status);
        catch_unwind(AssertUnwindSafe(|| redact(stored))).ok().flatten().filter(can_be_sent).unwrap_or(hidden)
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Keep, Route, Stored, by_status};
    use keyledger::{Effect, Settlement};

    #[test]
    fn h6_statuses_are_kept_by_default_as_the_rule_says() {
        for status in [200, 201, 204, 301, 400, 404, 410, 422, 499] {
            assert_eq!(by_status(status, Effect::AtMostOnce), Keep::Complete, "{status}");
        }
        for status in [401, 403, 409, 425, 429] {
            assert_eq!(by_status(status, Effect::AtMostOnce), Keep::Release, "{status}");
        }
        for (effect, keep) in
            [(Effect::InLedger, Keep::Release), (Effect::Repeatable, Keep::Release), (Effect::AtMostOnce, Keep::Park)]
        {
            for status in [408, 500, 503] {
                assert_eq!(by_status(status, effect), keep, "{status}");
            }
        }
    }

    #[test]
    fn h5_a_redaction_that_fails_leaves_status_alone() {
        let secret = Answer::of_status(201).with_field("X-Secret", "s3cret").with_body("s3cret");
        for route in [
            Route::required(Effect::Repeatable).redact(|_| None),
            Route::required(Effect::Repeatable).redact(|_| panic!("the hook breaks")),
            Route::required(Effect::Repeatable).redact(|stored| Some(Stored { status: 42, ..stored })),
        ] {
            let Settlement::Complete(stored) = route.settlement(Effect::Repeatable, &secret) else { panic!("kept") };
            let text = String::from_utf8_lossy(stored.stored_bytes().unwrap_or_default()).into_owned();
            assert_eq!(text, "HTTP/1.1 201 \r\nKeyledger-Body-Omitted: ?1\r\n\r\n");
        }
    }
}
