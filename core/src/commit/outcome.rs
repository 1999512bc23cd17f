//! How work and its commit ended.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::overlay::Overlay;
use crate::store::{CommitError, StoreError};

/// What became of the commit that held a caller's work.
pub(crate) type Outcome = Result<(), Arc<CommitError>>;

/// What a caller gets back.
pub(crate) enum Ended<T, E> {
    /// The work and its commit went well.
    Stored(T),
    /// The work said no; nothing of it was stored.
    Refused(E),
    /// The work was played, but the commit that it was in failed.
    Failed(Arc<CommitError>),
    /// The work panicked; nothing of it was stored.
    Panicked(Box<dyn Any + Send>),
}

pub(super) type Played<T, E> = std::thread::Result<Result<T, E>>;

pub(super) fn poisoned() -> Arc<CommitError> {
    Arc::new(CommitError::Open(StoreError::Poisoned))
}

/// Plays `work` and keeps what it wrote only if it went well.
pub(super) fn play<T, E>(overlay: &mut Overlay, work: impl FnOnce(&mut Overlay) -> Result<T, E>) -> Played<T, E> {
    let played = catch_unwind(AssertUnwindSafe(|| work(overlay)));
    if matches!(played, Ok(Ok(_))) {
        overlay.keep();
    } else {
        overlay.discard();
    }
    played
}

pub(super) fn ended<T, E>(played: Played<T, E>, outcome: Outcome) -> Ended<T, E> {
    match (played, outcome) {
        (Err(panic), _) => Ended::Panicked(panic),
        // A child that a closure has forked has its own reasons, and leaves by them.
        (Ok(Err(error)), Err(lost)) if matches!(*lost, CommitError::Forked) => Ended::Refused(error),
        // What made the work say no may have been in the very batch that was lost.
        (Ok(_), Err(error)) => Ended::Failed(error),
        (Ok(Err(error)), Ok(())) => Ended::Refused(error),
        (Ok(Ok(value)), Ok(())) => Ended::Stored(value),
    }
}
