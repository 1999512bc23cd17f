//! What this process alone knows of the outbox: who waits for it, and which deliveries were dropped. All of it is lost with the
//! process, and may be.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::wake::Bell;

/// What this process alone knows of the outbox.
#[derive(Default)]
pub(crate) struct OutboxMemory {
    /// Who waits for a change.
    bells: Mutex<Vec<Arc<Bell>>>,
    /// Deliveries that were dropped without an outcome: id and fence.
    dropped: Mutex<Vec<(u64, u64)>>,
}

impl OutboxMemory {
    pub(crate) fn bells(&self) -> MutexGuard<'_, Vec<Arc<Bell>>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn dropped(&self) -> MutexGuard<'_, Vec<(u64, u64)>> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes everyone who waits; each looks again for itself.
    pub(crate) fn ring(&self) {
        self.bells().iter().for_each(|bell| bell.ring());
    }

    /// A delivery was dropped: whoever leases next ends its lease. No I/O.
    pub(crate) fn drop_delivery(&self, id: u64, fence: u64) {
        self.dropped().push((id, fence));
        self.ring();
    }
}
