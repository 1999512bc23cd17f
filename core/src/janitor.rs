//! Sweeping and recovery by itself: as a thread, or a bounded step at a time for hosts with one timer (T3, T6).

mod growth;
mod recovering;
#[cfg(not(target_arch = "wasm32"))]
mod thread;
mod work;

use std::sync::Arc;
use std::time::Duration;

use self::work::{Settings, Work};
use crate::claim::Claim;
use crate::error::{Error, Result};
use crate::ledger::Ledger;
use crate::operation::Operation;
use crate::options::{JANITOR_BATCH, JANITOR_INTERVAL};
use crate::stats::Stats;

pub use self::growth::Growth;
pub use self::recovering::Recovered;
pub use self::work::Tick;

/// How a janitor works; see [`Janitor::builder`].
#[derive(Clone)]
pub struct JanitorBuilder {
    settings: Settings,
}

impl JanitorBuilder {
    /// How often it works, give or take a fifth. Default 60 s.
    pub fn interval(mut self, interval: Duration) -> Self {
        self.settings.interval = interval;
        self
    }

    /// How many records it sweeps in one transaction, and hands out at once. Default 1,000.
    pub fn batch(mut self, batch: usize) -> Self {
        self.settings.batch = batch.max(1);
        self
    }

    /// Quiet hours: while this answers true for the wall clock (milliseconds since 1970-01-01 UTC), nothing is swept.
    pub fn quiet(mut self, is_quiet: impl Fn(u64) -> bool + Send + Sync + 'static) -> Self {
        self.settings.quiet = Some(Arc::new(is_quiet));
        self
    }

    /// Called when a step fails; it is tried again with backoff.
    pub fn on_error(mut self, on_error: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.settings.on_error = Some(Arc::new(on_error));
        self
    }

    /// Finds out what happened to this operation's lapsed records, and to those parked without a person having looked.
    ///
    /// The handler says how to settle the claim, or settles it itself. An error from it ends the lease; an AtMostOnce record is
    /// parked again.
    pub fn recover(
        mut self,
        operation: &Operation,
        handler: impl Fn(&mut Claim) -> Recovered + Send + Sync + 'static,
    ) -> Self {
        self.settings.recoveries.push((operation.clone(), Arc::new(handler)));
        self
    }

    /// Called once each time the threshold is crossed upwards (T4).
    pub fn on_growth(mut self, growth: Growth, alert: impl Fn(&Growth, &Stats) + Send + Sync + 'static) -> Self {
        self.settings.growths.push((growth, Arc::new(alert)));
        self
    }

    /// A janitor without a thread: the host calls [`tick`](Janitor::tick).
    ///
    /// # Errors
    /// `InvalidKey`, `InvalidArgument` for the operations that it recovers.
    pub fn build(self) -> Result<Janitor> {
        for (operation, _) in &self.settings.recoveries {
            self.settings.ledger.declare(operation)?;
        }
        let work = Arc::new(Work::new(self.settings));
        Ok(Janitor {
            work,
            #[cfg(not(target_arch = "wasm32"))]
            thread: None,
        })
    }

    /// A janitor with a thread of its own, which ends when the janitor is stopped or dropped.
    ///
    /// # Errors
    /// As [`build`](JanitorBuilder::build); `Storage` when no thread can be had.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn start(self) -> Result<Janitor> {
        let mut janitor = self.build()?;
        janitor.thread = Some(thread::JanitorThread::start(janitor.work.clone())?);
        Ok(janitor)
    }
}

/// Sweeps, runs recovery handlers and watches for growth.
pub struct Janitor {
    work: Arc<Work>,
    #[cfg(not(target_arch = "wasm32"))]
    thread: Option<thread::JanitorThread>,
}

impl Janitor {
    /// A janitor for this ledger, with the defaults of contract section 12.
    pub fn builder(ledger: &Ledger) -> JanitorBuilder {
        JanitorBuilder {
            settings: Settings {
                ledger: ledger.clone(),
                interval: JANITOR_INTERVAL,
                batch: JANITOR_BATCH,
                quiet: None,
                on_error: None,
                recoveries: Vec::new(),
                growths: Vec::new(),
            },
        }
    }

    /// Does what is due in one bounded step: one batch of the sweep, one batch of each recovery, a look at growth.
    ///
    /// # Errors
    /// Those of the ledger; the first ends the step, and it is safe to call again.
    pub fn tick(&self) -> Result<Tick> {
        self.work.tick()
    }

    /// Ends the thread, and waits until it has. Without one, nothing.
    pub fn stop(self) {
        drop(self);
    }
}

impl std::fmt::Debug for Janitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Janitor").field("interval", &self.work.settings.interval).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for JanitorBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JanitorBuilder").field("interval", &self.settings.interval).finish_non_exhaustive()
    }
}
