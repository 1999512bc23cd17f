//! A batch that is being led. However its leader is left, by a panic or by what a host throws through it, nobody waits for ever.

use std::sync::Arc;

use super::outcome::{Outcome, poisoned};
use super::place::Seat;
use crate::process::Owner;
use crate::store::CommitError;

/// Dropped, it tells everybody in the batch how it ended, and hands the lead on.
pub(super) struct Led<'a> {
    owner: &'a Owner,
    hand_on: &'a dyn Fn(),
    /// Of the leader itself; called once.
    after: Option<&'a mut dyn FnMut(&Outcome)>,
    pub(super) followers: Vec<Arc<dyn Seat>>,
    /// How many of them know how it ended.
    ended: usize,
    /// Until the commit has come back nobody knows whether it was stored.
    outcome: Outcome,
}

impl<'a> Led<'a> {
    pub(super) fn new(owner: &'a Owner, hand_on: &'a dyn Fn(), after: &'a mut dyn FnMut(&Outcome)) -> Self {
        Self { owner, hand_on, after: Some(after), followers: Vec::new(), ended: 0, outcome: Err(poisoned()) }
    }

    pub(super) fn end(mut self, outcome: Outcome) -> Outcome {
        if self.owner.is_elsewhere() {
            return Err(Arc::new(CommitError::Forked));
        }
        self.outcome.clone_from(&outcome);
        self.end_all();
        outcome
    }

    /// Goes on where it was left: nobody is ended twice.
    fn end_all(&mut self) {
        if let Some(after) = self.after.take() {
            after(&self.outcome);
        }
        while let Some(follower) = self.followers.get(self.ended) {
            self.ended += 1;
            follower.end(&self.outcome);
        }
    }
}

impl Drop for Led<'_> {
    fn drop(&mut self) {
        if self.owner.is_elsewhere() {
            return;
        }
        self.end_all();
        (self.hand_on)();
        for follower in &self.followers {
            follower.tell();
        }
    }
}
