//! Settling, heartbeats, steps, drops; by the claim object or by id and fence.

use std::time::Duration;

use keyledger::{Claim, SettleError};
use keyledger_harness::model::Code;

use super::{Driver, Verdict};
use crate::command::{Call, Pick, Via};
use crate::translate;

impl Driver {
    pub(super) fn settle(&mut self, pick: Pick, via: Via, call: &Call) -> Verdict {
        let (id, fence, real_fence) = self.picked(pick);
        let object = match via {
            Via::Claim => self.held(fence).and_then(Option::take),
            Via::Fence => None,
        };
        let seen = match object {
            Some(claim) => settle_object(claim, call),
            None => code_of(self.ledger.settle(&translate::id(&id), real_fence, translate::settlement(call))),
        };
        let expected = self.model.settle(&id, fence, &translate::model_settlement(call)).map_err(Code::as_str);
        self.same("settling", &seen, &expected)?;
        self.note(call_name(call), &seen);
        if seen.is_ok() {
            self.watch.ended(&id, fence);
        }
        Ok(())
    }

    pub(super) fn heartbeat(&mut self, pick: Pick, via: Via, lease: u64) -> Verdict {
        let (id, fence, real_fence) = self.picked(pick);
        let span = Duration::from_millis(lease);
        let by_object = match (via, self.held(fence)) {
            (Via::Claim, Some(Some(claim))) => Some(code_of(claim.heartbeat_for(span))),
            _ => None,
        };
        let seen = by_object.unwrap_or_else(|| code_of(self.ledger.heartbeat(&translate::id(&id), real_fence, span)));
        let expected = self.model.heartbeat(&id, fence, lease).map_err(Code::as_str);
        self.same("heartbeat", &seen, &expected)?;
        self.note("heartbeat", &seen);
        if seen.is_ok() {
            self.watch.renewed(&id, fence, lease, &self.model);
        }
        Ok(())
    }

    pub(super) fn record_step(&mut self, pick: Pick, via: Via, name: &str, value: &str) -> Verdict {
        let (id, fence, real_fence) = self.picked(pick);
        let by_object = match (via, self.held(fence)) {
            (Via::Claim, Some(Some(claim))) => Some(code_of(claim.record_step(name, value.as_bytes()))),
            _ => None,
        };
        let by_fence = || code_of(self.ledger.record_step(&translate::id(&id), real_fence, name, value.as_bytes()));
        let seen = by_object.unwrap_or_else(by_fence);
        let expected = self.model.record_step(&id, fence, name, value.as_bytes()).map_err(Code::as_str);
        self.note("step", &seen);
        self.same("step", &seen, &expected)
    }

    /// S2: only who still holds the object can drop it.
    pub(super) fn drop_claim(&mut self, pick: Pick) {
        let (id, fence, _) = self.picked(pick);
        if let Some(claim) = self.held(fence).and_then(Option::take) {
            drop(claim);
            self.model.drop_claim(&id, fence);
            self.watch.ended(&id, fence);
            self.watch.ended(&id, fence);
        }
    }
}

/// A claim that was told `ClaimLost` is of no more use: it is let go of.
fn settle_object(claim: Claim, call: &Call) -> Result<(), translate::Code> {
    let settled: Result<(), SettleError> = match call {
        Call::Complete(text) => claim.complete(translate::response(*text)),
        Call::Fail(text) => claim.fail(translate::response(*text)),
        Call::Release => claim.release(),
        Call::Park(words) => claim.park(*words),
    };
    settled.map_err(|error| translate::code(&error.source))
}

pub(super) fn code_of<T>(answer: Result<T, keyledger::Error>) -> Result<T, translate::Code> {
    answer.map_err(|error| translate::code(&error))
}

fn call_name(call: &Call) -> &'static str {
    match call {
        Call::Complete(_) => "complete",
        Call::Fail(_) => "fail",
        Call::Release => "release",
        Call::Park(_) => "park",
    }
}
