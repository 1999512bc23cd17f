//! The twins of blocking calls: futures that need no particular runtime (P1).

use super::deciding::{
    Cancel, Resumed, cancelled, cancelling, dismissing, going_online, requeueing, resolving, resuming, resuming_entry,
};
use super::{Enqueue, Outbox, Turn};
use crate::delivery::{Delivery, Report};
use crate::engine::outbox::OutboxTerms;
use crate::engine::{EngineError, Session};
use crate::entry::{Enqueued, EntryId, EntryView};
use crate::error::{Error, Result};
use crate::key::Scope;
use crate::machine::person::EntryResolution;
use crate::queued::Queued;

impl Outbox {
    /// [`enqueue`](Outbox::enqueue) as a future. It is stored even if the future is dropped.
    ///
    /// # Errors
    /// As [`enqueue`](Outbox::enqueue).
    pub fn enqueue_async(&self, enqueue: &Enqueue) -> impl Future<Output = Result<Enqueued>> + Send + 'static + use<> {
        let work = enqueue
            .check(self)
            .map(|asking| move |session: &mut Session<'_>, terms: &OutboxTerms| session.enqueue(terms, &asking));
        let enqueued = self.queued(work);
        async move { Ok(enqueued.await?.into()) }
    }

    /// [`enqueue_many`](Outbox::enqueue_many) as a future.
    ///
    /// # Errors
    /// As [`enqueue_many`](Outbox::enqueue_many).
    pub fn enqueue_many_async(
        &self,
        enqueues: &[Enqueue],
    ) -> impl Future<Output = Result<Vec<Enqueued>>> + Send + 'static + use<> {
        let asking: Result<Vec<_>> = enqueues.iter().map(|enqueue| enqueue.check(self)).collect();
        let all = self.queued(asking.map(|asking| {
            move |session: &mut Session<'_>, terms: &OutboxTerms| {
                asking.iter().map(|asking| session.enqueue(terms, asking)).collect::<Result<Vec<_>, EngineError>>()
            }
        }));
        async move { Ok(all.await?.into_iter().map(Enqueued::from).collect()) }
    }

    /// [`lease_due`](Outbox::lease_due) as a future. If it is dropped, what it leased counts as dropped deliveries.
    ///
    /// # Errors
    /// As [`lease_due`](Outbox::lease_due).
    pub fn lease_due_async(
        &self,
        scope: &Scope,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Delivery>>> + Send + 'static + use<> {
        let (scope, outbox) = (scope.clone(), self.clone());
        let handed = self
            .queued(Ok(move |session: &mut Session<'_>, terms: &OutboxTerms| session.lease_due(terms, &scope, limit)));
        async move { Ok(outbox.deliveries(handed.await?)) }
    }

    /// [`settle`](Outbox::settle) as a future. It is stored even if the future is dropped.
    ///
    /// # Errors
    /// As [`settle`](Outbox::settle).
    pub fn settle_async(&self, report: &Report) -> impl Future<Output = Result<()>> + Send + 'static + use<> {
        let report = self.stored(report);
        self.queued(report.map(|report| {
            move |session: &mut Session<'_>, terms: &OutboxTerms| {
                session.settle_delivery(terms, report.id.get(), report.fence, &report.outcome)
            }
        }))
    }

    /// [`settle_and_lease`](Outbox::settle_and_lease) as a future.
    ///
    /// # Errors
    /// As [`settle_and_lease`](Outbox::settle_and_lease).
    pub fn settle_and_lease_async(
        &self,
        reports: &[Report],
        scope: &Scope,
        limit: usize,
    ) -> impl Future<Output = Result<Turn>> + Send + 'static + use<> {
        let (turn, outbox) = (self.queued(self.turn(reports, scope, limit)), self.clone());
        async move {
            let (settled, handed) = turn.await?;
            Ok(outbox.turned(settled, handed))
        }
    }

    /// [`cancel`](Outbox::cancel) as a future.
    ///
    /// # Errors
    /// As [`cancel`](Outbox::cancel).
    pub fn cancel_async(&self, id: EntryId) -> impl Future<Output = Result<Cancel>> + Send + 'static + use<> {
        let work = self.queued(Ok(cancelling(id)));
        async move { work.await.map(cancelled) }
    }

    /// [`resume`](Outbox::resume) as a future.
    ///
    /// # Errors
    /// As [`resume`](Outbox::resume).
    pub fn resume_async(&self, scope: &Scope) -> impl Future<Output = Result<Resumed>> + Send + 'static + use<> {
        self.queued(Ok(resuming(scope)))
    }

    /// [`online`](Outbox::online) as a future.
    ///
    /// # Errors
    /// As [`online`](Outbox::online).
    pub fn online_async(&self, scope: &Scope) -> impl Future<Output = Result<u64>> + Send + 'static + use<> {
        self.queued(Ok(going_online(scope)))
    }

    /// [`resume_entry`](Outbox::resume_entry) as a future.
    ///
    /// # Errors
    /// As [`resume_entry`](Outbox::resume_entry).
    pub fn resume_entry_async(&self, id: EntryId) -> impl Future<Output = Result<EntryView>> + Send + 'static + use<> {
        self.queued(Ok(resuming_entry(id)))
    }

    /// [`requeue`](Outbox::requeue) as a future.
    ///
    /// # Errors
    /// As [`requeue`](Outbox::requeue).
    pub fn requeue_async(&self, id: EntryId) -> impl Future<Output = Result<EntryView>> + Send + 'static + use<> {
        self.queued(Ok(requeueing(id)))
    }

    /// [`dismiss`](Outbox::dismiss) as a future.
    ///
    /// # Errors
    /// As [`dismiss`](Outbox::dismiss).
    pub fn dismiss_async(
        &self,
        id: EntryId,
        who: &str,
        note: &str,
    ) -> impl Future<Output = Result<EntryView>> + Send + 'static + use<> {
        self.queued(dismissing(id, who, note))
    }

    /// [`resolve`](Outbox::resolve) as a future.
    ///
    /// # Errors
    /// As [`resolve`](Outbox::resolve).
    pub fn resolve_async(
        &self,
        id: EntryId,
        resolution: EntryResolution,
        who: &str,
        note: &str,
    ) -> impl Future<Output = Result<EntryView>> + Send + 'static + use<> {
        self.queued(resolving(self, id, resolution, who, note))
    }

    /// Queues work now, unless it was refused at the door; the future only tells how it ended.
    fn queued<T, W>(&self, work: Result<W>) -> Queued<T>
    where
        T: Send + 'static,
        W: FnOnce(&mut Session<'_>, &OutboxTerms) -> Result<T, EngineError> + Send + 'static,
    {
        let (engine, terms) = (self.engine().clone(), self.opened.terms);
        let ticket = work
            .and_then(|work| engine.check_open().map(|()| work).map_err(Error::from))
            .map(|work| engine.submit(move |session| work(session, &terms)));
        Queued::new(&engine, ticket)
    }
}
