//! The same calls as futures that need no particular runtime (P1).
//!
//! Work that commits is queued when the call is made and led by a thread of the ledger's, so that no executor's thread waits for
//! a sync. Settling is not cancellable: a future that is dropped does not take its settlement back (S3). A `begin` whose future
//! is dropped releases the claim that it was granted.

use std::future::Future;

use super::Ledger;
use crate::begin::Begin;
use crate::claim::{Claim, SettleError};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::key::{Key, Scope};
use crate::limits::stored_form;
use crate::machine::settle::Settlement;
use crate::operation::Operation;
use crate::response::Response;
use crate::transaction::Transaction;

impl Ledger {
    /// [`begin`](Ledger::begin) as a future.
    ///
    /// # Errors
    /// As [`begin`](Ledger::begin).
    pub fn begin_async(
        &self,
        operation: &Operation,
        scope: &Scope,
        key: &Key,
        fingerprint: Fingerprint,
    ) -> impl Future<Output = Result<Decision>> + Send + 'static + use<> {
        self.begin_with_async(Begin::new(operation, scope, key, fingerprint))
    }

    /// [`begin_with`](Ledger::begin_with) as a future.
    ///
    /// # Errors
    /// As [`begin_with`](Ledger::begin_with).
    pub fn begin_with_async(&self, begin: Begin) -> impl Future<Output = Result<Decision>> + Send + 'static + use<> {
        let ledger = self.clone();
        async move {
            let asked = begin.check(&ledger.engine)?;
            let answer = ledger.engine.clone().begin_in_time(asked, begin.wait_ms()).await?;
            Ok(ledger.decision(answer, begin.operation()))
        }
    }

    /// [`transaction`](Ledger::transaction) as a future. The transaction is done even if the future is dropped.
    ///
    /// # Errors
    /// As [`transaction`](Ledger::transaction).
    pub fn transaction_async<T, E>(
        &self,
        f: impl FnOnce(&mut Transaction<'_, '_>) -> Result<T, E> + Send + 'static,
    ) -> impl Future<Output = Result<T, E>> + Send + 'static
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let ticket = self.engine.submit(move |session| Transaction::run(session, f));
        let engine = self.engine.clone();
        async move { engine.arrival(ticket).await.map_err(Error::from)? }
    }
}

impl Claim {
    /// [`complete`](Claim::complete) as a future.
    ///
    /// # Errors
    /// As [`complete`](Claim::complete).
    pub fn complete_async(
        self,
        response: impl Into<Response>,
    ) -> impl Future<Output = Result<(), SettleError>> + Send + 'static {
        self.settle_async(Settlement::Complete(response.into()))
    }

    /// [`fail`](Claim::fail) as a future.
    ///
    /// # Errors
    /// As [`fail`](Claim::fail).
    pub fn fail_async(
        self,
        response: impl Into<Response>,
    ) -> impl Future<Output = Result<(), SettleError>> + Send + 'static {
        self.settle_async(Settlement::Fail(response.into()))
    }

    /// [`release`](Claim::release) as a future.
    ///
    /// # Errors
    /// As [`release`](Claim::release).
    pub fn release_async(self) -> impl Future<Output = Result<(), SettleError>> + Send + 'static {
        self.settle_async(Settlement::Release)
    }

    /// [`park`](Claim::park) as a future.
    ///
    /// # Errors
    /// As [`park`](Claim::park).
    pub fn park_async(
        self,
        reason: impl Into<String>,
    ) -> impl Future<Output = Result<(), SettleError>> + Send + 'static {
        self.settle_async(Settlement::Park(reason.into()))
    }

    /// Queues the settlement now; the future only tells how it ended.
    fn settle_async(
        mut self,
        settlement: Settlement,
    ) -> impl Future<Output = Result<(), SettleError>> + Send + 'static {
        let settlement = stored_form(settlement, self.engine().options);
        let engine = self.engine().clone();
        let ticket = engine.submit_settle(self.address().clone(), self.fence(), settlement.clone());
        // The outcome is on its way: should this future be dropped, the claim must not end its lease before it.
        self.mark_settled(settlement);
        async move {
            match engine.arrival(ticket).await.and_then(|ended| ended) {
                Ok(()) => Ok(()),
                Err(error) => {
                    let source = Error::from(error);
                    if !matches!(source, Error::ClaimLost) {
                        self.unmark_settled();
                    }
                    Err(SettleError { claim: Box::new(self), source })
                }
            }
        }
    }
}
