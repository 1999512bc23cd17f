//! The janitor's own thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::work::{Tick, Work};
use crate::error::{Error, Result};
use crate::process::Owner;
use crate::wake::Bell;

/// A longer interval counts as this: a year.
const INTERVAL_MAX: Duration = Duration::from_hours(365 * 24);

/// After a step that failed, the first pause; it doubles up to the interval.
const BACKOFF: Duration = Duration::from_secs(1);

/// Ends the thread and waits for it when dropped.
pub(super) struct JanitorThread {
    stop: Arc<Stop>,
    handle: Option<JoinHandle<()>>,
    owner: Owner,
}

#[derive(Default)]
struct Stop {
    asked: AtomicBool,
    bell: Bell,
}

impl JanitorThread {
    pub(super) fn start(work: Arc<Work>) -> Result<Self> {
        let stop = Arc::new(Stop::default());
        let stopped = stop.clone();
        let handle = std::thread::Builder::new()
            .name("keyledger-janitor".into())
            .spawn(move || run(&work, &stopped))
            .map_err(|error| Error::Storage(Arc::new(error)))?;
        Ok(Self { stop, handle: Some(handle), owner: Owner::this() })
    }
}

impl Drop for JanitorThread {
    fn drop(&mut self) {
        if self.owner.is_elsewhere() {
            // A forked child has no such thread, and would wait for ever; what the thread held stays held (P3).
            std::mem::forget((self.handle.take(), self.stop.clone()));
            return;
        }
        self.stop.asked.store(true, Ordering::Release);
        self.stop.bell.ring();
        if let Some(handle) = self.handle.take()
            && handle.thread().id() != std::thread::current().id()
        {
            // A janitor that panicked in a caller's handler has said so already.
            let _ = handle.join();
        }
    }
}

fn run(work: &Work, stop: &Stop) {
    let mut failures = 0;
    let mut pause = Duration::ZERO;
    loop {
        stop.bell.wait(pause);
        if stop.asked.load(Ordering::Acquire) {
            return;
        }
        pause = match tick_guarded(work) {
            Ok(tick) => {
                failures = 0;
                jittered(work, tick.next_in)
            }
            Err(Error::Closed) => return,
            Err(error) => {
                work.report(&error);
                failures += 1;
                backoff(work.settings.interval, failures).mul_f64(random(work))
            }
        };
    }
}

/// A panic of a callback is an error like any other: the janitor goes on.
fn tick_guarded(work: &Work) -> Result<Tick> {
    let panicked = |_| Err(Error::Unavailable("a callback of the janitor panicked".into()));
    catch_unwind(AssertUnwindSafe(|| work.tick())).unwrap_or_else(panicked)
}

/// Doubles with each failure, up to the interval.
fn backoff(interval: Duration, failures: u32) -> Duration {
    BACKOFF.saturating_mul(2_u32.saturating_pow(failures - 1)).min(interval)
}

/// The interval, give or take a fifth.
fn jittered(work: &Work, interval: Duration) -> Duration {
    interval.min(INTERVAL_MAX).mul_f64(0.8 + 0.4 * random(work))
}

/// A number from 0 up to 1.
fn random(work: &Work) -> f64 {
    let mut bytes = [0; 4];
    work.settings.ledger.engine().entropy.fill(&mut bytes);
    f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX)
}
