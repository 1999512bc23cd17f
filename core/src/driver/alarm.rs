//! Rings a driver's bell in time, with few timers under way.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::{millis, monotonic};
use crate::wake::{Bell, ring_after};

/// Timers cannot be taken back: one that rings early enough is not joined by another, or each wake-up would leave one behind.
pub(super) struct Alarm {
    bell: Arc<Bell>,
    rings_at_ms: Option<u64>,
}

impl Alarm {
    pub(super) fn new(bell: &Arc<Bell>) -> Self {
        Self { bell: bell.clone(), rings_at_ms: None }
    }

    /// The bell rings when `span` has passed, or before.
    pub(super) fn set(&mut self, span: Duration) {
        let now_ms = monotonic();
        let at_ms = now_ms.saturating_add(millis(span));
        let is_set = self.rings_at_ms.is_some_and(|rings_at_ms| (now_ms + 1..=at_ms).contains(&rings_at_ms));
        if !is_set {
            ring_after(&self.bell, span);
            self.rings_at_ms = Some(at_ms);
        }
    }
}
