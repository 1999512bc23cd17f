//! Waiting for outcomes, in this process or a later one (O13).

use std::collections::VecDeque;
use std::time::Duration;

use super::Outbox;
use crate::engine::Phase;
use crate::engine::outbox::OutboxWaiting;
use crate::entry::{EntryId, EntryView};
use crate::error::{Error, Result};
use crate::key::Scope;
use crate::wake::Alarm;

/// How many changes are read at a time.
const CHANGES_PAGE: usize = 256;

impl Outbox {
    /// Blocks until the entry is settled, at most for `timeout`; the entry as it is then. Any later process can wait for it.
    ///
    /// An entry that is unknown or held is not settled: whoever shows it to a person waits with [`wait_until`](Outbox::wait_until).
    ///
    /// # Errors
    /// `NotFound`, also when it was swept meanwhile; `Closed`, `Suspended` when that happens; those of storage.
    pub fn wait(&self, id: EntryId, timeout: Duration) -> Result<EntryView> {
        self.wait_until(id, timeout, EntryView::is_settled)
    }

    /// Blocks until `is_enough` says so of the entry as it is, or it is settled; at most for `timeout`. The entry as it is then.
    ///
    /// # Errors
    /// As [`wait`](Outbox::wait).
    pub fn wait_until(
        &self,
        id: EntryId,
        timeout: Duration,
        is_enough: impl Fn(&EntryView) -> bool,
    ) -> Result<EntryView> {
        let engine = self.engine();
        let give_up_at = engine.clock.end_ms(timeout);
        // Registered before the look, so that no change between a look and the wait is lost.
        let waiting = OutboxWaiting::register(engine);
        loop {
            let entry = self.the(id)?;
            let rest_ms = give_up_at.saturating_sub(engine.clock.monotonic_ms());
            if entry.is_settled() || rest_ms == 0 || is_enough(&entry) {
                return Ok(entry);
            }
            waiting.bell.wait(self.nap(Duration::from_millis(rest_ms)));
        }
    }

    /// [`wait`](Outbox::wait) as a future.
    ///
    /// # Errors
    /// As [`wait`](Outbox::wait).
    pub fn wait_async(
        &self,
        id: EntryId,
        timeout: Duration,
    ) -> impl Future<Output = Result<EntryView>> + Send + 'static + use<> {
        self.wait_until_async(id, timeout, EntryView::is_settled)
    }

    /// [`wait_until`](Outbox::wait_until) as a future.
    ///
    /// # Errors
    /// As [`wait`](Outbox::wait).
    pub fn wait_until_async<F>(
        &self,
        id: EntryId,
        timeout: Duration,
        is_enough: F,
    ) -> impl Future<Output = Result<EntryView>> + Send + 'static + use<F>
    where
        F: Fn(&EntryView) -> bool + Send + 'static,
    {
        let (outbox, engine) = (self.clone(), self.engine().clone());
        async move {
            let give_up_at = engine.clock.end_ms(timeout);
            let waiting = OutboxWaiting::register(&engine);
            let mut alarm = engine.alarm(&waiting.bell);
            loop {
                let entry = outbox.the(id)?;
                let rest_ms = give_up_at.saturating_sub(engine.clock.monotonic_ms());
                if entry.is_settled() || rest_ms == 0 || is_enough(&entry) {
                    return Ok(entry);
                }
                alarm.set(outbox.nap(Duration::from_millis(rest_ms)));
                waiting.bell.rung().await;
            }
        }
    }

    /// Every entry that changes after that change, in the order of their last changes; after change 0, every entry. An entry that
    /// changes twice before it is read is told once, as it is then. The number of a change outlives the process:
    /// [`EntryView::change`].
    pub fn changes(&self, after: u64) -> Changes {
        Changes { outbox: self.clone(), after, waiting: OutboxWaiting::register(self.engine()), page: VecDeque::new() }
    }

    /// Calls `tell` with the entry as it is, and again with each change that is seen, until it is settled or `tell` answers false;
    /// the entry as it was told last. There is no time limit.
    ///
    /// # Errors
    /// As [`wait`](Outbox::wait).
    pub fn changes_of(&self, id: EntryId, mut tell: impl FnMut(&EntryView) -> bool) -> Result<EntryView> {
        let waiting = OutboxWaiting::register(self.engine());
        let mut told = None;
        loop {
            let entry = self.the(id)?;
            if told != Some(entry.change()) {
                told = Some(entry.change());
                if !tell(&entry) || entry.is_settled() {
                    return Ok(entry);
                }
            }
            waiting.bell.wait(self.nap(Duration::from_hours(1)));
        }
    }

    fn the(&self, id: EntryId) -> Result<EntryView> {
        self.get(id)?.ok_or_else(|| Error::no_entry(id.get()))
    }

    /// How long to wait for the bell before looking again, for `span` of the ledger's clock to pass.
    pub(crate) fn nap(&self, span: Duration) -> Duration {
        self.engine().nap(span)
    }

    /// A place among those who are woken by every change.
    pub(crate) fn waiting(&self) -> OutboxWaiting {
        OutboxWaiting::register(self.engine())
    }

    /// Rings the bell of that place after a while, for a future.
    pub(crate) fn alarm(&self, waiting: &OutboxWaiting) -> Alarm {
        self.engine().alarm(&waiting.bell)
    }

    pub(crate) fn monotonic_ms(&self) -> u64 {
        self.engine().clock.monotonic_ms()
    }

    /// Whether calls are answered: neither suspended, closed nor poisoned.
    pub(crate) fn is_open(&self) -> bool {
        self.engine().check_open().is_ok()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.engine().phase() == Phase::Closed
    }

    /// How long it is until the next wake-up (O11), in milliseconds; negative: how long it is overdue.
    pub(crate) fn wakes_in_ms(&self, scope: &Scope) -> Result<Option<i64>> {
        let (at, now) = self.engine().outbox_wakeup(&self.opened.terms, scope)?;
        let signed = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
        Ok(at.map(|at| signed(at).saturating_sub(signed(now.at))))
    }

    /// Whether a lane of the scope is held (O8).
    pub(crate) fn has_held_lane(&self, scope: &Scope) -> Result<bool> {
        Ok(self.engine().outbox_has_held_lane(scope)?)
    }
}

