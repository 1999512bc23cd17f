//! Ending claims, keeping them alive, and their steps.

use std::sync::Arc;

use super::job::Ticket;
use super::{Engine, EngineError, Errand, Found, Session, find};
use crate::codec::address::Address;
use crate::machine::record::{AuditEntry, Lease, Record, Stamp, State, Step};
use crate::machine::recover::is_lapsed;
use crate::machine::settle::{
    Beat, Resolution, Settled, Settlement, StepVerdict, heartbeat, park_again, record_step, resolve, settle,
};
use crate::response::Response;
use crate::volatile::Slot;

/// What `complete_with` finds before it runs anything (G2).
pub(crate) enum Stepped {
    /// The claim can be completed: run the closure.
    Ready,
    /// This fence has completed already, with this response.
    Done(Response),
}

impl Engine {
    /// Settles the claim with this fence. On return the outcome is on disk.
    pub(crate) fn settle(
        self: &Arc<Self>,
        address: &Address,
        fence: u64,
        settlement: Settlement,
    ) -> Result<(), EngineError> {
        let address = address.clone();
        self.session(move |session| session.settle(&address, fence, &settlement))
    }

    /// The same for a future: it is done even if the ticket is thrown away (S3), and the errand told so makes good for it if it
    /// fails.
    pub(crate) fn submit_settle(
        self: &Arc<Self>,
        errand: Arc<Errand>,
        address: Address,
        fence: u64,
        settlement: Settlement,
    ) -> Ticket<(), EngineError> {
        self.submit_errand(errand, move |session| session.settle(&address, fence, &settlement))
    }

    /// Releases a claim for nobody.
    pub(super) fn release_undelivered(self: &Arc<Self>, address: &Address, fence: u64) {
        let errand = Errand::new(self, address, fence, Some(Settlement::Release));
        errand.abandon();
        drop(self.submit_settle(errand, address.clone(), fence, Settlement::Release));
    }

    /// Renews the lease: in memory, without a commit; on disk where other processes must see it (section 4). While a commit in
    /// hand may take the claim over, only it decides.
    pub(crate) fn heartbeat(self: &Arc<Self>, address: &Address, fence: u64, lease_ms: u64) -> Result<(), EngineError> {
        self.check_open()?;
        let decided = self.memory.with(address, |slot| -> Result<bool, EngineError> {
            if slot.commits > 0 || self.is_shared() {
                return Ok(false);
            }
            let (snapshot, now) = (self.snapshot()?, self.now());
            let found = find(&*snapshot, address, slot.glimpse(), now)?;
            beat(slot, found.record(), fence, lease_ms, now).map(|()| true)
        })?;
        if decided {
            return Ok(());
        }
        let address = address.clone();
        self.session(move |session| session.heartbeat(&address, fence, lease_ms))
    }

    /// Stores a step's result. On return it is on disk.
    pub(crate) fn record_step(self: &Arc<Self>, address: &Address, fence: u64, step: Step) -> Result<(), EngineError> {
        let address = address.clone();
        self.session(move |session| session.record_step(&address, fence, &step))
    }

    /// Somebody has the claim object from now on.
    pub(crate) fn hold_claim(&self, address: &Address, fence: u64) {
        self.memory.with(address, |slot| slot.witness.held = Some(fence));
    }

    /// The claim object is gone, and so is the claim.
    pub(crate) fn let_go_of_claim(&self, address: &Address, fence: u64) {
        self.memory.with_existing(&address.row, |slot| {
            slot.witness.held.take_if(|held| *held == fence);
        });
    }

    /// S2: the claim object was dropped unsettled: ends its lease at once for everyone in this process, without I/O. If the
    /// record was settled by its id meanwhile, nobody holds that fence any more and there is nothing to end.
    pub(crate) fn drop_claim(&self, address: &Address, fence: u64) {
        self.memory.with_existing(&address.row, |slot| {
            if slot.witness.held.take_if(|held| *held == fence).is_some() {
                slot.witness.dropped = slot.witness.dropped.max(Some(fence));
                slot.wake();
            }
        });
    }

    /// A recovery worker's claim never reached it: the lease that it was granted is over.
    pub(crate) fn drop_undelivered(&self, address: &Address, fence: u64) {
        self.memory.with(address, |slot| {
            slot.witness.dropped = slot.witness.dropped.max(Some(fence));
            slot.wake();
        });
    }

    /// Parks a record that a recovery worker could not settle, as it was parked before.
    pub(crate) fn park_again(self: &Arc<Self>, address: &Address, fence: u64) -> Result<(), EngineError> {
        let address = address.clone();
        self.session(move |session| session.park_again(&address, fence))
    }

    /// A person settles a parked record.
    pub(crate) fn resolve(
        self: &Arc<Self>,
        address: &Address,
        fence: u64,
        resolution: Resolution,
        who: String,
        note: String,
    ) -> Result<(), EngineError> {
        let address = address.clone();
        self.session(move |session| session.resolve(&address, fence, &resolution, &who, &note))
    }
}

