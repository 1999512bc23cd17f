//! What was acknowledged, kept by the test: the ledger must show exactly this, whatever happened to its disk.

use std::collections::{BTreeMap, BTreeSet};

use keyledger::{Error, Filter, KeyId, Ledger, RecordView, StateName};

use super::names;
use super::sketch::Sketch;

/// A record's or a row's next state.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Record(KeyId, Option<Box<Sketch>>),
    Row(&'static str, Vec<u8>, Option<Vec<u8>>),
}

impl Change {
    pub(crate) fn record(id: &KeyId, sketch: impl Into<Option<Sketch>>) -> Change {
        Change::Record(id.clone(), sketch.into().map(Box::new))
    }
}

/// What the command in hand may have changed, should it never be acknowledged.
#[derive(Debug, Clone)]
enum Doubt {
    /// The first so many of these commits, each of them whole.
    Commits(Vec<Vec<Change>>),
    /// Each of these by itself.
    Each(Vec<Change>),
}

/// Whether a command that was told an error had taken effect all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Landed {
    No,
    Partly,
    Whole,
}

/// Everything that a ledger shows of what is on disk.
pub(crate) struct Shown {
    records: BTreeMap<KeyId, RecordView>,
    rows: BTreeMap<(&'static str, Vec<u8>), Vec<u8>>,
}

impl Shown {
    /// Volatile claims are left out: they may go at any time (E2).
    pub(crate) fn by(ledger: &Ledger) -> Result<Shown, Error> {
        let mut shown = Shown { records: BTreeMap::new(), rows: BTreeMap::new() };
        let mut filter = Filter::all().limit(7);
        loop {
            let page = ledger.list(&filter)?;
            let durable = page.records.into_iter().filter(|view| !view.is_volatile());
            shown.records.extend(durable.map(|view| (view.key_id().clone(), view)));
            match page.next {
                Some(next) => filter = filter.after(next),
                None => break,
            }
        }
        for table in names::TABLES {
            let rows = ledger.scan(table, &[], None, usize::MAX)?;
            shown.rows.extend(rows.into_iter().map(|(key, value)| ((table, key), value)));
        }
        Ok(shown)
    }
}

/// What was acknowledged.
#[derive(Debug, Clone)]
pub(crate) struct Journal {
    pub(crate) records: BTreeMap<KeyId, Sketch>,
    pub(crate) rows: BTreeMap<(&'static str, Vec<u8>), Vec<u8>>,
    /// The highest fence that anybody was ever told.
    pub(crate) fences: u64,
    doubt: Doubt,
}

impl Journal {
    pub(crate) fn new() -> Journal {
        Journal { records: BTreeMap::new(), rows: BTreeMap::new(), fences: 0, doubt: Doubt::Each(Vec::new()) }
    }

    /// The command in hand stores all of `changes` in one commit.
    pub(crate) fn expect(&mut self, changes: Vec<Change>) {
        self.expect_commits(vec![changes]);
    }

    /// The command in hand makes these commits, one after the other.
    pub(crate) fn expect_commits(&mut self, commits: Vec<Vec<Change>>) {
        self.doubt = Doubt::Commits(commits);
    }

    /// The command in hand makes each of these changes by itself, in any order.
    pub(crate) fn expect_each(&mut self, changes: Vec<Change>) {
        self.doubt = Doubt::Each(changes);
    }

    /// The command in hand was told that all is well.
    pub(crate) fn acknowledge(&mut self) {
        match std::mem::replace(&mut self.doubt, Doubt::Each(Vec::new())) {
            Doubt::Commits(commits) => commits.into_iter().flatten().for_each(|change| self.apply(change)),
            Doubt::Each(changes) => changes.into_iter().for_each(|change| self.apply(change)),
        }
    }

    /// Somebody was granted a claim. I5: its fence is above all that were told before.
    pub(crate) fn told_fence(&mut self, id: &KeyId, fence: u64) {
        assert!(fence > self.fences && fence < 1 << 53, "I5: {fence} after {}", self.fences);
        self.fences = fence;
        if let Some(sketch) = self.records.get_mut(id) {
            sketch.fence.get_or_insert(fence);
        }
    }

    /// The command in hand has granted a claim with this fence, and knows no more yet.
    pub(crate) fn expect_fence(&mut self, fence: u64) {
        let Doubt::Commits(commits) = &mut self.doubt else { return };
        for change in commits.iter_mut().flatten() {
            if let Change::Record(_, Some(sketch)) = change {
                sketch.fence = Some(fence);
            }
        }
    }

