//! What a driver does next. Whoever has the threads or futures carries it out, and says how it went.

use std::time::Duration;

use super::error::DriverError;
use super::pace::{Pace, is_passing};
use super::settings::Settings;
use crate::clock::millis;
use crate::delivery::{Delivery, Report};
use crate::error::{Error, Result};
use crate::key::Scope;
use crate::machine::classify::DeliveryOutcome;
use crate::outbox::{Resumed, Turn};

/// A driver looks at least this often: machines sleep, and credentials change without a bell.
const LOOK_EVERY: Duration = Duration::from_mins(1);
/// While a lane is held, the transport is asked this often whether there are other credentials: it may have to fetch them.
const ASK_EVERY: Duration = Duration::from_secs(5);

/// Until when a driver works, unless it is stopped.
pub(super) enum Goal {
    Stopped,
    /// Nothing is due before this instant of the monotonic clock (O15).
    DrainedUntil(u64),
}

impl Goal {
    /// Nothing is due within `span` from now.
    pub(super) fn drained_in(span: Duration, settings: &Settings) -> Self {
        Goal::DrainedUntil(settings.outbox.monotonic_ms().saturating_add(millis(span)))
    }

    /// Whether what can happen in `wakes_in_ms` is none of its business any more.
    fn excludes(&self, wakes_in_ms: Option<i64>, now_ms: u64) -> bool {
        match self {
            Goal::Stopped => false,
            Goal::DrainedUntil(until_ms) => wakes_in_ms.is_none_or(|ms| ms > signed_between(now_ms, *until_ms)),
        }
    }

    fn is_past(&self, now_ms: u64) -> bool {
        matches!(self, Goal::DrainedUntil(until_ms) if *until_ms <= now_ms)
    }
}

/// What to do next.
pub(super) enum Step {
    /// Settle the reports at hand and lease at most so many, in one commit.
    Turn { limit: usize },
    /// The scope has other credentials: what was held is due.
    Resume,
    /// Wait for the bell, at most for so long.
    Rest(Duration),
    /// The work is done, or cannot go on.
    End(Result<(), DriverError>),
}

pub(super) struct Course {
    pub(super) settings: Settings,
    goal: Goal,
    /// Deliveries that are being sent.
    in_flight: usize,
    /// When the last lease of what is being sent or reported is over.
    leases_end_ms: u64,
    /// What came of deliveries, and is not known to be on disk.
    reports: Vec<Report>,
    sent: u64,
    failure: Option<Failure>,
    errors: Pace,
    empty_turns: Pace,
    /// Whether a lane was held at the last look.
    is_held: bool,
    /// When the transport is asked about credentials next.
    ask_at_ms: u64,
}

/// The last call failed.
struct Failure {
    error: Error,
    /// The same call may go well later.
    is_passing: bool,
    /// The ledger was not open then: it is worth trying as soon as it is.
    was_shut: bool,
}

impl Course {
    pub(super) fn new(settings: &Settings, goal: Goal) -> Self {
        Self {
            settings: settings.clone(),
            goal,
            in_flight: 0,
            leases_end_ms: 0,
            reports: Vec::new(),
            sent: 0,
            failure: None,
            errors: Pace::of_errors(),
            empty_turns: Pace::of_empty_turns(),
            is_held: false,
            ask_at_ms: 0,
        }
    }

