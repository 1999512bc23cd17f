//! The same calls as futures that need no particular runtime (P1).
//!
//! Work that commits is queued when the call is made and led by a thread of the ledger's, so that no executor's thread waits for
//! a sync. Settling is not cancellable: a future that is dropped does not take its settlement back (S3). A `begin` whose future
//! is dropped releases the claim that it was granted.

use std::future::Future;

use super::Forgotten;
use super::Ledger;
use crate::begin::{Begin, operation_name, valid_terms};
use crate::claim::{Claim, SettleError};
use crate::decision::Decision;
use crate::engine::{Asked, EngineError, Errand, Session};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::key::{Key, KeyId, Scope};
use crate::limits::{check_person, check_step, stored_form, stored_resolution};
use crate::machine::record::Step;
use crate::machine::settle::{Resolution, Settlement};
use crate::operation::Operation;
use crate::queued::Queued;
use crate::response::Response;
use crate::sweep::Swept;
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
            let asked = begin.check(ledger.engine())?;
            let answer = ledger.engine().clone().begin_in_time(asked, begin.wait_time()).await?;
            Ok(ledger.decision(answer, begin.operation()))
        }
    }

    /// [`begin_many`](Ledger::begin_many) as a future.
    ///
    /// # Errors
    /// As [`begin_many`](Ledger::begin_many).
    pub fn begin_many_async(
        &self,
        begins: Vec<Begin>,
    ) -> impl Future<Output = Result<Vec<Decision>>> + Send + 'static + use<> {
        let ledger = self.clone();
        async move {
            let asked = begins.iter().map(|begin| begin.check(ledger.engine())).collect::<Result<Vec<Asked>>>()?;
            let work = move |session: &mut Session<'_>| {
                asked.iter().map(|asked| session.begin(asked)).collect::<Result<Vec<_>, _>>()
            };
            let answers = ledger.queued(work).await?;
            let decide = |(answer, begin): (_, &Begin)| ledger.decision(answer, begin.operation());
            Ok(answers.into_iter().zip(&begins).map(decide).collect())
        }
    }

    /// [`settle`](Ledger::settle) as a future. It is settled even if the future is dropped.
    ///
    /// # Errors
    /// As [`settle`](Ledger::settle).
    pub fn settle_async(
        &self,
        id: &KeyId,
        fence: u64,
        settlement: Settlement,
    ) -> impl Future<Output = Result<()>> + Send + 'static + use<> {
        let address = self.engine().address(id.clone());
        let settlement = stored_form(settlement, self.engine().options);
        self.queued_if(
            settlement.map(|settlement| move |session: &mut Session<'_>| session.settle(&address, fence, &settlement)),
        )
    }

    /// [`record_step`](Ledger::record_step) as a future. It is recorded even if the future is dropped.
    ///
    /// # Errors
    /// As [`record_step`](Ledger::record_step).
    pub fn record_step_async<V: Into<Vec<u8>>>(
        &self,
        id: &KeyId,
        fence: u64,
        name: &str,
        value: V,
    ) -> impl Future<Output = Result<()>> + Send + 'static + use<V> {
        let (address, step) = (self.engine().address(id.clone()), Step { name: name.to_owned(), value: value.into() });
        let valid = check_step(&step, self.engine().options);
        self.queued_if(valid.map(|()| move |session: &mut Session<'_>| session.record_step(&address, fence, &step)))
    }

    /// [`recover`](Ledger::recover) as a future. Claims that it was to hand out when it is dropped end their leases at once.
    ///
    /// # Errors
    /// As [`recover`](Ledger::recover).
    pub fn recover_async(
        &self,
        operation: &Operation,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Claim>>> + Send + 'static + use<> {
        let (ledger, name, terms) = (self.clone(), operation_name(operation), valid_terms(operation));
        async move {
            let (name, terms) = (name?, terms?);
            let granted = ledger.queued(move |session| session.recover(&name, terms.into(), limit)).await?;
            let claim = |granted| Claim::new(ledger.engine().clone(), granted, terms.remembered_for_ms);
            Ok(granted.into_iter().map(claim).collect())
        }
    }

    /// [`resolve`](Ledger::resolve) as a future.
    ///
    /// # Errors
    /// As [`resolve`](Ledger::resolve).
    pub fn resolve_async(
        &self,
        id: &KeyId,
        fence: u64,
        resolution: Resolution,
        who: &str,
        note: &str,
    ) -> impl Future<Output = Result<()>> + Send + 'static + use<> {
        let (address, who, note) = (self.engine().address(id.clone()), who.to_owned(), note.to_owned());
        let valid = check_person(&who, &note).and_then(|()| stored_resolution(resolution, self.engine().options));
        self.queued_if(valid.map(|resolution| {
            move |session: &mut Session<'_>| session.resolve(&address, fence, &resolution, &who, &note)
        }))
    }

    /// [`forget`](Ledger::forget) as a future.
    ///
    /// # Errors
    /// As [`forget`](Ledger::forget).
    pub fn forget_async(
        &self,
        id: &KeyId,
        even_if_unknown: bool,
    ) -> impl Future<Output = Result<Forgotten>> + Send + 'static + use<> {
        let address = self.engine().address(id.clone());
        let forgot = self.queued(move |session| session.forget(&address, even_if_unknown));
        async move { forgot.await.map(Forgotten::from) }
    }

    /// [`forget_scope`](Ledger::forget_scope) as a future.
    ///
    /// # Errors
    /// As [`forget_scope`](Ledger::forget_scope).
    pub fn forget_scope_async(
        &self,
        scope: &Scope,
        even_if_unknown: bool,
    ) -> impl Future<Output = Result<Forgotten>> + Send + 'static + use<> {
        let scope = scope.clone();
        let forgot = self.queued(move |session| session.forget_scope(&scope, even_if_unknown));
        async move { forgot.await.map(Forgotten::from) }
    }

    /// [`sweep`](Ledger::sweep) as a future.
    ///
    /// # Errors
    /// As [`sweep`](Ledger::sweep).
    pub fn sweep_async(&self, limit: usize) -> impl Future<Output = Result<Swept>> + Send + 'static + use<> {
        let (engine, began_ms) = (self.engine().clone(), self.engine().clock.monotonic_ms());
        let sweep = self.queued(move |session| session.sweep(limit));
        async move { Ok(engine.after_sweep(sweep.await?, began_ms).into()) }
    }

    /// Queues work now; the future only tells how it ended.
    fn queued<T, W>(&self, work: W) -> Queued<T>
    where
        T: Send + 'static,
        W: FnOnce(&mut Session<'_>) -> Result<T, EngineError> + Send + 'static,
    {
        self.queued_if(Ok(work))
    }

    /// The same for work that was refused at the door, or not.
    fn queued_if<T, W>(&self, work: Result<W>) -> Queued<T>
    where
        T: Send + 'static,
        W: FnOnce(&mut Session<'_>) -> Result<T, EngineError> + Send + 'static,
    {
        let open = work.and_then(|work| Ok(self.engine().check_open().map(|()| work)?));
        let ticket = open.map(|work| self.engine().submit(work));
        Queued::new(self.engine(), ticket)
    }

    /// [`transaction`](Ledger::transaction) as a future. The transaction is done even if the future is dropped.
    ///
    /// # Errors
    /// As [`transaction`](Ledger::transaction).
    pub fn transaction_async<T, E, F>(&self, f: F) -> impl Future<Output = Result<T, E>> + Send + 'static + use<T, E, F>
    where
        F: FnOnce(&mut Transaction<'_, '_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let refused = self.engine().check_open();
        let ticket = refused.map(|()| self.engine().submit(move |session| Transaction::run(session, f)));
        let engine = self.engine().clone();
        async move { engine.arrival(ticket.map_err(Error::from)?).await.map_err(Error::from)? }
    }
}

impl Claim {
    /// The ledger that has granted it.
    pub fn ledger(&self) -> Ledger {
        Ledger::of(self.engine().clone())
    }

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

    /// [`record_step`](Claim::record_step) as a future. It is recorded even if the future is dropped.
    ///
    /// # Errors
    /// As [`record_step`](Claim::record_step).
    pub fn record_step_async(
        &mut self,
        name: &str,
        value: impl Into<Vec<u8>>,
    ) -> impl Future<Output = Result<()>> + Send + '_ {
        let step = Step { name: name.to_owned(), value: value.into() };
        let valid = check_step(&step, self.engine().options);
        let (engine, address, fence, stored) =
            (self.engine().clone(), self.address().clone(), self.fence(), step.clone());
        let open = valid.and_then(|()| Ok(engine.check_open()?));
        let ticket = open.map(|()| engine.submit(move |session| session.record_step(&address, fence, &stored)));
        async move {
            engine.arrival(ticket?).await??;
            self.remember_step(step);
            Ok(())
        }
    }

    /// [`complete_with`](Claim::complete_with) as a future: `f` runs on the ledger's own thread, and what it stored stays stored
    /// even if the future is dropped (S3).
    ///
    /// # Errors
    /// As [`complete_with`](Claim::complete_with).
    pub fn complete_with_async<E>(
        &mut self,
        f: impl FnOnce(&mut Transaction<'_, '_>) -> Result<Response, E> + Send + 'static,
    ) -> impl Future<Output = Result<Response, E>> + Send + '_
    where
        E: From<Error> + Send + 'static,
    {
        let (engine, completion) = (self.engine().clone(), self.completion(f));
        let open = completion.and_then(|completion| Ok(engine.check_open().map(|()| completion)?));
        let errand = Errand::new(&engine, self.address(), self.fence(), None);
        let ticket = open.map(|completion| engine.submit_errand(errand.clone(), completion));
        if ticket.is_ok() {
            self.mark_under_way(errand);
        }
        async move {
            let ended = engine.arrival(ticket?).await.map_err(Error::from).map_err(E::from).and_then(|ended| ended);
            match &ended {
                Ok(response) => self.mark_settled(Settlement::Complete(response.clone())),
                Err(_) => self.not_settled(),
            }
            ended
        }
    }

    /// [`settle`](Claim::settle) as a future. It is queued when the call is made: the future only tells how it ended (S3).
    ///
    /// # Errors
    /// As [`complete`](Claim::complete).
    pub fn settle_async(
        mut self,
        settlement: Settlement,
    ) -> impl Future<Output = Result<(), SettleError>> + Send + 'static {
        let engine = self.engine().clone();
        let valid = self.check_not_ended().and_then(|()| stored_form(settlement, engine.options));
        let sent = valid.map(|settlement| {
            let (address, fence) = (self.address().clone(), self.fence());
            let errand = Errand::new(&engine, &address, fence, Some(settlement.clone()));
            let open = engine.check_open().inspect_err(|_| errand.refused());
            let ticket = open.map(|()| engine.submit_settle(errand.clone(), address, fence, settlement.clone()));
            // Should this future be dropped, the claim must not end its lease before its outcome has arrived.
            self.mark_under_way(errand);
            (ticket, settlement)
        });
        async move {
            let (ticket, settlement) = match sent {
                Ok(sent) => sent,
                Err(source) => return Err(SettleError { claim: Box::new(self), source }),
            };
            let settled = match ticket {
                Ok(ticket) => engine.arrival(ticket).await.and_then(|ended| ended).map_err(Error::from),
                Err(refused) => Err(refused.into()),
            };
            self.arrived(&settled, settlement);
            settled.map_err(|source| SettleError { claim: Box::new(self), source })
        }
    }
}