/// The changes of an outbox, one after the other. Made by [`Outbox::changes`].
pub struct Changes {
    outbox: Outbox,
    after: u64,
    waiting: OutboxWaiting,
    page: VecDeque<EntryView>,
}

impl Changes {
    /// The next entry that changed; blocks at most for `timeout`; `None` when the time is up.
    ///
    /// # Errors
    /// `Closed`, `Suspended` when that happens; those of storage.
    pub fn next(&mut self, timeout: Duration) -> Result<Option<EntryView>> {
        let clock = self.outbox.engine().clock.clone();
        let give_up_at = clock.end_ms(timeout);
        loop {
            if let Some(entry) = self.look()? {
                return Ok(Some(entry));
            }
            let rest_ms = give_up_at.saturating_sub(clock.monotonic_ms());
            if rest_ms == 0 {
                return Ok(None);
            }
            self.waiting.bell.wait(self.outbox.nap(Duration::from_millis(rest_ms)));
        }
    }

    /// The next entry that changed, as a future.
    ///
    /// # Errors
    /// As [`next`](Changes::next).
    pub async fn next_async(&mut self) -> Result<EntryView> {
        loop {
            if let Some(entry) = self.next_in_time_async(Duration::from_mins(1)).await? {
                return Ok(entry);
            }
        }
    }

    /// [`next`](Changes::next) as a future.
    ///
    /// # Errors
    /// As [`next`](Changes::next).
    pub async fn next_in_time_async(&mut self, timeout: Duration) -> Result<Option<EntryView>> {
        let clock = self.outbox.engine().clock.clone();
        let give_up_at = clock.end_ms(timeout);
        let mut alarm = self.outbox.alarm(&self.waiting);
        loop {
            if let Some(entry) = self.look()? {
                return Ok(Some(entry));
            }
            let rest_ms = give_up_at.saturating_sub(clock.monotonic_ms());
            if rest_ms == 0 {
                return Ok(None);
            }
            alarm.set(self.outbox.nap(Duration::from_millis(rest_ms)));
            self.waiting.bell.rung().await;
        }
    }

    /// The number of the last change that was told: where another process goes on.
    pub fn last_change(&self) -> u64 {
        self.after
    }

    fn look(&mut self) -> Result<Option<EntryView>> {
        if self.page.is_empty() {
            let engine = self.outbox.engine();
            let found = engine.outbox_changes(&self.outbox.opened.terms, self.after, CHANGES_PAGE)?;
            self.page = found.into_iter().map(EntryView::of).collect();
        }
        let next = self.page.pop_front();
        if let Some(entry) = &next {
            self.after = entry.change();
        }
        Ok(next)
    }
}

impl std::fmt::Debug for Changes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Changes").field("after", &self.after).finish_non_exhaustive()
    }
}
