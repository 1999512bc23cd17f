//! The client half: requests persisted with their keys before they are sent (contract section 9).
//!
//! The outbox opens no connection. Whoever drives it leases what is due, sends it, and settles it; [`Driver`](crate::Driver) does
//! that over a [`Transport`](crate::Transport).

mod asking;
mod deciding;
mod futures;
mod looking;
mod opening;
mod waiting;

use std::fmt;
use std::sync::Arc;

use crate::delivery::{Delivery, Report};
use crate::engine::outbox::{Handed, Lanes, OutboxTerms};
use crate::engine::{Engine, EngineError, Session};
use crate::entry::{Enqueued, EntryView};
use crate::error::{Error, Result};
use crate::key::Scope;
use crate::limits::stored_outcome;

pub use asking::Enqueue;
pub use deciding::{Cancel, Resumed};
pub use looking::{EntryFilter, EntryPage, LaneState, OutboxStats};
pub use opening::{Lane, OnStuckHead, OutboxBuilder};
pub use waiting::Changes;

/// The outbox of a ledger. Clones are the same outbox; made by `Ledger::outbox`.
#[derive(Clone)]
pub struct Outbox {
    engine: Arc<Engine>,
    opened: Arc<Opened>,
}

/// What it was opened with.
struct Opened {
    terms: OutboxTerms,
    lanes: Lanes,
    max_request_bytes: usize,
}

/// What a call that settles and leases did.
#[derive(Debug)]
pub struct Turn {
    /// For each report whether it counted; `ClaimLost`: it did not (O5).
    pub settled: Vec<Result<()>>,
    /// What was due.
    pub deliveries: Vec<Delivery>,
}

impl Outbox {
    fn of(engine: Arc<Engine>, opened: Opened) -> Self {
        Self { engine, opened: Arc::new(opened) }
    }

    /// The engine of this process (P3).
    fn engine(&self) -> &Arc<Engine> {
        self.engine.here()
    }

    /// Whether it is the outbox of that engine's ledger.
    pub(crate) fn is_of(&self, engine: &Arc<Engine>) -> bool {
        Arc::ptr_eq(self.engine(), engine)
    }

    pub(crate) fn terms(&self) -> OutboxTerms {
        self.opened.terms
    }

    fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Session<'_>, &OutboxTerms) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T> {
        let terms = self.opened.terms;
        Ok(self.engine().session(move |session| work(session, &terms))?)
    }

    /// Stores a request with its key, to be sent; or finds the entry that is there already for its purpose or key (O1, O3). On
    /// return it is on disk.
    ///
    /// # Errors
    /// `PurposeConflict`, `KeyConflict`: the purpose, or the key, has another request; the error has the entry. `OutboxFull`.
    /// `InvalidKey` for a lane, an operation or a purpose that L1 refuses; `InvalidArgument` for a lane that was not declared;
    /// `TooLarge`; those of storage. Nothing is stored then.
    #[tracing::instrument(level = "debug", name = "keyledger.enqueue", skip_all)]
    pub fn enqueue(&self, enqueue: &Enqueue) -> Result<Enqueued> {
        let asking = enqueue.check(self)?;
        let enqueued = self.call(move |session, terms| session.enqueue(terms, &asking))?;
        Ok(enqueued.into())
    }

    /// The same for many, in order, in one commit (O1): all of them, or none.
    ///
    /// # Errors
    /// As [`enqueue`](Outbox::enqueue): the first ends the call, and nothing is stored.
    #[tracing::instrument(level = "debug", name = "keyledger.enqueue_many", skip_all, fields(count = enqueues.len()))]
    pub fn enqueue_many(&self, enqueues: &[Enqueue]) -> Result<Vec<Enqueued>> {
        let asking: Vec<_> = enqueues.iter().map(|enqueue| enqueue.check(self)).collect::<Result<_>>()?;
        let all = self.call(move |session, terms| {
            asking.iter().map(|asking| session.enqueue(terms, asking)).collect::<Result<Vec<_>, EngineError>>()
        })?;
        Ok(all.into_iter().map(Enqueued::from).collect())
    }

    /// Hands out at most `limit` deliveries of a scope that are due, in due order; stores what time alone has changed. On return
    /// the leases, the counted tries and the times of the first sends are on disk (O4).
    ///
    /// # Errors
    /// Those of storage. What a call that failed may have leased is due again after its lease and its backoff.
    #[tracing::instrument(level = "debug", name = "keyledger.lease_due", skip_all, fields(limit))]
    pub fn lease_due(&self, scope: &Scope, limit: usize) -> Result<Vec<Delivery>> {
        let scope = scope.clone();
        let handed = self.call(move |session, terms| session.lease_due(terms, &scope, limit))?;
        Ok(self.deliveries(handed))
    }

    /// Settles a delivery. On return the outcome is on disk; the same report again is ok if it was an answer.
    ///
    /// # Errors
    /// As [`Delivery::settle`].
    pub fn settle(&self, report: &Report) -> Result<()> {
        let report = self.stored(report)?;
        self.call(move |session, terms| session.settle_delivery(terms, report.id.get(), report.fence, &report.outcome))
    }

    /// Settles deliveries and hands out what is due, in one commit.
    ///
    /// # Errors
    /// As [`lease_due`](Outbox::lease_due) and [`settle`](Outbox::settle), save `ClaimLost`, which is told for each report; after
    /// an error nothing is settled, and the same call may be made again.
    #[tracing::instrument(level = "debug", name = "keyledger.settle_and_lease", skip_all, fields(reports = reports.len(), limit))]
    pub fn settle_and_lease(&self, reports: &[Report], scope: &Scope, limit: usize) -> Result<Turn> {
        let turn = self.turn(reports, scope, limit)?;
        let (settled, handed) = self.call(turn)?;
        Ok(self.turned(settled, handed))
    }

    /// The work of [`settle_and_lease`](Outbox::settle_and_lease).
    #[expect(clippy::type_complexity, reason = "it is a closure, said once")]
    fn turn(
        &self,
        reports: &[Report],
        scope: &Scope,
        limit: usize,
    ) -> Result<impl FnOnce(&mut Session<'_>, &OutboxTerms) -> Result<(Vec<bool>, Vec<Handed>), EngineError> + use<>>
    {
        let reports: Vec<Report> = reports.iter().map(|report| self.stored(report)).collect::<Result<_>>()?;
        let scope = scope.clone();
        Ok(move |session: &mut Session<'_>, terms: &OutboxTerms| {
            let mut settled = Vec::with_capacity(reports.len());
            for Report { id, fence, outcome } in &reports {
                match session.settle_delivery(terms, id.get(), *fence, outcome) {
                    Ok(()) => settled.push(true),
                    Err(EngineError::ClaimLost) => settled.push(false),
                    Err(error) => return Err(error),
                }
            }
            Ok((settled, session.lease_due(terms, &scope, limit)?))
        })
    }

    fn turned(&self, settled: Vec<bool>, handed: Vec<Handed>) -> Turn {
        let settled = settled.into_iter().map(|counted| if counted { Ok(()) } else { Err(Error::ClaimLost) });
        Turn { settled: settled.collect(), deliveries: self.deliveries(handed) }
    }

    /// The earliest instant at which [`lease_due`](Outbox::lease_due) with that scope could hand something out or change an entry's
    /// state, in milliseconds since 1970-01-01 UTC; `None`: time alone brings nothing (O11).
    ///
    /// # Errors
    /// Those of storage.
    pub fn next_wakeup(&self, scope: &Scope) -> Result<Option<u64>> {
        Ok(self.engine().outbox_next_wakeup(&self.opened.terms, scope)?)
    }

    fn deliveries(&self, handed: Vec<Handed>) -> Vec<Delivery> {
        handed.into_iter().map(|handed| Delivery::new(self.engine().clone(), self.opened.terms, handed)).collect()
    }

    /// Refuses a report that can never be stored.
    pub(crate) fn check_report(&self, report: &Report) -> Result<()> {
        self.stored(report).map(drop)
    }

    /// The report as it is stored.
    fn stored(&self, report: &Report) -> Result<Report> {
        let outcome = stored_outcome(report.outcome.clone(), self.engine().options)?;
        Ok(Report { outcome, ..report.clone() })
    }
}

impl From<crate::engine::outbox::Enqueued> for Enqueued {
    fn from(enqueued: crate::engine::outbox::Enqueued) -> Self {
        Self { entry: EntryView::of(enqueued.peeked), created: enqueued.created }
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").field("terms", &self.opened.terms).finish_non_exhaustive()
    }
}
