//! How far a drain is (O15).

use std::collections::HashMap;
use std::time::Duration;

use super::error::DriverError;
use super::settings::Settings;
use crate::entry::{EntryId, EntryView};
use crate::error::{Error, Result};
use crate::key::Scope;
use crate::machine::standing::EntryStateName;
use crate::outbox::{Changes, EntryFilter};

/// How many entries are read at a time.
const PAGE: usize = 256;

/// How far a drain is. It counts entries of its scope, whoever sends and settles them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrainProgress {
    /// How many deliveries this drain has sent; an entry that is tried twice counts twice.
    pub sent: u64,
    /// How many entries were settled since it began.
    pub settled: u64,
    /// How many are unsettled, those that are held or unknown too.
    pub remaining: u64,
}

/// What a drain has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drained {
    /// How many deliveries it has sent.
    pub sent: u64,
    /// How many entries were settled meanwhile.
    pub settled: u64,
    /// Whether it was stopped before it was done.
    pub was_stopped: bool,
    counts: [u64; EntryStateName::ALL.len()],
}

impl Drained {
    /// How many entries of the scope are in a state, as it is stored.
    pub fn count(&self, state: EntryStateName) -> u64 {
        self.counts[state as usize]
    }

    /// How many are unsettled.
    pub fn unsettled(&self) -> u64 {
        EntryStateName::ALL.into_iter().filter(|state| !state.is_settled()).map(|state| self.count(state)).sum()
    }
}

/// The states of a scope's entries, followed from change to change.
struct Tally {
    scope: Scope,
    changes: Changes,
    states: HashMap<EntryId, EntryStateName>,
    counts: [u64; EntryStateName::ALL.len()],
    settled_before: u64,
}

impl Tally {
    fn read(settings: &Settings) -> Result<Self> {
        let Settings { outbox, scope, .. } = settings;
        // From before the first page on, so that what changes while it reads is seen again.
        let changes = outbox.changes(outbox.stats()?.last_change);
        let (scope, counts) = (scope.clone(), Default::default());
        let mut tally = Self { scope, changes, states: HashMap::new(), counts, settled_before: 0 };
        let first = EntryFilter::all().scope(&tally.scope).limit(PAGE);
        let mut filter = first.clone();
        loop {
            let page = outbox.list(&filter)?;
            page.entries.iter().for_each(|entry| tally.note(entry));
            let Some(next) = page.next else { break };
            filter = first.clone().after(next);
        }
        tally.settled_before = tally.settled();
        Ok(tally)
    }

    fn note(&mut self, entry: &EntryView) {
        if *entry.scope() != self.scope {
            return;
        }
        if let Some(before) = self.states.insert(entry.id(), entry.state()) {
            self.counts[before as usize] -= 1;
        }
        self.counts[entry.state() as usize] += 1;
    }

    fn settled(&self) -> u64 {
        self.count(EntryStateName::is_settled)
    }

    fn count(&self, counts: impl Fn(EntryStateName) -> bool) -> u64 {
        EntryStateName::ALL.into_iter().filter(|state| counts(*state)).map(|state| self.counts[state as usize]).sum()
    }

    fn catch_up(&mut self) -> Result<()> {
        while let Some(entry) = self.changes.next(Duration::ZERO)? {
            self.note(&entry);
        }
        Ok(())
    }

    fn progress(&mut self, sent: u64) -> Result<DrainProgress> {
        self.catch_up()?;
        let settled = self.settled().saturating_sub(self.settled_before);
        Ok(DrainProgress { sent, settled, remaining: self.count(|state| !state.is_settled()) })
    }
}

/// A drain under way: what it counts, and whom it tells.
pub(super) struct Draining<P> {
    tally: Tally,
    sent: u64,
    progress: P,
}

impl<P: FnMut(&DrainProgress)> Draining<P> {
    /// Reads what there is, and tells for the first time.
    pub(super) fn begin(settings: &Settings, progress: P) -> Result<Self, DriverError> {
        let mut draining = Self { tally: Tally::read(settings).map_err(without_reports)?, sent: 0, progress };
        draining.tell(0);
        Ok(draining)
    }

    /// So many deliveries were sent so far.
    pub(super) fn tell(&mut self, sent: u64) {
        self.sent = sent;
        if let Ok(now) = self.tally.progress(sent) {
            (self.progress)(&now);
        }
    }

    pub(super) fn drained(mut self, was_stopped: bool) -> Result<Drained, DriverError> {
        let DrainProgress { sent, settled, .. } = self.tally.progress(self.sent).map_err(without_reports)?;
        Ok(Drained { sent, settled, was_stopped, counts: self.tally.counts })
    }
}

fn without_reports(source: Error) -> DriverError {
    DriverError { source, reports: Vec::new() }
}