    /// The record of a key id as it counts at `now`.
    pub(crate) fn record(&self, id: &KeyId, now: u64) -> Option<Sketch> {
        self.records.get(id).and_then(|sketch| sketch.aged(now))
    }

    /// P6, P7: what was renewed in memory is on disk.
    pub(crate) fn store_leases(&mut self) {
        for sketch in self.records.values_mut() {
            sketch.lease_ends = sketch.lease_ends.iter().max().copied().into_iter().collect();
        }
    }

    /// S6: `reopen` releases what a begin that ended in an error may have stored.
    pub(crate) fn expect_orphans_released(&mut self, now: u64) {
        let commits = match &mut self.doubt {
            Doubt::Commits(commits) => commits,
            Doubt::Each(_) => return,
        };
        for change in commits.iter_mut().flatten() {
            if let Change::Record(_, Some(sketch)) = change
                && sketch.state == StateName::InProgress
                && sketch.fence.is_none()
                && !sketch.recovered
            {
                **sketch = sketch.released(now);
            }
        }
    }

    /// I2, I4, S7: what is shown is what was acknowledged, and of the command in hand nothing, all, or whole commits of it.
    /// The journal goes on from what is shown.
    pub(crate) fn compare(&mut self, shown: &Shown, now: u64) -> Landed {
        let mut candidates = self.candidates(shown, now);
        let Some(found) = candidates.iter().position(|candidate| candidate.faults(shown).is_empty()) else {
            let faults: Vec<_> = candidates.iter().map(|candidate| candidate.faults(shown)).collect();
            panic!("I4: of what was acknowledged, this is not shown (a list for each state allowed): {faults:#?}");
        };
        let last = candidates.len() - 1;
        *self = candidates.swap_remove(found);
        self.learn_fences(shown);
        match found {
            0 if last > 0 => Landed::No,
            found if found == last => Landed::Whole,
            _ => Landed::Partly,
        }
    }

    fn candidates(&self, shown: &Shown, now: u64) -> Vec<Journal> {
        let mut state = Journal { doubt: Doubt::Each(Vec::new()), ..self.clone() };
        state.age(now);
        match &self.doubt {
            Doubt::Commits(commits) => {
                let mut candidates = vec![state.clone()];
                for changes in commits {
                    changes.iter().cloned().for_each(|change| state.apply(change));
                    candidates.push(state.clone());
                }
                candidates
            }
            Doubt::Each(changes) => {
                changes
                    .iter()
                    .filter(|change| self.has_landed(change, shown))
                    .cloned()
                    .for_each(|change| state.apply(change));
                vec![state]
            }
        }
    }

    fn has_landed(&self, change: &Change, shown: &Shown) -> bool {
        match change {
            Change::Record(id, None) => !shown.records.contains_key(id),
            Change::Record(id, Some(sketch)) => {
                shown.records.get(id).is_some_and(|view| sketch.fits(view, self.fences))
            }
            Change::Row(table, key, value) => shown.rows.get(&(*table, key.clone())) == value.as_ref(),
        }
    }

    fn age(&mut self, now: u64) {
        let aged = self.records.iter().filter_map(|(id, sketch)| Some((id.clone(), sketch.aged(now)?)));
        self.records = aged.collect();
    }

    /// Everything that is shown and not in the journal, or the other way round.
    fn faults(&self, shown: &Shown) -> Vec<String> {
        let mut faults = Vec::new();
        for (id, sketch) in &self.records {
            match shown.records.get(id) {
                Some(view) if sketch.fits(view, self.fences) => {}
                other => faults.push(format!("{id}: {sketch:?} is {other:?}")),
            }
        }
        let more = shown.records.keys().filter(|id| !self.records.contains_key(id));
        faults.extend(more.map(|id| format!("{id} is there")));
        let rows: BTreeSet<_> = self.rows.iter().collect();
        for ((table, key), value) in rows.symmetric_difference(&shown.rows.iter().collect()) {
            faults.push(format!("{table} {key:?} is not alike: {} bytes", value.len()));
        }
        faults
    }

    fn learn_fences(&mut self, shown: &Shown) {
        for (id, sketch) in &mut self.records {
            let fence = shown.records[id].fence();
            sketch.fence = Some(fence);
            self.fences = self.fences.max(fence);
        }
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Record(id, Some(sketch)) => drop(self.records.insert(id, *sketch)),
            Change::Record(id, None) => drop(self.records.remove(&id)),
            Change::Row(table, key, Some(value)) => drop(self.rows.insert((table, key), value)),
            Change::Row(table, key, None) => drop(self.rows.remove(&(table, key))),
        }
    }
}
