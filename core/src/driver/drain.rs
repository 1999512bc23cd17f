//! How far a drain is (O15).

use std::collections::HashMap;
use std::time::Duration;

use super::error::DriverError;
use super::settings::Settings;
use crate::entry::{EntryId, EntryView};
use crate::error::Result;
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
        EntryStateName::ALL.into_iter().filter(|state| !is_settled(*state)).map(|state| self.count(state)).sum()
    }
}

/// The states of a scope's entries, followed from change to change.
pub(super) struct Tally {
    scope: Scope,
    changes: Changes,
    states: HashMap<EntryId, EntryStateName>,
    counts: [u64; EntryStateName::ALL.len()],
    settled_before: u64,
}

impl Tally {
    pub(super) fn begin(settings: &Settings) -> Result<Self, DriverError> {
        Self::read(settings).map_err(|source| DriverError { source, reports: Vec::new() })
    }

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
        self.count(is_settled)
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

    pub(super) fn progress(&mut self, sent: u64) -> Result<DrainProgress> {
        self.catch_up()?;
        let settled = self.settled().saturating_sub(self.settled_before);
        Ok(DrainProgress { sent, settled, remaining: self.count(|state| !is_settled(state)) })
    }

    pub(super) fn drained(mut self, sent: u64, was_stopped: bool) -> Result<Drained, DriverError> {
        match self.progress(sent) {
            Ok(DrainProgress { sent, settled, .. }) => Ok(Drained { sent, settled, was_stopped, counts: self.counts }),
            Err(source) => Err(DriverError { source, reports: Vec::new() }),
        }
    }
}

fn is_settled(state: EntryStateName) -> bool {
    match state {
        EntryStateName::Pending | EntryStateName::Sending | EntryStateName::Held | EntryStateName::Unknown => false,
        EntryStateName::Answered | EntryStateName::Dead | EntryStateName::Cancelled => true,
    }
}
