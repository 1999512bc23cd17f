//! One key id as the model has it, with what is known of its lease's end.
//!
//! The clock that a call was judged by was read between its beginning and its end; nobody knows when. So the end of a lease is
//! known as an interval, which each answer narrows. The model has a time of its own: it stands still, and moves to the end of a
//! lease when a call has found that over.

use super::{Act, Answer, Call, How, effect};
use crate::model::{Begin, Code, Decision, Effect, Fence, Fingerprint, Id, Model, Operation, Response, Settlement};

/// What the calls up to here have made of a key id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spec {
    model: Model,
    /// The real fences of the grants, in order: the model numbers its own from 1. `None`: the caller never heard.
    fences: Vec<Option<u64>>,
    /// The lease ends between these two, both included, by the ledger's clock.
    lease_end: (u64, u64),
}

impl Spec {
    pub(super) fn new(is_shared: bool) -> Spec {
        let model = if is_shared { Model::shared(0, 0) } else { Model::new(0, 0) };
        Spec { model, fences: Vec::new(), lease_end: (0, 0) }
    }

    /// What it may be after `act`: nothing, if the answer is not one that the model could give now.
    pub(super) fn after(&self, act: &Act) -> Vec<Spec> {
        match &act.call {
            Call::Begin { effect: name, lease_ms, max_attempts, asks } => {
                let call = begin(&act.id, effect(name), *lease_ms, *max_attempts, *asks);
                // A mismatch is told whether or not the lease is over.
                let found = match act.answer {
                    Some(Answer::Mismatch) => [Some(self.clone()), None],
                    _ => [self.while_leased(act), self.when_lapsed(act)],
                };
                found.into_iter().flatten().filter_map(|spec| spec.begun(&call, act)).collect()
            }
            Call::Settle { fence, how } => self.settled(act, *fence, how).into_iter().collect(),
            Call::Heartbeat { fence, lease_ms } => self.renewed(act, *fence, *lease_ms).into_iter().collect(),
        }
    }

    /// As a `begin` finds it whose clock was before the lease's end; or with no lease at all.
    fn while_leased(&self, act: &Act) -> Option<Spec> {
        if self.lease_left(&act.id).is_none() {
            return Some(self.clone());
        }
        let lease_end = (self.lease_end.0.max(act.clock.0.saturating_add(1)), self.lease_end.1);
        (lease_end.0 <= lease_end.1).then(|| Spec { lease_end, ..self.clone() })
    }

    /// As a `begin` finds it whose clock was at the lease's end or after it.
    fn when_lapsed(&self, act: &Act) -> Option<Spec> {
        let left = self.lease_left(&act.id)?;
        let mut lapsed = self.clone();
        lapsed.model.advance(left);
        (self.lease_end.0 <= act.clock.1).then_some(lapsed)
    }

    /// How long the lease has still to go by the model's own time.
    fn lease_left(&self, id: &Id) -> Option<u64> {
        let end = self.model.inspect(id)?.lease_end?;
        end.checked_sub(self.model.wall)
    }

    fn begun(mut self, call: &Begin, act: &Act) -> Option<Spec> {
        let decision = self.model.begin(call);
        if let Some(answer) = &act.answer
            && !is_alike(&decision, answer)
        {
            return None;
        }
        if let Decision::Acquired(_) = decision {
            self.lease_end = lease(act, call.operation.lease);
            let fence = match act.answer {
                Some(Answer::Acquired { fence, .. }) => Some(fence),
                _ => None,
            };
            // I5.
            if fence.is_some_and(|fence| self.fences.iter().flatten().any(|earlier| *earlier >= fence)) {
                return None;
            }
            self.fences.push(fence);
        }
        Some(self)
    }

    fn settled(&self, act: &Act, fence: u64, how: &How) -> Option<Spec> {
        let mut next = self.clone();
        let settlement = match how {
            How::Complete(body) => Settlement::Complete(response(body)),
            How::Fail(body) => Settlement::Fail(response(body)),
            How::Release => Settlement::Release,
            How::Park(reason) => Settlement::Park(reason.clone()),
        };
        let told = next.model.settle(&act.id, self.model_fence(fence), &settlement);
        if next.lease_left(&act.id).is_none() {
            next.lease_end = (0, 0);
        }
        is_answered(told, act).then_some(next)
    }

    fn renewed(&self, act: &Act, fence: u64, lease_ms: u64) -> Option<Spec> {
        let mut next = self.clone();
        let told = next.model.heartbeat(&act.id, self.model_fence(fence), lease_ms);
        if told.is_ok() {
            next.lease_end = lease(act, lease_ms);
        }
        is_answered(told, act).then_some(next)
    }

    fn model_fence(&self, fence: u64) -> Fence {
        let place = self.fences.iter().position(|granted| *granted == Some(fence));
        place.map_or(Fence::MAX, |place| place as Fence + 1)
    }
}

/// A lease that an act has begun ends between these two.
fn lease(act: &Act, lease_ms: u64) -> (u64, u64) {
    (act.clock.0.saturating_add(lease_ms), act.clock.1.saturating_add(lease_ms))
}

// Histories are short: nothing in them is as old as a retention or as E4's window.
fn begin(id: &Id, effect: Effect, lease: u64, max_attempts: u32, asks: u8) -> Begin {
    let operation = Operation {
        name: id.operation.clone(),
        effect,
        lease,
        retention: u64::MAX,
        tombstone: u64::MAX,
        remembered_for: u64::MAX,
        max_attempts,
    };
    let (scope, key, memo) = (id.scope.clone(), id.key.clone(), Vec::new());
    Begin { operation, scope, key, fingerprint: Fingerprint::Value(asks), memo }
}

fn response(body: &str) -> Response {
    Response { media_type: String::new(), body: body.into() }
}

fn is_alike(decision: &Decision, answer: &Answer) -> bool {
    match (decision, answer) {
        (Decision::Acquired(granted), Answer::Acquired { attempt, .. }) => granted.attempt == *attempt,
        (Decision::InProgress { .. }, Answer::InProgress)
        | (Decision::Mismatch, Answer::Mismatch)
        | (Decision::Gone, Answer::Gone) => true,
        (Decision::Replay { response: stored, failed, .. }, Answer::Completed(body)) => {
            !failed && *stored == response(body)
        }
        (Decision::Replay { response: stored, failed, .. }, Answer::Failed(body)) => {
            *failed && *stored == response(body)
        }
        (Decision::Parked { reason, .. }, Answer::Parked(told)) => reason.as_str() == told,
        _ => false,
    }
}

fn is_answered(told: Result<(), Code>, act: &Act) -> bool {
    match &act.answer {
        None => true,
        Some(answer) => *answer == if told.is_ok() { Answer::Done } else { Answer::ClaimLost },
    }
}
