//! Time to live: sweeping, forgetting, counting (contract sections 4 and 6).

use std::ops::{Bound, ControlFlow};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::recovery::{prefix_end, rows_from};
use super::{Engine, EngineError, Session, read_record, read_with};
use crate::codec::counters::{COUNTERS, Counters};
use crate::codec::index::{self, EXPIRY, FOR_A_PERSON, UNSETTLED};
use crate::key::{KeyId, Scope};
use crate::machine::expire::{Age, age};
use crate::machine::record::{Record, State};
use crate::machine::recover::is_lapsed;
use crate::operation::Effect;
use crate::options::STATS_COUNT_MAX;
use crate::store::{Order, Snapshot, Space};

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sweep {
    pub(crate) at_ms: u64,
    pub(crate) tombstoned: u64,
    pub(crate) removed: u64,
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

impl Engine {
    /// T2: turns at most `limit` expired records into their next state, oldest first, in one transaction.
    pub(crate) fn sweep(self: &Arc<Self>, limit: usize) -> Result<Sweep, EngineError> {
        let began = self.clock.monotonic_ms();
        let mut sweep = self.session(move |session| session.sweep(limit))?;
        sweep.took = Duration::from_millis(self.clock.monotonic_ms().saturating_sub(began));
        *self.last_sweep.lock().unwrap_or_else(PoisonError::into_inner) = Some(sweep);
        Ok(sweep)
    }

    pub(crate) fn last_sweep(&self) -> Option<Sweep> {
        *self.last_sweep.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn forget(self: &Arc<Self>, id: KeyId, even_if_unknown: bool) -> Result<Forgot, EngineError> {
        self.session(move |session| {
            let mut forgot = Forgot::default();
            session.forget(&id, even_if_unknown, &mut forgot)?;
            Ok(forgot)
        })
    }

    /// Every record of a scope, those in memory included; all in one commit.
    pub(crate) fn forget_scope(self: &Arc<Self>, scope: Scope, even_if_unknown: bool) -> Result<Forgot, EngineError> {
        self.session(move |session| {
            let mut ids = ids_of_scope(session.overlay, &scope)?;
            session.engine.memory.for_each(|id, slot| {
                if slot.volatile.is_some() && *id.scope() == scope && !ids.contains(id) {
                    ids.push(id.clone());
                }
            });
            let mut forgot = Forgot::default();
            for id in &ids {
                session.forget(id, even_if_unknown, &mut forgot)?;
            }
            Ok(forgot)
        })
    }

    /// T4: at a cost that does not depend on the ledger's size.
    pub(crate) fn count(&self) -> Result<Counted, EngineError> {
        let snapshot = self.snapshot()?;
        let counters = read_with(&*snapshot, Space::Meta, COUNTERS, Counters::decode)?.unwrap_or_default();
        let mut counted = Counted { counters, ..Counted::default() };
        self.count_unsettled(&*snapshot, &mut counted)?;
        counted.due = count_due(&*snapshot, self.now().wall_ms)?;
        self.count_volatile(&mut counted);
        Ok(counted)
    }

    /// Walks the unsettled rows operation by operation, oldest first, and skips from each to the next.
    fn count_unsettled(&self, view: &dyn Snapshot, counted: &mut Counted) -> Result<(), EngineError> {
        for class in [UNSETTLED, FOR_A_PERSON] {
            let (mut from, class_end) = (vec![class], vec![class + 1]);
            for _ in 0..STATS_COUNT_MAX {
                let Some(first) = rows_from(view, &from, &class_end, 1)?.pop() else { break };
                let row = index::read_by_operation(&first)?;
                let end = prefix_end(&index::operation_prefix(class, row.id.operation()));
                counted.oldest_unsettled_at = Some(counted.oldest_unsettled_at.map_or(row.at, |at| at.min(row.at)));
                if class == UNSETTLED {
                    self.count_lapsed(view, &first, &end, counted)?;
                }
                from = end;
            }
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
        let limit = usize::try_from(STATS_COUNT_MAX - counted.lapsed.min(STATS_COUNT_MAX)).unwrap_or(0);
        for row in rows_from(view, from, end, limit)? {
            let id = index::read_by_operation(&row)?.id;
            let witness = self.memory.look(&id).witness;
            if let Some(record) = read_record(view, &id)?
                && is_lapsed(&record, &witness, self.now())
            {
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
                let at = record.first_granted.wall_ms;
                counted.oldest_unsettled_at = Some(counted.oldest_unsettled_at.map_or(at, |oldest| oldest.min(at)));
            }
        });
        counted.lapsed = counted.lapsed.min(STATS_COUNT_MAX);
    }
}

fn count_due(view: &dyn Snapshot, now_wall_ms: u64) -> Result<u64, EngineError> {
    let limit = usize::try_from(STATS_COUNT_MAX).unwrap_or(usize::MAX);
    Ok(rows_from(view, &[EXPIRY], &index::expiry_end(now_wall_ms), limit)?.len() as u64)
}

fn ids_of_scope(view: &dyn Snapshot, scope: &Scope) -> Result<Vec<KeyId>, EngineError> {
    let prefix = KeyId::scope_prefix(scope);
    let end = prefix_end(&prefix);
    let mut ids = Vec::new();
    view.scan(Space::Records, (Bound::Included(&prefix), Bound::Excluded(&end)), Order::Ascending, &mut |key, _| {
        ids.extend(KeyId::from_bytes(key));
        ControlFlow::Continue(())
    })?;
    Ok(ids)
}

impl Session<'_> {
    fn sweep(&mut self, limit: usize) -> Result<Sweep, EngineError> {
        let mut sweep =
            Sweep { at_ms: self.now.wall_ms, tombstoned: 0, removed: 0, more: false, took: Duration::ZERO };
        let rows = rows_from(self.overlay, &[EXPIRY], &index::expiry_end(self.now.wall_ms), limit.saturating_add(1))?;
        sweep.more = rows.len() > limit;
        for row in rows.iter().take(limit) {
            let (_, id) = index::read_by_time(row)?;
            self.sweep_one(&id, &mut sweep)?;
        }
        Ok(sweep)
    }

    fn sweep_one(&mut self, id: &KeyId, sweep: &mut Sweep) -> Result<(), EngineError> {
        let (found, witness) = self.find(id)?;
        let Some(stored) = &found.stored else { return Ok(()) };
        match age(stored, &witness, self.now) {
            Age::AsStored => {}
            Age::Next(next) => {
                self.write(id, Some(stored), Some(&next))?;
                sweep.tombstoned += 1;
            }
            Age::NoRecord => {
                self.write(id, Some(stored), None)?;
                sweep.removed += 1;
            }
        }
        Ok(())
    }

    /// Removes one record, on disk and in memory; an unsettled one only `even_if_unknown`.
    fn forget(&mut self, id: &KeyId, even_if_unknown: bool, forgot: &mut Forgot) -> Result<(), EngineError> {
        let (found, _) = self.find(id)?;
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
        self.engine.memory.with_existing(id, |slot| slot.volatile = None);
        self.remove(id, found.stored.as_ref())
    }

    fn remove(&mut self, id: &KeyId, stored: Option<&Record>) -> Result<(), EngineError> {
        match stored {
            Some(stored) => self.write(id, Some(stored), None),
            None => Ok(()),
        }
    }
}
