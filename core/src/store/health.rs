//! Whether a store still answers, shared between it and the snapshots that it handed out.

use std::sync::atomic::{AtomicU8, Ordering};

use super::StoreError;

const WELL: u8 = 0;
const POISONED: u8 = 1;
const CLOSED: u8 = 2;

/// Well, poisoned or closed. It never gets well again: whoever reopens starts with a new one.
#[derive(Debug, Default)]
pub(super) struct Health(AtomicU8);

impl Health {
    /// Ok, or the error that every call is answered with.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match self.0.load(Ordering::Acquire) {
            WELL => Ok(()),
            CLOSED => Err(StoreError::Closed),
            _ => Err(StoreError::Poisoned),
        }
    }

    /// From now on every call answers `Poisoned`. A closed store stays closed.
    pub(super) fn poison(&self) {
        let _ = self.0.compare_exchange(WELL, POISONED, Ordering::AcqRel, Ordering::Acquire);
    }

    /// From now on every call answers `Closed`.
    pub(super) fn close(&self) {
        self.0.store(CLOSED, Ordering::Release);
    }
}
