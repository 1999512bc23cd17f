//! Time to live: sweeping, forgetting, counting (contract sections 4 and 6).

use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::recovery::{CHUNK, prefix_end, rows_from};
use super::{Engine, EngineError, Session, read_entry, read_with};
use crate::codec::address::{Address, RowKey, scope_mark};
use crate::codec::counters::{COUNTERS, Counters};
use crate::codec::index::{self, FOR_A_PERSON, RECOVERABLE};
use crate::key::{KeyId, Scope};
use crate::machine::expire::{Age, age};
use crate::machine::record::{Record, Stamp, State};
use crate::machine::recover::is_lapsed;
use crate::operation::Effect;
use crate::options::{FENCE_MAX, STATS_COUNT_MAX};
use crate::store::{Snapshot, Space};

/// What a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sweep {
    pub(crate) at_ms: u64,
    pub(crate) tombstoned: u64,
    pub(crate) removed: u64,
    pub(crate) entries_removed: u64,
    pub(crate) more: bool,
    pub(crate) took: Duration,
}

/// What `forget` did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Forgot {
    pub(crate) settled: u64,
    pub(crate) released: u64,
    pub(crate) tombstones: u64,
    pub(crate) unsettled: u64,
    pub(crate) kept: u64,
    pub(crate) entries: u64,
    pub(crate) entries_kept: u64,
}

/// What `stats` counts beyond the counters. Each count stops at [`STATS_COUNT_MAX`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) counters: Counters,
    pub(crate) lapsed: u64,
    pub(crate) lapsed_at_most_once: u64,
    pub(crate) due: u64,
    pub(crate) oldest_unsettled_at: Option<u64>,
}

impl Counted {
    fn note_unsettled(&mut self, at: u64) {
        self.oldest_unsettled_at = Some(self.oldest_unsettled_at.map_or(at, |oldest| oldest.min(at)));
    }
}

impl Engine {
    /// T2: turns at most `limit` expired records into their next state, oldest first, in one transaction.
    pub(crate) fn sweep(self: &Arc<Self>, limit: usize) -> Result<Sweep, EngineError> {
        let began_ms = self.clock.monotonic_ms();
        let sweep = self.session(move |session| session.sweep(limit))?;
        Ok(self.after_sweep(sweep, began_ms))
    }

    /// What follows a sweep of the disk.
    pub(crate) fn after_sweep(&self, mut sweep: Sweep, began_ms: u64) -> Sweep {
        self.sweep_memory();
        sweep.took = Duration::from_millis(self.clock.monotonic_ms().saturating_sub(began_ms));
        *self.last_sweep.lock().unwrap_or_else(PoisonError::into_inner) = Some(sweep);
        sweep
    }

    /// Reservations in memory that have become no record.
    fn sweep_memory(&self) {
        let now = self.now();
        self.memory.for_each(|_, slot| {
            let witness = slot.witness;
            slot.volatile.take_if(|record| age(record, &witness, now) == Age::NoRecord);
        });
    }

