//! The right to run an operation, held by one owner at a time under a lease.

mod pulse;
mod steps;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::codec::address::Address;
use crate::engine::{Engine, Errand, Granted, Session, Stepped};
use crate::error::{Error, Result};
use crate::key::{Key, KeyId};
use crate::limits::{stored_form, stored_response};
use crate::machine::record::{Record, Step};
use crate::machine::settle::Settlement;
use crate::operation::Effect;
use crate::response::Response;
use crate::transaction::{Batch, Transaction};

pub use pulse::Pulse;

/// A claim. Settle it with [`complete`](Claim::complete), [`fail`](Claim::fail), [`release`](Claim::release) or
/// [`park`](Claim::park); each consumes it, and gives it back in the error when settling failed.
///
/// Dropped without being settled, it ends its lease at once for everyone in the process, without I/O (S2); what happens to the
/// key next, its effect decides.
#[must_use = "a claim that is dropped without being settled ends its lease at once"]
pub struct Claim {
    engine: Arc<Engine>,
    address: Address,
    /// Shared with what [`take`](Claim::take) leaves behind.
    record: Arc<Record>,
    remembered_for_ms: u64,
    /// How this object ended.
    ended: Option<Ending>,
    lost: Arc<AtomicBool>,
}

/// How a claim object ended: dropping it ends nothing.
enum Ending {
    /// Nothing more can be done with it.
    Settled(Settlement),
    /// A completion is on its way to the disk. What else the claim is asked for comes after it, and is decided there.
    UnderWay(Arc<Errand>),
    Lost,
    /// Another object is the claim now.
    Taken,
}

/// Settling failed. The claim is in it, to be settled again (S6).
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub struct SettleError {
    /// The claim, as it was.
    pub claim: Box<Claim>,
    /// Why.
    pub source: Error,
}

impl From<SettleError> for Error {
    fn from(error: SettleError) -> Self {
        error.source
    }
}

/// Whether a claim is lost, for a handler that wants to stop early. Set by the heartbeat that is told so.
#[derive(Debug, Clone)]
pub struct LostSignal {
    lost: Arc<AtomicBool>,
}

impl LostSignal {
    /// Whether a heartbeat was told that the claim is somebody else's.
    pub fn is_set(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }
}

impl Claim {
    pub(crate) fn new(engine: Arc<Engine>, granted: Granted, remembered_for_ms: u64) -> Self {
        let address = granted.address().clone();
        let record: Arc<Record> = granted.deliver().into();
        engine.hold_claim(&address, record.fence);
        Self { engine, address, record, remembered_for_ms, ended: None, lost: Arc::default() }
    }

    /// Whose record this is a claim on.
    pub fn key_id(&self) -> &KeyId {
        &self.address.id
    }

    /// A number that strictly rises with every claim granted: hand it to whatever the operation writes to.
    pub fn fence(&self) -> u64 {
        self.record.fence
    }

    /// 1 for the first owner of this key id; higher when earlier owners were lost or released it.
    pub fn attempt(&self) -> u32 {
        self.record.attempt
    }

    /// The record's effect, the strictest that any granted begin has named (E1): errors go by it (S8).
    pub fn effect(&self) -> Effect {
        self.record.effect
    }

    /// For how long a lease of this claim lasts, from its grant or from a heartbeat.
    pub fn lease_time(&self) -> Duration {
        Duration::from_millis(self.record.retention.lease_ms)
    }

    /// Equal for all claims of one handle, and for no claims of two that are open: for bindings that do something once per ledger.
    pub fn ledger_number(&self) -> usize {
        Arc::as_ptr(&self.engine).addr()
    }

    /// What the caller of `begin` stored for whoever recovers the record.
    pub fn memo(&self) -> &[u8] {
        &self.record.memo
    }

    /// The steps that this and earlier attempts have recorded.
    pub fn steps(&self) -> &[Step] {
        &self.record.steps
    }

    /// When the key id was first granted: milliseconds since 1970-01-01 UTC.
    pub fn first_granted_at_ms(&self) -> u64 {
        self.record.first_granted.wall_ms
    }

    /// Repeatable: for how long the handler may still call out, since the downstream knows derived keys that long (E4).
    /// Zero: no longer. `None` for other effects.
    pub fn remaining(&self) -> Option<Duration> {
        self.pulse().remaining()
    }

    /// A key for a downstream call. It depends on key id and `name` alone, so it is equal on every attempt, in every language
    /// and on every machine (E3).
    pub fn derive_key(&self, name: &str) -> Key {
        self.address.id.derive_key(name)
    }

