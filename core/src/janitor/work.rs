//! One bounded step: sweep, recover, look at growth.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::growth::Growth;
use super::recovering::{self, Recovered};
use crate::claim::Claim;
use crate::error::{Error, Result};
use crate::ledger::Ledger;
use crate::operation::Operation;
use crate::stats::Stats;
use crate::sweep::Swept;

pub(super) type RecoveryHandler = Arc<dyn Fn(&mut Claim) -> Recovered + Send + Sync>;
pub(super) type Quiet = Arc<dyn Fn(u64) -> bool + Send + Sync>;
pub(super) type OnError = Arc<dyn Fn(&Error) + Send + Sync>;
pub(super) type OnGrowth = Arc<dyn Fn(&Growth, &Stats) + Send + Sync>;

/// What a janitor was told.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) ledger: Ledger,
    pub(super) interval: Duration,
    pub(super) batch: usize,
    pub(super) quiet: Option<Quiet>,
    pub(super) on_error: Option<OnError>,
    pub(super) recoveries: Vec<(Operation, RecoveryHandler)>,
    pub(super) growths: Vec<(Growth, OnGrowth)>,
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

/// The work itself, whoever calls for it.
pub(super) struct Work {
    pub(super) settings: Settings,
    /// Which growth thresholds were crossed at the last look.
    crossed: Mutex<Vec<bool>>,
}

impl Work {
    pub(super) fn new(settings: Settings) -> Self {
        let crossed = vec![false; settings.growths.len()];
        Self { settings, crossed: Mutex::new(crossed) }
    }

    pub(super) fn tick(&self) -> Result<Tick> {
        let settings = &self.settings;
        let engine = settings.ledger.engine();
        let is_quiet = settings.quiet.as_ref().is_some_and(|is_quiet| is_quiet(engine.clock.wall_ms()));
        let swept =
            if is_quiet || engine.clock_ran_away() { None } else { Some(settings.ledger.sweep(settings.batch)?) };
        let (mut recovered, mut more) = (0, swept.is_some_and(|swept| swept.more));
        for (operation, handler) in &settings.recoveries {
            let batch = recovering::recover(&settings.ledger, operation, settings.batch, &**handler)?;
            recovered += batch.handed_out;
            more |= batch.more;
        }
        self.look_at_growth()?;
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
    pub(super) fn report(&self, error: &Error) {
        if let Some(on_error) = &self.settings.on_error {
            on_error(error);
        }
    }
}
