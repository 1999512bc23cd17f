//! Sweeping and recovery by itself: as a thread, or a bounded step at a time for hosts with one timer (T3, T6).

mod recovering;
#[cfg(not(target_arch = "wasm32"))]
mod thread;

use std::error::Error as StdError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::claim::Claim;
use crate::clock::millis;
use crate::error::{Error, Result};
use crate::ledger::Ledger;
use crate::machine::settle::Settlement;
use crate::operation::Operation;
use crate::options::{JANITOR_BATCH, JANITOR_INTERVAL};
use crate::stats::Stats;
use crate::sweep::Swept;

/// What a recovery handler found out, or its error.
pub type Recovered = std::result::Result<Settlement, Box<dyn StdError + Send + Sync>>;

type RecoveryHandler = Arc<dyn Fn(&mut Claim) -> Recovered + Send + Sync>;
type Quiet = Arc<dyn Fn(u64) -> bool + Send + Sync>;
type OnError = Arc<dyn Fn(&Error) + Send + Sync>;
type OnGrowth = Arc<dyn Fn(&Growth, &Stats) + Send + Sync>;

/// A threshold on one of the figures of [`Stats`]; the alert is called when it is crossed upwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Growth {
    /// The length of the file, in bytes.
    FileBytes(u64),
    /// Records that wait for a person.
    Parked(u64),
    /// Claims whose lease is over; counted up to a thousand.
    Lapsed(u64),
    /// Records in progress.
    InProgress(u64),
    /// Completed records.
    Completed(u64),
    /// Failed records.
    Failed(u64),
    /// Released records.
    Released(u64),
    /// Tombstones.
    Tombstones(u64),
    /// Records that a sweep would turn into their next state; counted up to a thousand.
    Due(u64),
    /// How long the oldest unsettled record has waited.
    OldestUnsettled(Duration),
}

impl Growth {
    fn is_crossed(self, stats: &Stats, now_ms: u64) -> bool {
        match self {
            Growth::FileBytes(threshold) => stats.file_bytes >= threshold,
            Growth::Parked(threshold) => stats.parked >= threshold,
            Growth::Lapsed(threshold) => stats.lapsed.count >= threshold,
            Growth::InProgress(threshold) => stats.in_progress >= threshold,
            Growth::Completed(threshold) => stats.completed >= threshold,
            Growth::Failed(threshold) => stats.failed >= threshold,
            Growth::Released(threshold) => stats.released >= threshold,
            Growth::Tombstones(threshold) => stats.tombstones >= threshold,
            Growth::Due(threshold) => stats.due.count >= threshold,
            Growth::OldestUnsettled(age) => {
                let waits_ms = |at: u64| now_ms.saturating_sub(at);
                stats.oldest_unsettled_at_ms.is_some_and(|at| waits_ms(at) >= millis(age))
            }
        }
    }
}

/// What one step of the janitor did, and when to call again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// The sweep; `None` in quiet hours, and while the wall clock has run away (L7).
    pub swept: Option<Swept>,
    /// How many records were handed to recovery handlers.
    pub recovered: u64,
    /// When to call again.
    pub next_in: Duration,
}

/// How a janitor works; see [`Janitor::builder`].
#[derive(Clone)]
pub struct JanitorBuilder {
    ledger: Ledger,
    interval: Duration,
    batch: usize,
    quiet: Option<Quiet>,
    on_error: Option<OnError>,
    recoveries: Vec<(Operation, RecoveryHandler)>,
    growths: Vec<(Growth, OnGrowth)>,
}

impl JanitorBuilder {
    /// How often it works, give or take a fifth. Default 60 s.
    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// How many records it sweeps in one transaction, and hands out at once. Default 1,000.
    pub fn batch(mut self, batch: usize) -> Self {
        self.batch = batch.max(1);
        self
    }

    /// Quiet hours: while this answers true for the wall clock (milliseconds since 1970-01-01 UTC), nothing is swept.
    pub fn quiet(mut self, is_quiet: impl Fn(u64) -> bool + Send + Sync + 'static) -> Self {
        self.quiet = Some(Arc::new(is_quiet));
        self
    }

    /// Called when a step fails; it is tried again with backoff.
    pub fn on_error(mut self, on_error: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Arc::new(on_error));
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
        self.recoveries.push((operation.clone(), Arc::new(handler)));
        self
    }

    /// Called once each time the threshold is crossed upwards (T4).
    pub fn on_growth(mut self, growth: Growth, alert: impl Fn(&Growth, &Stats) + Send + Sync + 'static) -> Self {
        self.growths.push((growth, Arc::new(alert)));
        self
    }

    /// A janitor without a thread: the host calls [`tick`](Janitor::tick).
    ///
    /// # Errors
    /// `InvalidKey`, `InvalidArgument` for the operations that it recovers.
    pub fn build(self) -> Result<Janitor> {
        for (operation, _) in &self.recoveries {
            self.ledger.declare(operation)?;
        }
        let crossed = vec![false; self.growths.len()];
        let work = Arc::new(Work { settings: self, crossed: Mutex::new(crossed) });
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

struct Work {
    settings: JanitorBuilder,
    /// Which growth thresholds were crossed at the last look.
    crossed: Mutex<Vec<bool>>,
}

impl Janitor {
    /// A janitor for this ledger, with the defaults of contract section 12.
    pub fn builder(ledger: &Ledger) -> JanitorBuilder {
        JanitorBuilder {
            ledger: ledger.clone(),
            interval: JANITOR_INTERVAL,
            batch: JANITOR_BATCH,
            quiet: None,
            on_error: None,
            recoveries: Vec::new(),
            growths: Vec::new(),
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
        f.debug_struct("JanitorBuilder").field("interval", &self.interval).finish_non_exhaustive()
    }
}

impl Work {
    fn tick(&self) -> Result<Tick> {
        let settings = &self.settings;
        let engine = settings.ledger.engine();
        let is_quiet = settings.quiet.as_ref().is_some_and(|is_quiet| is_quiet(engine.clock.wall_ms()));
        let swept =
            if is_quiet || engine.clock_ran_away() { None } else { Some(settings.ledger.sweep(settings.batch)?) };
        let mut recovered = 0;
        for (operation, handler) in &settings.recoveries {
            recovered += recovering::recover(&settings.ledger, operation, settings.batch, &**handler)?;
        }
        self.look_at_growth()?;
        let batch = settings.batch as u64;
        let more = swept.is_some_and(|swept| swept.more) || recovered >= batch;
        Ok(Tick { swept, recovered, next_in: if more { Duration::ZERO } else { settings.interval } })
    }

    fn look_at_growth(&self) -> Result<()> {
        if self.settings.growths.is_empty() {
            return Ok(());
        }
        let stats = self.settings.ledger.stats()?;
        let now_ms = self.settings.ledger.engine().clock.wall_ms();
        let mut crossed = self.crossed.lock().unwrap_or_else(PoisonError::into_inner);
        for ((growth, alert), was_crossed) in self.settings.growths.iter().zip(crossed.iter_mut()) {
            let is_crossed = growth.is_crossed(&stats, now_ms);
            if is_crossed && !*was_crossed {
                alert(growth, &stats);
            }
            *was_crossed = is_crossed;
        }
        Ok(())
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn report(&self, error: &Error) {
        if let Some(on_error) = &self.settings.on_error {
            on_error(error);
        }
    }
}