    /// Renews the lease from now, by the operation's own length.
    ///
    /// # Errors
    /// `ClaimLost`, which also sets the [`LostSignal`].
    pub fn heartbeat(&self) -> Result<()> {
        self.pulse().heartbeat()
    }

    /// Renews the lease from now.
    ///
    /// # Errors
    /// `InvalidArgument` for a lease of zero; `ClaimLost`, which also sets the [`LostSignal`].
    pub fn heartbeat_for(&self, lease: Duration) -> Result<()> {
        self.pulse().heartbeat_for(lease)
    }

    /// Tells whether a heartbeat has found the claim lost; may be given to another thread.
    pub fn lost_signal(&self) -> LostSignal {
        LostSignal { lost: self.lost.clone() }
    }

    /// It was done, and this is the answer. On return the answer is on disk, and is replayed from now on.
    ///
    /// # Errors
    /// `ClaimLost`: throw the result away. `TooLarge` for the media type. `Ambiguous`: `reopen` the ledger and call again (S6).
    pub fn complete(self, response: impl Into<Response>) -> Result<(), SettleError> {
        self.settle(Settlement::Complete(response.into()))
    }

    /// A final no, told again to every retry. On return it is on disk.
    ///
    /// # Errors
    /// As [`complete`](Claim::complete).
    pub fn fail(self, response: impl Into<Response>) -> Result<(), SettleError> {
        self.settle(Settlement::Fail(response.into()))
    }

    /// It surely did not happen: whoever comes next may run it. A recovery worker may say so **only when the old owner can no
    /// longer act**.
    ///
    /// # Errors
    /// As [`complete`](Claim::complete).
    pub fn release(self) -> Result<(), SettleError> {
        self.settle(Settlement::Release)
    }

    /// Nobody knows whether it happened: held for a person. On return that is on disk.
    ///
    /// # Errors
    /// As [`complete`](Claim::complete); `TooLarge` for a reason of more than 1 KiB.
    pub fn park(self, reason: impl Into<String>) -> Result<(), SettleError> {
        self.settle(Settlement::Park(reason.into()))
    }

    /// The four above as one, for whoever has the settlement as a value. The same errors.
    pub fn settle(mut self, settlement: Settlement) -> Result<(), SettleError> {
        match self.settle_in_place(settlement) {
            Ok(()) => Ok(()),
            Err(source) => Err(SettleError { claim: Box::new(self), source }),
        }
    }

    /// [`settle`](Claim::settle) without giving the claim away, for whoever only borrows it; [`settled`](Claim::settled) tells of it.
    ///
    /// # Errors
    /// As [`complete`](Claim::complete); the claim is as it was.
    #[tracing::instrument(level = "debug", name = "keyledger.settle", skip_all, fields(operation = %self.address.id.operation(), fence = self.record.fence))]
    pub fn settle_in_place(&mut self, settlement: Settlement) -> Result<()> {
        self.check_not_ended()?;
        let settlement = stored_form(settlement, self.engine.options)?;
        let settled = self.engine.settle(&self.address, self.fence(), settlement.clone()).map_err(Error::from);
        self.note_ending(&settled, settlement);
        settled
    }

    pub(crate) fn check_not_ended(&self) -> Result<()> {
        match self.ended {
            Some(Ending::Settled(_) | Ending::Taken) => Err(Error::ClaimSettled),
            Some(Ending::Lost) => Err(Error::ClaimLost),
            Some(Ending::UnderWay(_)) | None => Ok(()),
        }
    }

    /// Remembers how settling ended; after any other error the claim is as it was (S6).
    fn note_ending(&mut self, settled: &Result<()>, settlement: Settlement) {
        match settled {
            Ok(()) => self.ended = Some(Ending::Settled(settlement)),
            Err(Error::ClaimLost) => self.ended = Some(Ending::Lost),
            Err(_) => {}
        }
    }

    /// Stores rows of the caller's and the response that `f` returns in one transaction: either all of it, or none.
    ///
    /// The fence is checked first: if this fence has completed before, `f` is not run and the stored response is returned (G2).
    /// `f` runs at most once. While it runs, others wait: keep it short, and do not call the ledger from inside it.
    ///
    /// On `Ok` everything is on disk and the claim is settled. On `Err` nothing is stored and the claim is as it was.
    ///
    /// # Locks
    /// `f` holds this ledger's commit queue. Two ledgers whose closures call each other's crosswise wait for each other for ever:
    /// nest them in one order.
    ///
    /// # Errors
    /// Whatever `f` returns; `ClaimLost`; `ClaimSettled`; `Ambiguous`, after which `reopen` and the same call are safe (S6).
    #[tracing::instrument(level = "debug", name = "keyledger.complete_with", skip_all, fields(operation = %self.address.id.operation(), fence = self.record.fence))]
    pub fn complete_with<E>(
        &mut self,
        f: impl FnOnce(&mut Transaction<'_, '_>) -> Result<Response, E>,
    ) -> Result<Response, E>
    where
        E: From<Error> + Send + 'static,
    {
        let completion = self.completion(f)?;
        let response = self.engine.session_here(completion).map_err(Error::from)??;
        self.mark_settled(Settlement::Complete(response.clone()));
        Ok(response)
    }

