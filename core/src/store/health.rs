//! Whether a store still answers, shared between it and the snapshots that it handed out.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use super::StoreError;

const WELL: u8 = 0;
const POISONED: u8 = 1;
const CLOSED: u8 = 2;

/// Well, poisoned or closed. It never gets well again: whoever reopens starts with a new one.
#[derive(Debug, Default)]
pub(super) struct Health {
    state: AtomicU8,
    /// What went wrong where no caller waited, until one is told.
    cause: Mutex<Option<StoreError>>,
}

impl Health {
    /// Ok, or the error that every call is answered with.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match self.state.load(Ordering::Acquire) {
            WELL => Ok(()),
            CLOSED => Err(StoreError::Closed),
            _ => Err(self.cause.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or(StoreError::Poisoned)),
        }
    }

    pub(super) fn is_well(&self) -> bool {
        self.state.load(Ordering::Acquire) == WELL
    }

    /// As `poison`; the next call is answered with the cause itself.
    pub(super) fn poison_by(&self, cause: StoreError) {
        *self.cause.lock().unwrap_or_else(PoisonError::into_inner) = Some(cause);
        self.poison();
    }

    /// From now on every call answers `Poisoned`. A closed store stays closed.
    pub(super) fn poison(&self) {
        let _ = self.state.compare_exchange(WELL, POISONED, Ordering::AcqRel, Ordering::Acquire);
    }

    /// From now on every call answers `Closed`.
    pub(super) fn close(&self) {
        self.state.store(CLOSED, Ordering::Release);
    }
}
