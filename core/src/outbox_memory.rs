//! What this process alone knows of the outbox: who waits for it, and which deliveries were dropped. All of it is lost with the
//! process, and may be.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::outbox::OutboxTerms;
use crate::wake::Bell;

/// What this process alone knows of the outbox.
#[derive(Default)]
pub(crate) struct OutboxMemory {
    /// Who waits for a change.
    bells: Mutex<Vec<Arc<Bell>>>,
    /// Deliveries that were dropped without an outcome.
    dropped: Mutex<Vec<Dropped>>,
    /// What the program last opened its outbox with.
    terms: Mutex<Option<OutboxTerms>>,
    /// Entries whose last try got no answer, by their numbers.
    unanswered: Mutex<HashMap<u64, Unanswered>>,
}

/// An entry whose last try got no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// It waits for its backoff after the try with that fence.
    Waits(u64),
    /// It was brought forward. If that is no use either it waits like others.
    BroughtForward,
}

/// A delivery that was dropped without an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dropped {
    pub(crate) id: u64,
    pub(crate) fence: u64,
    /// When, as the monotonic clock showed it.
    pub(crate) at_mono_ms: u64,
}

impl OutboxMemory {
    pub(crate) fn bells(&self) -> MutexGuard<'_, Vec<Arc<Bell>>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn dropped(&self) -> MutexGuard<'_, Vec<Dropped>> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The terms that the program has opened its outbox with; the defaults where it has opened none.
    pub(crate) fn terms(&self) -> OutboxTerms {
        self.terms.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or(OutboxTerms::DEFAULT)
    }

    /// The program has opened its outbox with these.
    pub(crate) fn opened_with(&self, terms: OutboxTerms) {
        *self.terms.lock().unwrap_or_else(PoisonError::into_inner) = Some(terms);
    }

    /// Wakes everyone who waits; each looks again for itself.
    pub(crate) fn ring(&self) {
        self.bells().iter().for_each(|bell| bell.ring());
    }

    /// The leases of these are over on disk.
    pub(crate) fn took_back(&self, over: &[Dropped]) {
        self.dropped().retain(|dropped| !over.contains(dropped));
    }

    /// A try with that fence got no answer.
    pub(crate) fn got_no_answer(&self, id: u64, fence: u64) {
        let mut unanswered = self.unanswered();
        if unanswered.remove(&id) != Some(Unanswered::BroughtForward) {
            unanswered.insert(id, Unanswered::Waits(fence));
        }
    }

    /// An answer came, or it ended otherwise.
    pub(crate) fn waits_no_more(&self, id: u64) {
        self.unanswered().remove(&id);
    }

    pub(crate) fn unanswered(&self) -> MutexGuard<'_, HashMap<u64, Unanswered>> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A delivery was dropped: whoever leases next ends its lease. No I/O.
    pub(crate) fn drop_delivery(&self, dropped: Dropped) {
        self.dropped().push(dropped);
        self.ring();
    }
}