    /// The work of `complete_with`, for the commit queue.
    pub(crate) fn completion<E, F>(
        &self,
        f: F,
    ) -> Result<impl FnOnce(&mut Session<'_>) -> Result<Response, E> + use<E, F>>
    where
        E: From<Error>,
        F: FnOnce(&mut Transaction<'_, '_>) -> Result<Response, E>,
    {
        self.check_not_ended()?;
        let (address, fence) = (self.address.clone(), self.fence());
        let options = self.engine.options;
        Ok(move |session: &mut Session<'_>| {
            if let Stepped::Done(response) = session.before_completing(&address, fence).map_err(Error::from)? {
                return Ok(response);
            }
            let response = stored_response(Transaction::run(session, f)?, options)?;
            session.settle(&address, fence, &Settlement::Complete(response.clone())).map_err(Error::from)?;
            Ok(response)
        })
    }

    /// [`complete_with`](Claim::complete_with) as a value: the batch and the response are stored together, or not at all.
    ///
    /// # Errors
    /// Those of the batch, and those of [`complete_with`](Claim::complete_with).
    pub fn complete_batch(&mut self, batch: &Batch, response: impl Into<Response>) -> Result<Response> {
        let response = response.into();
        self.complete_with(|tx| {
            tx.apply(batch)?;
            Ok(response)
        })
    }

    /// What this object was settled with, if it was: by [`complete_with`](Claim::complete_with), which only borrows it.
    pub fn settled(&self) -> Option<&Settlement> {
        match &self.ended {
            Some(Ending::Settled(settlement)) => Some(settlement),
            Some(Ending::UnderWay(_) | Ending::Lost | Ending::Taken) | None => None,
        }
    }

    /// Whether it is still to be settled, by this object: neither settled nor lost nor [taken](Claim::take), and no completion is under way.
    pub fn is_open(&self) -> bool {
        self.ended.is_none()
    }

    /// The claim as an object of its own, for bindings to languages in which nothing can be borrowed. What stays behind is used up: it
    /// answers `ClaimSettled`, and dropping it ends nothing.
    pub fn take(&mut self) -> Claim {
        Claim {
            engine: self.engine.clone(),
            address: self.address.clone(),
            record: self.record.clone(),
            remembered_for_ms: self.remembered_for_ms,
            ended: self.ended.replace(Ending::Taken),
            lost: self.lost.clone(),
        }
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// A recovery worker raised an error on an AtMostOnce record: it is parked as it was, and no less unknown (section 4).
    pub(crate) fn park_again(&mut self) -> Result<()> {
        self.engine.park_again(&self.address, self.fence())?;
        self.mark_settled(Settlement::Park(String::new()));
        Ok(())
    }

    /// A completion is on its way: should its future be dropped, this object must not end its lease before it has arrived.
    pub(crate) fn mark_under_way(&mut self, errand: Arc<Errand>) {
        self.ended = Some(Ending::UnderWay(errand));
    }

    /// The settlement is on disk: dropping this object ends nothing.
    pub(crate) fn mark_settled(&mut self, settlement: Settlement) {
        self.ended = Some(Ending::Settled(settlement));
    }

    /// What was on its way did not arrive: the claim is as it was.
    pub(crate) fn not_settled(&mut self) {
        self.ended = None;
    }

    /// A settlement that was on its way has ended like this.
    pub(crate) fn arrived(&mut self, settled: &Result<()>, settlement: Settlement) {
        self.ended = None;
        self.note_ending(settled, settlement);
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.engine.is_elsewhere() {
            return;
        }
        match &self.ended {
            None => self.engine.drop_claim(&self.address, self.record.fence),
            Some(Ending::Lost) => self.engine.let_go_of_claim(&self.address, self.record.fence),
            Some(Ending::UnderWay(errand)) => errand.abandon(),
            Some(Ending::Settled(_) | Ending::Taken) => {}
        }
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim")
            .field("key_id", &self.address.id)
            .field("fence", &self.record.fence)
            .field("attempt", &self.record.attempt)
            .field("effect", &self.record.effect)
            .finish_non_exhaustive()
    }
}