    pub(crate) fn last_sweep(&self) -> Option<Sweep> {
        *self.last_sweep.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn forget(self: &Arc<Self>, id: KeyId, even_if_unknown: bool) -> Result<Forgot, EngineError> {
        let address = self.address(id);
        self.session(move |session| session.forget(&address, even_if_unknown))
    }

    /// Every record of a scope, those in memory included; all in one commit.
    pub(crate) fn forget_scope(self: &Arc<Self>, scope: Scope, even_if_unknown: bool) -> Result<Forgot, EngineError> {
        self.session(move |session| session.forget_scope(&scope, even_if_unknown))
    }

    /// T4: at a cost that does not depend on the ledger's size.
    pub(crate) fn count(&self) -> Result<Counted, EngineError> {
        let snapshot = self.snapshot()?;
        let counters = read_with(&*snapshot, Space::Meta, COUNTERS, Counters::decode)?.unwrap_or_default();
        let mut counted = Counted { counters, ..Counted::default() };
        self.count_unsettled(&*snapshot, &mut counted)?;
        counted.due = self.count_due(&*snapshot, STATS_COUNT_MAX)?;
        self.count_volatile(&mut counted);
        Ok(counted)
    }

    /// Counts records that a sweep has something to do with, up to `limit`.
    fn count_due(&self, view: &dyn Snapshot, limit: u64) -> Result<u64, EngineError> {
        let now = self.now();
        let (mut due, mut rows) = (0, DueRows::new(now));
        while due < limit {
            let Some(row) = rows.next(view)? else { break };
            let Some((_, record)) = read_entry(view, &row)? else { continue };
            due += u64::from(age(&record, &self.memory.look(&row).witness, now) != Age::AsStored);
        }
        Ok(due)
    }

    /// Walks the unsettled rows operation by operation, oldest first, and skips from each to the next.
    fn count_unsettled(&self, view: &dyn Snapshot, counted: &mut Counted) -> Result<(), EngineError> {
        let mut from = vec![FOR_A_PERSON.min(RECOVERABLE)];
        for _ in 0..STATS_COUNT_MAX {
            let Some(first) = rows_from(view, Space::Unsettled, &from, Bound::Unbounded, 1)?.pop() else { break };
            let row = index::read_unsettled(&first)?;
            let end = prefix_end(&index::unsettled_prefix(row.class, row.operation));
            if let Some((_, record)) = read_entry(view, &row.row)? {
                counted.note_unsettled(waits_since(&record));
            }
            if row.class == RECOVERABLE {
                self.count_lapsed(view, &first, &end, counted)?;
            }
            from = end;
        }
        Ok(())
    }

    fn count_lapsed(
        &self,
        view: &dyn Snapshot,
        from: &[u8],
        end: &[u8],
        counted: &mut Counted,
    ) -> Result<(), EngineError> {
        let limit = usize::try_from(STATS_COUNT_MAX.saturating_sub(counted.lapsed)).unwrap_or(usize::MAX);
        for key in rows_from(view, Space::Unsettled, from, Bound::Excluded(end), limit)? {
            let row = index::read_unsettled(&key)?.row;
            let Some((_, record)) = read_entry(view, &row)? else { continue };
            let now = self.now();
            self.memory.see(&row, &record, now);
            if is_lapsed(&record, &self.memory.look(&row).witness, now) {
                counted.lapsed += 1;
                counted.lapsed_at_most_once += u64::from(record.effect == Effect::AtMostOnce);
            }
        }
        Ok(())
    }

    /// Reservations in memory are in progress like any other.
    fn count_volatile(&self, counted: &mut Counted) {
        let now = self.now();
        self.memory.for_each(|_, slot| {
            if let Some(record) = &slot.volatile
                && age(record, &slot.witness, now) == Age::AsStored
            {
                counted.counters.in_progress += 1;
                counted.lapsed += u64::from(is_lapsed(record, &slot.witness, now));
                counted.note_unsettled(waits_since(record));
            }
        });
        counted.lapsed = counted.lapsed.min(STATS_COUNT_MAX);
    }
}

/// The rows that the expiry index has as due, oldest first, a chunk at a time.
///
/// The index goes by the wall clock, a lease by what L7 says: a claim whose lease goes on is among them.
struct DueRows {
    from: Vec<u8>,
    end: Option<[u8; 8]>,
    chunk: VecDeque<Vec<u8>>,
}

impl DueRows {
    fn new(now: Stamp) -> Self {
        Self { from: Vec::new(), end: index::expiry_end(now.wall_ms), chunk: VecDeque::new() }
    }

    fn next(&mut self, view: &dyn Snapshot) -> Result<Option<RowKey>, EngineError> {
        if self.chunk.is_empty() {
            let end = self.end.as_ref().map_or(Bound::Unbounded, |end| Bound::Excluded(end.as_slice()));
            self.chunk = rows_from(view, Space::Expiry, &self.from, end, CHUNK)?.into();
            if let Some(last) = self.chunk.back() {
                self.from = [last.as_slice(), &[0]].concat();
            }
        }
        let Some(key) = self.chunk.pop_front() else { return Ok(None) };
        Ok(Some(index::read_expiry(&key)?.1))
    }
}

/// Since when an unsettled record waits: a parked one since it was parked, another since it was first granted.
fn waits_since(record: &Record) -> u64 {
    match &record.state {
        State::Parked { since, .. } => *since,
        State::InProgress { .. }
        | State::Released(_)
        | State::Completed(..)
        | State::Failed(..)
        | State::Tombstone(_) => record.first_granted.wall_ms,
    }
}

impl Session<'_> {
    /// Every key id of a scope that has a stored record.
    fn addresses_of(&self, scope: &Scope) -> Result<Vec<Address>, EngineError> {
        let prefix = scope_mark(scope, &self.engine.salt);
        let end = prefix_end(&prefix);
        let end = if end.is_empty() { Bound::Unbounded } else { Bound::Excluded(end.as_slice()) };
        let mut addresses = Vec::new();
        for space in [Space::Records, Space::Live] {
            for key in rows_from(self.overlay, space, &prefix, end, usize::MAX)? {
                let row = index::read_row(&key)?;
                if let Some((id, _)) = read_entry(self.overlay, &row)?.filter(|(id, _)| id.scope() == scope) {
                    addresses.push(Address { id, row });
                }
            }
        }
        Ok(addresses)
    }