/// Renews a lease in memory, if the claim is still this fence's.
fn beat(slot: &mut Slot, record: Option<&Record>, fence: u64, lease_ms: u64, now: Stamp) -> Result<(), EngineError> {
    match heartbeat(record, fence, lease_ms, now) {
        Beat::Renewed(lease) => {
            slot.witness.renewed = Some((fence, lease));
            slot.witness.dropped.take_if(|dropped| *dropped >= fence);
            Ok(())
        }
        Beat::Lost => Err(EngineError::ClaimLost),
    }
}

impl Session<'_> {
    fn heartbeat(&mut self, address: &Address, fence: u64, lease_ms: u64) -> Result<(), EngineError> {
        let (found, _) = self.find(address)?;
        let now = self.now;
        self.engine.memory.with(address, |slot| beat(slot, found.record(), fence, lease_ms, now))?;
        if self.engine.is_shared() {
            self.store_lease(address, fence, Lease { from: now, ms: lease_ms })?;
        }
        Ok(())
    }

    /// Settles the claim with this fence; decided on what is on disk now.
    pub(crate) fn settle(&mut self, address: &Address, fence: u64, settlement: &Settlement) -> Result<(), EngineError> {
        let (found, _) = self.find(address)?;
        match settle(found.record(), fence, settlement, self.now) {
            Settled::Store(_) if found.is_volatile() && *settlement == Settlement::Release => {
                self.leave_memory(address, fence);
                Ok(())
            }
            settled => self.store(address, &found, settled, EngineError::ClaimLost),
        }
    }

    /// Writes what settling came to; `lost` is the answer where it came to nothing.
    fn store(
        &mut self,
        address: &Address,
        found: &Found,
        settled: Settled,
        lost: EngineError,
    ) -> Result<(), EngineError> {
        match settled {
            Settled::Store(record) => self.write(address, found.stored.as_ref(), Some(&record)),
            Settled::Already => Ok(()),
            Settled::Lost => Err(lost),
        }
    }

    /// G2: the fence is checked before anything runs.
    pub(crate) fn before_completing(&mut self, address: &Address, fence: u64) -> Result<Stepped, EngineError> {
        let (found, _) = self.find(address)?;
        let probe = Settlement::Complete(Response::empty());
        match (settle(found.record(), fence, &probe, self.now), found.record().map(|record| &record.state)) {
            (Settled::Store(_), _) => Ok(Stepped::Ready),
            (Settled::Already | Settled::Lost, Some(State::Completed(response, _)))
                if found.record().is_some_and(|record| record.fence == fence) =>
            {
                Ok(Stepped::Done(response.clone()))
            }
            (Settled::Already | Settled::Lost, _) => Err(EngineError::ClaimLost),
        }
    }

    fn park_again(&mut self, address: &Address, fence: u64) -> Result<(), EngineError> {
        let (found, _) = self.find(address)?;
        let settled = park_again(found.record(), fence, self.now);
        self.store(address, &found, settled, EngineError::ClaimLost)
    }

    pub(crate) fn record_step(&mut self, address: &Address, fence: u64, step: &Step) -> Result<(), EngineError> {
        let (found, _) = self.find(address)?;
        let bytes_max = self.engine.options.max_response_bytes;
        match record_step(found.record(), fence, step, bytes_max) {
            StepVerdict::Store(record) => self.write(address, found.stored.as_ref(), Some(&record)),
            StepVerdict::Already => Ok(()),
            StepVerdict::OtherValue => Err(EngineError::StepDiffers),
            StepVerdict::Refused => Err(EngineError::StepRefused),
            StepVerdict::TooLarge(bytes) => Err(EngineError::StepsTooLarge { bytes, bytes_max }),
            StepVerdict::Lost => Err(EngineError::ClaimLost),
        }
    }

    pub(crate) fn resolve(
        &mut self,
        address: &Address,
        fence: u64,
        resolution: &Resolution,
        who: &str,
        note: &str,
    ) -> Result<(), EngineError> {
        let (found, witness) = self.find(address)?;
        let lapsed = found.record().is_some_and(|record| is_lapsed(record, &witness, self.now));
        let decided = AuditEntry {
            at_ms: self.now.wall_ms,
            outcome: resolution.as_str().to_owned(),
            who: who.to_owned(),
            note: note.to_owned(),
        };
        let settled = resolve(found.record(), lapsed, fence, resolution, decided, self.now);
        self.store(address, &found, settled, EngineError::NotParked)
    }

    /// Stores a lease that was renewed in memory, so that whoever opens the file next judges by it (P6, P7).
    pub(super) fn store_lease(&mut self, address: &Address, fence: u64, lease: Lease) -> Result<(), EngineError> {
        let (found, _) = self.find(address)?;
        let goes_on = |record: &&Record| record.fence == fence && matches!(record.state, State::InProgress { .. });
        if let Some(record) = found.stored.as_ref().filter(goes_on) {
            let renewed = crate::machine::settle::with_lease(record, lease);
            self.write(address, Some(record), Some(&renewed))?;
        }
        Ok(())
    }
}
