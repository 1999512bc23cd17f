//! The driver as a future.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::course::{Course, Goal, Step};
use super::drain::{DrainProgress, Drained, Draining};
use super::error::DriverError;
use super::sendings::{Task, Tasks, Woken};
use super::settings::Settings;
use super::stop::Stop;
use crate::delivery::{Delivery, Report};
use crate::error::{Error, Result};
use crate::key::Scope;
use crate::machine::classify::DeliveryOutcome;
use crate::outbox::{Outbox, Resumed, Turn};
use crate::transport::AsyncTransport;
use crate::wake::Bell;

/// Sends what is due in one scope of an outbox, over an [`AsyncTransport`]. What holds of [`Driver`](crate::Driver) holds of it.
///
/// Its futures need no particular runtime. One that is dropped drops the deliveries in flight: their tries count as ones whose
/// outcome is unknown (O6). A host without threads gives the ledger its timers:
/// [`Builder::wake_by_host`](crate::Builder::wake_by_host).
#[derive(Clone)]
pub struct AsyncDriver {
    settings: Settings,
    transport: Arc<dyn AsyncTransport>,
}

/// A call that commits.
enum Called {
    Turn { told: usize, turn: Result<Turn> },
    Resume(Result<Resumed>),
}

impl AsyncDriver {
    /// A driver for the entries of `scope`, with the defaults of contract section 12. It does nothing yet.
    pub fn new(outbox: &Outbox, scope: &Scope, transport: impl AsyncTransport + 'static) -> Self {
        Self { settings: Settings::new(outbox, scope), transport: Arc::new(transport) }
    }

    /// How many deliveries are in flight at the most. Default 8; zero counts as one.
    pub fn in_flight(mut self, deliveries: usize) -> Self {
        self.settings.in_flight = deliveries.max(1);
        self
    }

    /// Whatever it does ends when this is stopped, as [`run`](AsyncDriver::run) does.
    pub fn stop_on(mut self, stop: &Stop) -> Self {
        self.settings.stop = stop.clone();
        self
    }

    /// Called when a call of the outbox fails.
    pub fn on_error(mut self, on_error: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.settings.on_error = Some(Arc::new(on_error));
        self
    }

    /// Works until `stop` is ready. Then nothing more is leased, and what is in flight is finished, or dropped when its leases are
    /// over.
    ///
    /// # Errors
    /// `Closed`, and whatever else waiting does not mend, as soon as what is in flight came back; after a stop, also what kept the
    /// last outcomes from being stored while their leases lasted. The error has those outcomes.
    pub async fn run(&self, stop: impl Future<Output = ()>) -> Result<(), DriverError> {
        self.drive(Goal::Stopped, stop, |_| {}).await
    }

    /// Sends until nothing is due within `until` from now, as [`Driver::drain`](crate::Driver::drain) (O15).
    ///
    /// # Errors
    /// As [`run`](AsyncDriver::run). Storage that fails is tried again until `until` is over.
    pub async fn drain(&self, until: Duration, progress: impl FnMut(&DrainProgress)) -> Result<Drained, DriverError> {
        let goal = Goal::drained_in(until, &self.settings);
        let mut draining = Draining::begin(&self.settings, progress)?;
        self.drive(goal, std::future::pending(), |sent| draining.tell(sent)).await?;
        draining.drained(self.settings.stop.is_stopped())
    }

    async fn drive(
        &self,
        goal: Goal,
        stop: impl Future<Output = ()>,
        mut after_turn: impl FnMut(u64),
    ) -> Result<(), DriverError> {
        let waiting = self.settings.outbox.waiting();
        let bell = &waiting.bell;
        self.settings.stop.watch(bell);
        let (mut stop, stop_woken, mut is_stopping) = (pin!(stop), Woken::new(bell), false);
        let mut alarm = self.settings.outbox.alarm(&waiting);
        let mut course = Course::new(&self.settings, goal);
        let mut sendings = Tasks::new();
        let mut calls = Tasks::new();
        let mut is_calling = false;
        loop {
            is_stopping = is_stopping || self.settings.stop.is_stopped() || stop_woken.poll(stop.as_mut()).is_ready();
            for called in calls.ended() {
                is_calling = false;
                let deliveries = course.called(called);
                for delivery in deliveries {
                    sendings.push(self.sending(bell, delivery));
                }
                after_turn(course.sent());
            }
            // After the calls: what they handed out has to be polled once to be under way.
            sendings.ended().into_iter().for_each(|report| course.finished(report));
            if !is_calling {
                match course.step(is_stopping, |scope| self.has_other_credentials(scope)) {
                    Step::Turn { limit } => calls.push(self.turn(bell, &course, limit)),
                    Step::Resume => calls.push(self.resume(bell)),
                    Step::Rest(span) => alarm.set(self.settings.outbox.nap(span)),
                    Step::End(ended) => return ended,
                }
                is_calling = !calls.is_empty();
                if is_calling {
                    continue;
                }
            }
            bell.rung().await;
        }
    }

    fn turn(&self, bell: &Arc<Bell>, course: &Course, limit: usize) -> Task<Called> {
        let told = course.reports().len();
        let turn = self.settings.outbox.settle_and_lease_async(course.reports(), &self.settings.scope, limit);
        Task::new(bell, async move { Called::Turn { told, turn: turn.await } })
    }

    fn resume(&self, bell: &Arc<Bell>) -> Task<Called> {
        let resumed = self.settings.outbox.resume_async(&self.settings.scope);
        Task::new(bell, async move { Called::Resume(resumed.await) })
    }

    fn sending(&self, bell: &Arc<Bell>, delivery: Delivery) -> Task<Report> {
        let transport = self.transport.clone();
        Task::new(bell, async move {
            let outcome = if delivery.lease_left().is_zero() {
                DeliveryOutcome::lease_was_over()
            } else {
                Guarded(Box::pin(async { transport.send(&delivery).await })).await
            };
            delivery.report(outcome)
        })
    }

    fn has_other_credentials(&self, scope: &Scope) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.transport.has_other_credentials(scope))).unwrap_or(false)
    }
}

impl Course {
    /// How a call ended; what is to be sent.
    fn called(&mut self, called: Called) -> Vec<Delivery> {
        match called {
            Called::Turn { told, turn } => self.turned(told, turn),
            Called::Resume(resumed) => {
                self.resumed(resumed);
                Vec::new()
            }
        }
    }
}

/// A transport's future; a panic is an outcome.
struct Guarded<'a>(Pin<Box<dyn Future<Output = DeliveryOutcome> + Send + 'a>>);

impl Future for Guarded<'_> {
    type Output = DeliveryOutcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<DeliveryOutcome> {
        let polled = catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context)));
        polled.unwrap_or_else(|_| Poll::Ready(DeliveryOutcome::transport_panicked()))
    }
}

impl std::fmt::Debug for AsyncDriver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AsyncDriver").field("in_flight", &self.settings.in_flight).finish_non_exhaustive()
    }
}
