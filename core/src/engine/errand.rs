//! Settlements under way, and what becomes of one that fails when nobody is left to hear of it (S2, S3, P6).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Engine, Owed, Phase};
use crate::codec::address::Address;
use crate::commit::Outcome;
use crate::machine::settle::Settlement;

/// A settlement on its way to the disk.
pub(crate) struct Errand {
    engine: Arc<Engine>,
    address: Address,
    fence: u64,
    /// What was to be stored; `None` where only a closure knows that, which has run for nothing if it was not stored.
    settlement: Option<Settlement>,
    state: Mutex<ErrandState>,
}

#[derive(Default)]
struct ErrandState {
    /// Nobody waits for it any more.
    abandoned: bool,
    failed: bool,
    /// The commit failed, and so told nothing about the claim; else the work itself said no.
    commit_failed: bool,
}

impl Errand {
    pub(crate) fn new(
        engine: &Arc<Engine>,
        address: &Address,
        fence: u64,
        settlement: Option<Settlement>,
    ) -> Arc<Self> {
        let (engine, address) = (engine.clone(), address.clone());
        Arc::new(Self { engine, address, fence, settlement, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, ErrandState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever waited for it has gone.
    pub(crate) fn abandon(&self) {
        let mut state = self.state();
        state.abandoned = true;
        self.make_good(&mut state);
    }

    /// It never left: the ledger was not open.
    pub(crate) fn refused(&self) {
        let mut state = self.state();
        (state.failed, state.commit_failed) = (true, true);
        self.make_good(&mut state);
    }

    /// Its commit has ended; `kept`: the work went well.
    pub(super) fn ended(&self, kept: bool, outcome: &Outcome) {
        let mut state = self.state();
        (state.failed, state.commit_failed) = (!kept || outcome.is_err(), outcome.is_err());
        self.make_good(&mut state);
    }

    /// It failed and nobody will hear of it: an outcome is owed, and a claim that nobody holds is over.
    fn make_good(&self, state: &mut ErrandState) {
        if !state.abandoned || !std::mem::take(&mut state.failed) {
            return;
        }
        let owed = self.settlement.as_ref().filter(|_| state.commit_failed);
        if let Some(settlement) = owed {
            self.engine.owe(Owed { address: self.address.clone(), fence: self.fence, settlement: settlement.clone() });
        }
        if owed.is_none() || self.engine.phase() == Phase::Open {
            self.engine.drop_claim(&self.address, self.fence);
        }
    }
}

impl Engine {
    pub(super) fn owe(&self, owed: Owed) {
        if self.phase() != Phase::Closed {
            self.owed.lock().unwrap_or_else(PoisonError::into_inner).push(owed);
        }
    }
}
