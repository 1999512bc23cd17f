//! The driver with threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::course::{Course, Goal, Step};
use super::drain::{DrainProgress, Drained, Draining};
use super::error::DriverError;
use super::handle::DriverHandle;
use super::senders::Senders;
use super::settings::Settings;
use super::stop::Stop;
use crate::error::{Error, Result};
use crate::key::Scope;
use crate::outbox::Outbox;
use crate::transport::Transport;

/// Sends what is due in one scope of an outbox, over a [`Transport`] that blocks, with a thread for each delivery in flight.
///
/// [`start`](Driver::start) gives it threads of its own, [`run_until`](Driver::run_until) keeps the caller's, and
/// [`drain`](Driver::drain) comes back when nothing is left to send. It serves one scope; other scopes need drivers of their own.
///
/// It honours lanes, pauses and the budget, because the outbox does. It sleeps until the next wake-up, or until something is
/// enqueued or settled. Several may work on one outbox, also on the same scope.
///
/// Storage that fails loses no outcome: what came back is kept and told again, with pauses from 100 ms to 5 s. A transport that
/// panics counts as one that must try again, and may have had an effect. One that returns long after its lease keeps its place in
/// flight until then.
#[derive(Clone)]
pub struct Driver {
    settings: Settings,
    transport: Arc<dyn Transport>,
    name: String,
}

impl Driver {
    /// A driver for the entries of `scope`, with the defaults of contract section 12. It does nothing yet.
    pub fn new(outbox: &Outbox, scope: &Scope, transport: impl Transport + 'static) -> Self {
        let settings = Settings::new(outbox, scope);
        Self { settings, transport: Arc::new(transport), name: "keyledger-driver".into() }
    }

    /// How many deliveries are in flight at the most. Default 8; zero counts as one.
    pub fn in_flight(mut self, deliveries: usize) -> Self {
        self.settings.in_flight = deliveries.max(1);
        self
    }

    /// What its threads are called. Default `keyledger-driver`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Whatever it does ends when this is stopped: nothing more is leased then, and what is in flight is finished, or waited for
    /// until its leases are over. It is no error: a drain answers with what it left.
    pub fn stop_on(mut self, stop: &Stop) -> Self {
        self.settings.stop = stop.clone();
        self
    }

    /// Called on the driver's own thread when a call of the outbox fails. A send that fails is no such call: it stands in
    /// [`EntryView::errors`](crate::EntryView::errors).
    pub fn on_error(mut self, on_error: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.settings.on_error = Some(Arc::new(on_error));
        self
    }

    /// Works on a thread of its own until the handle is stopped or dropped, or the ledger is closed.
    ///
    /// # Errors
    /// `Storage` when no thread can be had.
    pub fn start(&self) -> Result<DriverHandle> {
        let (driver, stop) = (self.clone(), Stop::new());
        let asked = stop.clone();
        DriverHandle::start(self.name.clone(), stop, move || driver.run_until(&asked))
    }

    /// Works on this thread, and those that send, until it is stopped. On return nothing is in flight whose lease is not over.
    ///
    /// # Errors
    /// `Closed`, and whatever else waiting does not mend, as soon as what is in flight came back; after a stop, also what kept the
    /// last outcomes from being stored while their leases lasted. The error has those outcomes.
    pub fn run_until(&self, stop: &Stop) -> Result<(), DriverError> {
        self.drive(Goal::Stopped, &[stop, &self.settings.stop], |_| {})
    }

    /// Sends until nothing is due within `until` from now (O15): with zero, what is due already; with [`Duration::MAX`], until only
    /// people can bring anything on. Waits for what is due later than now. Calls `progress` at the beginning and after each
    /// commit.
    ///
    /// Entries that come while it works are sent too, if they are due in time. Of two drains at once each ends when nothing is
    /// left for it: the other may still be sending then. A send that never comes back is waited for until its lease is over.
    ///
    /// # Errors
    /// As [`run_until`](Driver::run_until). Storage that fails is tried again until `until` is over.
    pub fn drain(&self, until: Duration, progress: impl FnMut(&DrainProgress)) -> Result<Drained, DriverError> {
        let goal = Goal::drained_in(until, &self.settings);
        let mut draining = Draining::begin(&self.settings, progress)?;
        self.drive(goal, &[&self.settings.stop], |sent| draining.tell(sent))?;
        draining.drained(self.settings.stop.is_stopped())
    }

    fn drive(&self, goal: Goal, stops: &[&Stop], mut after_turn: impl FnMut(u64)) -> Result<(), DriverError> {
        let outbox = &self.settings.outbox;
        let waiting = outbox.waiting();
        for stop in stops {
            stop.watch(&waiting.bell);
        }
        let name = format!("{}-send", self.name);
        let mut senders = Senders::new(&self.settings, self.transport.clone(), waiting.bell.clone(), name);
        let mut course = Course::new(&self.settings, goal);
        loop {
            senders.finished().into_iter().for_each(|report| course.finished(report));
            let is_stopping = stops.iter().any(|stop| stop.is_stopped());
            match course.step(is_stopping, |scope| self.has_other_credentials(scope)) {
                Step::Turn { limit } => {
                    let turn = outbox.settle_and_lease(course.reports(), &self.settings.scope, limit);
                    let deliveries = course.turned(course.reports().len(), turn);
                    for delivery in deliveries {
                        senders.send(delivery);
                    }
                    after_turn(course.sent());
                }
                Step::Resume => course.resumed(outbox.resume(&self.settings.scope)),
                Step::Rest(span) => {
                    waiting.bell.wait(outbox.nap(span));
                }
                Step::End(ended) => return self.end(senders, ended),
            }
        }
    }

    /// What came back at the very last is settled, or goes with the error.
    fn end(&self, senders: Senders, ended: Result<(), DriverError>) -> Result<(), DriverError> {
        let last = senders.close();
        match ended {
            Ok(()) => {
                for report in last {
                    let _ = self.settings.outbox.settle(&report);
                }
                Ok(())
            }
            Err(DriverError { source, mut reports }) => {
                reports.extend(last);
                Err(DriverError { source, reports })
            }
        }
    }

    fn has_other_credentials(&self, scope: &Scope) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.transport.has_other_credentials(scope))).unwrap_or(false)
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("in_flight", &self.settings.in_flight).finish_non_exhaustive()
    }
}
