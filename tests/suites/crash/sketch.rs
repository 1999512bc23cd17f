//! What a record must look like, drawn by the test alone from the commands that were acknowledged.

use keyledger::{Effect, Operation, RecordView, Response, StateName};

use super::names;

/// A record as it must be on disk. Instants are milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone)]
pub(crate) struct Sketch {
    pub(crate) state: StateName,
    pub(crate) effect: Effect,
    /// `None`: granted, but the caller was never told by which fence.
    pub(crate) fence: Option<u64>,
    pub(crate) attempt: u32,
    pub(crate) memo: Vec<u8>,
    pub(crate) steps: Vec<(String, Vec<u8>)>,
    pub(crate) response: Option<Response>,
    pub(crate) reason: Option<String>,
    /// How often a person decided about it.
    pub(crate) audit: usize,
    /// In progress: the instants at which its lease may end. A heartbeat is in memory until somebody stores it.
    pub(crate) lease_ends: Vec<u64>,
    /// When it was settled, until when it is replayed, when its tombstone ends.
    pub(crate) kept: Option<(u64, u64, u64)>,
    /// Handed out by recovery: what the lost owner did is as unknown as before.
    pub(crate) recovered: bool,
    pub(crate) operation: &'static Operation,
}

impl Sketch {
    /// Granted for the first time.
    pub(crate) fn granted(operation: &'static Operation, memo: &[u8], now: u64) -> Sketch {
        Sketch {
            state: StateName::InProgress,
            effect: operation.effect(),
            fence: None,
            attempt: 1,
            memo: memo.to_vec(),
            steps: Vec::new(),
            response: None,
            reason: None,
            audit: 0,
            lease_ends: vec![now + names::LEASE_MS],
            kept: None,
            recovered: false,
            operation,
        }
    }

    /// Granted once more, to the next owner.
    pub(crate) fn granted_again(&self, memo: &[u8], now: u64) -> Sketch {
        let mut next = Sketch::granted(self.operation, if memo.is_empty() { &self.memo } else { memo }, now);
        (next.attempt, next.audit, next.steps) = (self.attempt + 1, self.audit, self.steps.clone());
        next
    }

    pub(crate) fn completed(&self, response: &Response, now: u64) -> Sketch {
        self.ended(StateName::Completed, Some(response), now)
    }

    pub(crate) fn failed(&self, response: &Response, now: u64) -> Sketch {
        self.ended(StateName::Failed, Some(response), now)
    }

    pub(crate) fn released(&self, now: u64) -> Sketch {
        self.ended(StateName::Released, None, now)
    }

    pub(crate) fn parked(&self, reason: &str) -> Sketch {
        let state = StateName::Parked;
        Sketch {
            state,
            reason: Some(reason.to_owned()),
            response: None,
            kept: None,
            lease_ends: vec![],
            ..self.clone()
        }
    }

    fn ended(&self, state: StateName, response: Option<&Response>, now: u64) -> Sketch {
        let until = now + names::RETENTION_MS;
        let kept = Some((now, until, until + names::tombstone_ms(self.operation)));
        Sketch { state, response: response.cloned(), kept, reason: None, lease_ends: vec![], ..self.clone() }
    }

    /// What it counts as at `now` (contract section 4, T1).
    pub(crate) fn aged(&self, now: u64) -> Option<Sketch> {
        if self.state == StateName::InProgress && self.effect == Effect::InLedger {
            let end = self.lease_ends.iter().max().expect("it has a lease") + names::RETENTION_MS;
            return (now < end).then(|| self.clone());
        }
        let Some((_, until, gone)) = self.kept else { return Some(self.clone()) };
        if now < until {
            Some(self.clone())
        } else if now < gone && !(self.state == StateName::Released && self.effect == Effect::InLedger) {
            Some(self.tombstone())
        } else {
            None
        }
    }

    fn tombstone(&self) -> Sketch {
        Sketch { state: StateName::Tombstone, response: None, memo: vec![], steps: vec![], ..self.clone() }
    }

    /// Whether recovery may hand it out once its lease is over.
    pub(crate) fn is_open_to_recovery(&self) -> bool {
        self.state == StateName::InProgress || self.reason.as_deref() == Some(names::OWNER_LOST)
    }

    /// Parked, or in progress with a lease that is over and an effect that nobody can tell.
    pub(crate) fn waits_for_a_person(&self, now: u64) -> bool {
        let lapsed = self.lease_ends.iter().max().is_some_and(|end| *end <= now);
        self.state == StateName::Parked || (lapsed && self.effect == Effect::AtMostOnce)
    }

    /// Whether this is what the ledger shows. A fence that nobody was told must be above `fences`.
    pub(crate) fn fits(&self, view: &RecordView, fences: u64) -> bool {
        let steps = view.steps().iter().map(|step| (step.name.as_str(), step.value.as_slice()));
        let kept = (view.settled_at_ms(), view.retained_until_ms(), view.gone_at_ms());
        // Section 4: a lapsed AtMostOnce record counts as parked.
        let is_lost = view.is_lapsed() && (self.state, self.effect) == (StateName::InProgress, Effect::AtMostOnce);
        let lost = (StateName::Parked, Some(names::OWNER_LOST));
        let (state, reason) = if is_lost { lost } else { (self.state, self.reason.as_deref()) };
        (view.state(), view.effect(), view.attempt()) == (state, self.effect, self.attempt)
            && self.fence.map_or(view.fence() > fences, |fence| fence == view.fence())
            && view.memo() == self.memo
            && steps.eq(self.steps.iter().map(|(name, value)| (name.as_str(), value.as_slice())))
            && view.response() == self.response.as_ref()
            && view.parked().map(|(reason, _)| reason.as_str()) == reason
            && view.audit().len() == self.audit
            && view.lease_end_ms().is_none_or(|end| self.lease_ends.contains(&end))
            && kept == (self.kept.map(|at| at.0), self.kept.map(|at| at.1), self.kept.map(|at| at.2))
    }
}
