//! A duplicate that waits (P4): registers before it looks, looks again after every wake.

use std::sync::Arc;
use std::time::Duration;

use super::{Answer, Asked, Engine, EngineError};
use crate::codec::address::Address;
use crate::wake::{Alarm, Bell};

/// Nobody wakes a waiter of another process: in a shared ledger whoever waits looks this often.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A place among those who wait for a key id; given up when dropped.
pub(crate) struct Waiting {
    engine: Arc<Engine>,
    address: Address,
    pub(crate) bell: Arc<Bell>,
}

impl Waiting {
    pub(crate) fn register(engine: &Arc<Engine>, address: &Address) -> Self {
        let bell = Arc::new(Bell::default());
        engine.memory.with(address, |slot| slot.waiters.push(bell.clone()));
        Self { engine: engine.clone(), address: address.clone(), bell }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.engine.is_elsewhere() {
            return;
        }
        self.engine.memory.with_existing(&self.address.row, |slot| {
            slot.waiters.retain(|waiter| !Arc::ptr_eq(waiter, &self.bell));
        });
    }
}

impl Engine {
    /// `begin` that blocks until the owner settles or `wait` is over, then answers as `begin` would.
    pub(crate) fn begin_waiting(self: &Arc<Self>, asked: &Asked, wait: Duration) -> Result<Answer, EngineError> {
        let give_up_at = self.clock.end_ms(wait);
        let mut waiting = None;
        loop {
            let answer = self.begin(asked)?;
            let Answer::InProgress { left_ms, .. } = answer else { return Ok(answer) };
            let rest_ms = give_up_at.saturating_sub(self.clock.monotonic_ms());
            if rest_ms == 0 {
                return Ok(answer);
            }
            // Registered before the next look, so that no wake between a look and the wait is lost.
            let Some(place) = &waiting else {
                waiting = Some(Waiting::register(self, &asked.address));
                continue;
            };
            place.bell.wait(self.nap_of(rest_ms, left_ms));
        }
    }

    /// The same for a future.
    pub(crate) async fn begin_in_time(self: Arc<Self>, asked: Asked, wait: Duration) -> Result<Answer, EngineError> {
        let give_up_at = self.clock.end_ms(wait);
        let mut waiting = None;
        loop {
            let answer = match self.begin_without_commit(&asked)? {
                Some(answer) => answer,
                None => self.begin_queued(asked.clone()).await?,
            };
            let Answer::InProgress { left_ms, .. } = answer else { return Ok(answer) };
            let rest_ms = give_up_at.saturating_sub(self.clock.monotonic_ms());
            if rest_ms == 0 {
                return Ok(answer);
            }
            let Some(place) = &waiting else {
                waiting = Some(Waiting::register(&self, &asked.address));
                continue;
            };
            let mut alarm = self.alarm(&place.bell);
            alarm.set(self.nap_of(rest_ms, left_ms));
            place.bell.rung().await;
        }
    }

    async fn begin_queued(self: &Arc<Self>, asked: Asked) -> Result<Answer, EngineError> {
        let ticket = self.submit(move |session| session.begin(&asked));
        self.clone().arrival(ticket).await?
    }

    /// Until the wait is over, the lease may be, or another process may have settled, whichever is first.
    fn nap_of(&self, rest_ms: u64, left_ms: u64) -> Duration {
        self.nap(Duration::from_millis(rest_ms.min(left_ms.max(1))))
    }

    /// Rings `bell` after a while, for a future.
    pub(crate) fn alarm(&self, bell: &Arc<Bell>) -> Alarm {
        Alarm::new(bell, self.timer.clone())
    }

    /// How long to wait for a bell before looking again, for `span` of the ledger's clock to pass.
    pub(crate) fn nap(&self, span: Duration) -> Duration {
        self.clock.sleep_for(if self.is_shared() { span.min(LOOK_EVERY) } else { span })
    }
}
