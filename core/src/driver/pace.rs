//! When to try again what did not work: commits that failed, and calls that handed nothing out.

use std::time::Duration;

use crate::clock::millis;
use crate::error::Error;

/// After the first commit that failed, the pause; it doubles.
const ERROR_PAUSE: Duration = Duration::from_millis(100);
/// It doubles up to this.
const ERROR_PAUSE_MAX: Duration = Duration::from_secs(5);
/// After a call that handed out nothing of what was said to be due: another process was quicker, or the outbox is at fault.
const EMPTY_PAUSE: Duration = Duration::from_millis(10);
/// It doubles up to this.
const EMPTY_PAUSE_MAX: Duration = Duration::from_secs(1);

/// A pause that doubles with each failure in a row.
pub(super) struct Pace {
    first: Duration,
    longest: Duration,
    failures: u32,
    ends_at_ms: u64,
}

impl Pace {
    pub(super) fn of_errors() -> Self {
        Self { first: ERROR_PAUSE, longest: ERROR_PAUSE_MAX, failures: 0, ends_at_ms: 0 }
    }

    pub(super) fn of_empty_turns() -> Self {
        Self { first: EMPTY_PAUSE, longest: EMPTY_PAUSE_MAX, failures: 0, ends_at_ms: 0 }
    }

    pub(super) fn failed(&mut self, now_ms: u64) {
        let pause = self.first.saturating_mul(2_u32.saturating_pow(self.failures)).min(self.longest);
        self.failures = self.failures.saturating_add(1);
        self.ends_at_ms = now_ms.saturating_add(millis(pause));
    }

    pub(super) fn went_well(&mut self) {
        (self.failures, self.ends_at_ms) = (0, 0);
    }

    /// How long the pause still lasts; `None`: it is over.
    pub(super) fn left(&self, now_ms: u64) -> Option<Duration> {
        self.ends_at_ms.checked_sub(now_ms).filter(|left| *left > 0).map(Duration::from_millis)
    }
}

/// Whether the same call may go well later, by somebody's doing or by itself.
pub(super) fn is_passing(error: &Error) -> bool {
    matches!(
        error,
        Error::Ambiguous(_) | Error::Poisoned | Error::Storage(_) | Error::Suspended | Error::Unavailable(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_doubles_up_to_its_longest_and_begins_anew_after_success() {
        let mut pace = Pace::of_errors();
        let pauses: Vec<u128> = (0..8)
            .map(|_| {
                pace.failed(1000);
                pace.left(1000).unwrap_or_default().as_millis()
            })
            .collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(pace.left(6000), None);
        pace.went_well();
        assert_eq!(pace.left(0), None);
        pace.failed(0);
        assert_eq!(pace.left(0), Some(Duration::from_millis(100)));
    }
}