    pub(super) fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// How many deliveries were sent so far.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    fn now_ms(&self) -> u64 {
        self.settings.outbox.monotonic_ms()
    }

    /// A delivery came back. One whose answer cannot be stored would keep the others from being settled: nobody knows its outcome.
    pub(super) fn finished(&mut self, report: Report) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.reports.push(match self.settings.outbox.check_report(&report) {
            Ok(()) => report,
            Err(error) => {
                let outcome = DeliveryOutcome::unknown(format!("the answer cannot be stored: {error}"));
                Report { outcome, ..report }
            }
        });
    }

    /// How a turn with the first `told` reports ended; what is to be sent.
    pub(super) fn turned(&mut self, told: usize, turn: Result<Turn>) -> Vec<Delivery> {
        let now_ms = self.now_ms();
        let deliveries = match turn {
            Ok(turn) => turn.deliveries,
            Err(error) => {
                self.failed(error);
                return Vec::new();
            }
        };
        self.went_well();
        self.reports.drain(..told);
        match deliveries.is_empty() {
            true if told == 0 => self.empty_turns.failed(now_ms),
            true => {}
            false => self.empty_turns.went_well(),
        }
        if self.in_flight == 0 && self.reports.is_empty() {
            self.leases_end_ms = 0;
        }
        for delivery in &deliveries {
            let lease_end_ms = now_ms.saturating_add(millis(delivery.lease_left()));
            self.leases_end_ms = self.leases_end_ms.max(lease_end_ms);
        }
        self.in_flight += deliveries.len();
        self.sent += deliveries.len() as u64;
        deliveries
    }

    /// How resuming ended. What was resumed is due from now on: a drain sends it still.
    pub(super) fn resumed(&mut self, resumed: Result<Resumed>) {
        match resumed {
            Ok(_) => {
                self.went_well();
                let now_ms = self.now_ms();
                if let Goal::DrainedUntil(until_ms) = &mut self.goal {
                    *until_ms = now_ms.max(*until_ms);
                }
            }
            Err(error) => self.failed(error),
        }
    }

    /// What to do next. `has_other_credentials` is asked while a lane is held.
    pub(super) fn step(&mut self, is_stopping: bool, has_other_credentials: impl FnOnce(&Scope) -> bool) -> Step {
        if let Some(step) = self.after_failure(is_stopping) {
            return step;
        }
        if is_stopping {
            return self.wind_up();
        }
        match self.go_on(has_other_credentials) {
            Ok(step) => step,
            Err(error) => {
                self.failed(error);
                self.after_failure(is_stopping).unwrap_or(Step::Rest(Duration::ZERO))
            }
        }
    }

    /// Nothing new is leased: what came back is settled, and what is out is waited for while its lease lasts.
    fn wind_up(&mut self) -> Step {
        let now_ms = self.now_ms();
        if !self.reports.is_empty() {
            Step::Turn { limit: 0 }
        } else if self.is_all_over(now_ms) {
            Step::End(Ok(()))
        } else {
            self.rest_while_leases_last(now_ms)
        }
    }

    fn go_on(&mut self, has_other_credentials: impl FnOnce(&Scope) -> bool) -> Result<Step> {
        let now_ms = self.now_ms();
        let free = self.settings.in_flight.saturating_sub(self.in_flight);
        if !self.reports.is_empty() {
            // Past its end, a drain leases only if something is left that was due before.
            let is_over = self.goal.is_past(now_ms) && self.goal.excludes(self.wakes_in_ms()?, now_ms);
            return Ok(Step::Turn { limit: if is_over { 0 } else { free } });
        }
        if free == 0 {
            let is_done = self.goal.is_past(now_ms) && self.is_all_over(now_ms);
            return Ok(if is_done { Step::End(Ok(())) } else { self.rest_while_leases_last(now_ms) });
        }
        if now_ms >= self.ask_at_ms {
            self.is_held = self.settings.outbox.has_held_lane(&self.settings.scope)?;
            if self.is_held {
                self.ask_at_ms = now_ms.saturating_add(millis(ASK_EVERY));
                if has_other_credentials(&self.settings.scope) {
                    return Ok(Step::Resume);
                }
            }
        }
        let wakes_in_ms = self.wakes_in_ms()?;
        if self.goal.excludes(wakes_in_ms, now_ms) {
            self.went_well();
            let is_done = self.is_all_over(now_ms);
            return Ok(if is_done { Step::End(Ok(())) } else { self.rest_while_leases_last(now_ms) });
        }
        Ok(match wakes_in_ms.map(|ms| u64::try_from(ms).unwrap_or(0)) {
            Some(0) => self.empty_turns.left(now_ms).map_or(Step::Turn { limit: free }, Step::Rest),
            wakes_in_ms => {
                self.went_well();
                self.empty_turns.went_well();
                let longest = if self.is_held { ASK_EVERY } else { LOOK_EVERY };
                Step::Rest(wakes_in_ms.map_or(longest, Duration::from_millis).min(longest))
            }
        })
    }

    /// Whether nothing is out whose lease still lasts: a send that never comes back is waited for no longer.
    fn is_all_over(&self, now_ms: u64) -> bool {
        self.in_flight == 0 || self.leases_end_ms <= now_ms
    }

    fn rest_while_leases_last(&self, now_ms: u64) -> Step {
        let left_ms = self.leases_end_ms.checked_sub(now_ms).filter(|left_ms| *left_ms > 0);
        Step::Rest(left_ms.map_or(LOOK_EVERY, Duration::from_millis).min(LOOK_EVERY))
    }

    fn wakes_in_ms(&self) -> Result<Option<i64>> {
        self.settings.outbox.wakes_in_ms(&self.settings.scope)
    }

    /// What to do about a call that failed; `None`: try again.
    fn after_failure(&mut self, is_stopping: bool) -> Option<Step> {
        let now_ms = self.now_ms();
        let failure = self.failure.as_ref()?;
        let leases_left = Duration::from_millis(self.leases_end_ms.saturating_sub(now_ms));
        let is_all_back = self.is_all_over(now_ms);
        if !failure.is_passing {
            return Some(if is_all_back { Step::End(self.give_up()) } else { Step::Rest(leases_left) });
        }
        if is_stopping && is_all_back && self.reports.is_empty() {
            return Some(Step::End(Ok(())));
        }
        if (is_stopping || self.goal.is_past(now_ms)) && leases_left.is_zero() {
            return Some(Step::End(self.give_up()));
        }
        let is_open_again = failure.was_shut && self.settings.outbox.is_open();
        self.errors.left(now_ms).filter(|_| !is_open_again).map(Step::Rest)
    }

    fn give_up(&mut self) -> Result<(), DriverError> {
        let source = self.failure.take().map_or(Error::Closed, |failure| failure.error);
        Err(DriverError { source, reports: std::mem::take(&mut self.reports) })
    }

    fn failed(&mut self, error: Error) {
        tracing::warn!(%error, "a driver's call of the outbox failed");
        if let Some(on_error) = &self.settings.on_error {
            on_error(&error);
        }
        self.errors.failed(self.now_ms());
        let outbox = &self.settings.outbox;
        // A call that `suspend` or `reopen` overtakes may meet a closed file, too.
        let is_passing = is_passing(&error) || (matches!(error, Error::Closed) && !outbox.is_closed());
        self.failure = Some(Failure { error, is_passing, was_shut: !outbox.is_open() });
    }

    fn went_well(&mut self) {
        self.failure = None;
        self.errors.went_well();
    }
}

impl Drop for Course {
    /// Outcomes at hand are queued to be stored, though nobody is left to hear how that ends.
    fn drop(&mut self) {
        for report in &self.reports {
            drop(self.settings.outbox.settle_async(report));
        }
    }
}

/// How far it is from one instant to another; negative, if that was before.
fn signed_between(from_ms: u64, to_ms: u64) -> i64 {
    let signed = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
    if to_ms >= from_ms { signed(to_ms - from_ms) } else { -signed(from_ms - to_ms) }
}