    pub(crate) fn forget(&mut self, address: &Address, even_if_unknown: bool) -> Result<Forgot, EngineError> {
        let mut forgot = Forgot::default();
        self.forget_one(address, even_if_unknown, &mut forgot)?;
        Ok(forgot)
    }

    /// Every record of a scope, those in memory included, and its entries of the outbox.
    pub(crate) fn forget_scope(&mut self, scope: &Scope, even_if_unknown: bool) -> Result<Forgot, EngineError> {
        let mut addresses = self.addresses_of(scope)?;
        self.engine.memory.for_each(|row, slot| {
            if slot.volatile.is_some() && slot.id.scope() == scope {
                addresses.push(Address { id: slot.id.clone(), row: *row });
            }
        });
        let (mut forgot, mut done) = (Forgot::default(), BTreeSet::new());
        for address in addresses.iter().filter(|address| done.insert(address.row)) {
            self.forget_one(address, even_if_unknown, &mut forgot)?;
        }
        (forgot.entries, forgot.entries_kept) = self.forget_entries(scope, even_if_unknown)?;
        Ok(forgot)
    }

    pub(crate) fn sweep(&mut self, limit: usize) -> Result<Sweep, EngineError> {
        let mut sweep = Sweep { at_ms: self.now.wall_ms, ..Sweep::default() };
        let (mut swept, mut rows) = (0, DueRows::new(self.now));
        while let Some(row) = rows.next(self.overlay)? {
            let Some((id, stored)) = read_entry(self.overlay, &row)? else { continue };
            if age(&stored, &self.engine.memory.look(&row).witness, self.now) == Age::AsStored {
                continue;
            }
            if swept == limit {
                sweep.more = true;
                break;
            }
            self.sweep_one(&Address { id, row }, &stored, &mut sweep)?;
            swept += 1;
        }
        let (removed, more) = self.sweep_outbox(limit - swept)?;
        sweep.entries_removed = removed;
        sweep.more |= more;
        Ok(sweep)
    }

    fn sweep_one(&mut self, address: &Address, stored: &Record, sweep: &mut Sweep) -> Result<(), EngineError> {
        let witness = self.occupy(address).witness;
        match age(stored, &witness, self.now) {
            Age::AsStored => {}
            Age::Next(next) => {
                self.write(address, Some(stored), Some(&next))?;
                sweep.tombstoned += 1;
            }
            Age::NoRecord => {
                self.write(address, Some(stored), None)?;
                sweep.removed += 1;
            }
        }
        Ok(())
    }

    /// Removes one record, on disk and in memory; an unsettled one only `even_if_unknown`.
    fn forget_one(&mut self, address: &Address, even_if_unknown: bool, forgot: &mut Forgot) -> Result<(), EngineError> {
        let (found, _) = self.find(address)?;
        let count = match found.record().map(|record| &record.state) {
            Some(State::InProgress { .. } | State::Parked { .. }) if !even_if_unknown => {
                forgot.kept += 1;
                return Ok(());
            }
            Some(State::InProgress { .. } | State::Parked { .. }) => Some(&mut forgot.unsettled),
            Some(State::Completed(..) | State::Failed(..)) => Some(&mut forgot.settled),
            Some(State::Released(_)) => Some(&mut forgot.released),
            Some(State::Tombstone(_)) => Some(&mut forgot.tombstones),
            None => None,
        };
        if let Some(count) = count {
            *count += 1;
        }
        // Whatever memory knows, of a reservation that counts no more, too: the wall clock may be set back.
        self.leave_memory(address, FENCE_MAX);
        self.remove(address, found.stored.as_ref())
    }

    fn remove(&mut self, address: &Address, stored: Option<&Record>) -> Result<(), EngineError> {
        match stored {
            Some(stored) => self.write(address, Some(stored), None),
            None => Ok(()),
        }
    }
}
