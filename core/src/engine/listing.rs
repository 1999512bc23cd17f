//! Pages of records: first what waits for somebody, then what is under way, then what is settled.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use super::damage::{Torn, Unreadable, scan_past};
use super::looking::{Listing, Seen, state_name};
use super::recovery::{CHUNK, prefix_end, rows_from};
use super::{Engine, EngineError, find, read_entry};
use crate::codec;
use crate::codec::address::{Address, RowKey, operation_mark, scope_mark};
use crate::codec::index::{self, FOR_A_PERSON, RECOVERABLE};
use crate::key::KeyId;
use crate::machine::expire::{Age, age};
use crate::machine::record::{Record, Stamp, State};
use crate::machine::recover::is_lapsed;
use crate::store::{Snapshot, Space};

/// The parts of a listing, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Parked, or lapsed: somebody has to look.
    Waiting,
    /// In memory alone.
    Volatile,
    /// Unsettled otherwise.
    Live,
    /// Settled, released, tombstones.
    Records,
}

/// What the marks of dropped claims begin with: less than a class of the index.
const DROPPED: u8 = 0;

impl Part {
    const ALL: [Part; 4] = [Part::Waiting, Part::Volatile, Part::Live, Part::Records];

    /// Whether it can hold any of the records that are asked for. A claim whose lease is over may count as parked wherever it lies.
    fn is_asked_for(self, listing: &Listing) -> bool {
        match listing.state {
            _ if self == Part::Waiting && listing.is_by_place() => false,
            None => true,
            Some("parked" | "in_progress") => self != Part::Records,
            Some(_) => self == Part::Records,
        }
    }
}

impl Engine {
    /// A page of records.
    pub(crate) fn list(&self, listing: &Listing) -> Result<Listed, EngineError> {
        self.check_open()?;
        let (first, mark) = match listing.after.as_deref() {
            Some([part, mark @ ..]) => (*part, Some(mark)),
            Some([]) | None => (0, None),
        };
        let mut page = PageUnderway::begin(self, listing)?;
        for part in Part::ALL.into_iter().filter(|part| *part as u8 >= first && part.is_asked_for(listing)) {
            let after = mark.filter(|_| part as u8 == first);
            match part {
                _ if page.full => break,
                Part::Waiting if listing.scope.is_some() => page.add_stored(part, after)?,
                Part::Waiting => page.add_waiting(after)?,
                Part::Volatile => page.add_volatile(after)?,
                Part::Live | Part::Records => page.add_stored(part, after)?,
            }
        }
        Ok(page.ended())
    }
}

/// A page of records, where the next begins, and what was passed over.
pub(crate) struct Listed {
    pub(crate) seen: Vec<Seen>,
    pub(crate) next: Option<Vec<u8>>,
    pub(crate) unreadable: Vec<Unreadable>,
}

struct PageUnderway<'a> {
    engine: &'a Engine,
    listing: &'a Listing,
    view: Arc<dyn Snapshot>,
    now: Stamp,
    seen: Vec<Seen>,
    /// The rows of what is on the page.
    shown: HashSet<RowKey>,
    last: Option<Vec<u8>>,
    full: bool,
    /// What was passed over, and how much of it before the last record of the page: the next page begins there.
    torn: Vec<Torn>,
    torn_before: usize,
}

impl<'a> PageUnderway<'a> {
    fn begin(engine: &'a Engine, listing: &'a Listing) -> Result<Self, EngineError> {
        let (now, view) = (engine.now(), engine.snapshot()?);
        let (seen, shown, torn) = (Vec::new(), HashSet::new(), Vec::new());
        Ok(Self { engine, listing, view, now, seen, shown, last: None, full: false, torn, torn_before: 0 })
    }

    fn ended(mut self) -> Listed {
        if self.full {
            self.torn.truncate(self.torn_before);
        }
        let unreadable = self.torn.into_iter().map(|torn| torn.told(self.engine)).collect();
        Listed { seen: self.seen, next: self.last.filter(|_| self.full), unreadable }
    }

    /// Looks at the disk anew, after memory was asked: what was completed there in between is on the disk, and there it counts.
    fn look_again(&mut self) -> Result<Arc<dyn Snapshot>, EngineError> {
        self.view = self.engine.snapshot()?;
        Ok(self.view.clone())
    }

    /// What waits for somebody: whose claim was dropped here, then in the order of the index: for a person first, then by operation,
    /// the oldest first.
    fn add_waiting(&mut self, after: Option<&[u8]>) -> Result<(), EngineError> {
        self.add_dropped(after)?;
        let view = &*self.view.clone();
        for class in [FOR_A_PERSON, RECOVERABLE] {
            let operation = self.listing.operation.as_ref().map(|name| operation_mark(name, &self.engine.salt));
            let prefix = operation.map_or_else(|| vec![class], |mark| index::unsettled_prefix(class, mark));
            let from = match after {
                Some([at, ..]) if *at == RECOVERABLE && class == FOR_A_PERSON => continue,
                Some(after) if after.starts_with(&prefix) => [after, &[0]].concat(),
                Some(_) | None => prefix.clone(),
            };
            self.add_waiting_rows(view, from, &prefix_end(&prefix))?;
        }
        Ok(())
    }

    /// Claims that were dropped without being settled: their leases are over, whatever the disk says (S2).
    fn add_dropped(&mut self, after: Option<&[u8]>) -> Result<(), EngineError> {
        let mut from = match after {
            None => None,
            Some([DROPPED, row @ ..]) => Some(index::read_row(row)?),
            Some(_) => return Ok(()),
        };
        while !self.full {
            let rows = self.engine.memory.dropped_after(from, CHUNK);
            let view = self.look_again()?;
            let Some(last) = rows.last() else { break };
            from = Some(*last);
            for row in rows {
                if let Some((id, record)) = read_entry(&*view, &row)?
                    && self.waits(&row, &record)
                    && self
                        .add_aged(Part::Waiting, &[&[DROPPED], row.as_bytes().as_slice()].concat(), row, id, record)
                        .is_break()
                {
                    break;
                }
            }
        }
        Ok(())
    }

    fn add_waiting_rows(&mut self, view: &dyn Snapshot, mut from: Vec<u8>, end: &[u8]) -> Result<(), EngineError> {
        while !self.full && from.as_slice() < end {
            let keys = rows_from(view, Space::Unsettled, &from, Bound::Excluded(end), CHUNK)?;
            let Some(last) = keys.last() else { break };
            from = [last.as_slice(), &[0]].concat();
            for key in &keys {
                let at = index::read_unsettled(key)?;
                if at.class == RECOVERABLE && at.at > self.now.wall_ms {
                    // Leases of this operation that go on, from here to its end.
                    from = prefix_end(&index::unsettled_prefix(at.class, at.operation));
                    break;
                }
                let Some((id, record)) = read_entry(view, &at.row)? else { continue };
                let waits = !self.is_dropped(&at.row) && self.waits(&at.row, &record);
                if waits && self.add_aged(Part::Waiting, key, at.row, id, record).is_break() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Whether a stored record is of the first part: memory finds it there, or the index by the wall clock.
    fn waits(&self, row: &RowKey, record: &Record) -> bool {
        match &record.state {
            // One that recovery may take up lies among the leases: parked ahead of the clock, it is where those that go on are.
            State::Parked { reason, since, .. } => !reason.is_recoverable() || *since <= self.now.wall_ms,
            State::InProgress { lease, .. } => {
                let witness = self.engine.memory.look(row).witness;
                (witness.dropped.is_some() || lease.end_wall_ms() <= self.now.wall_ms)
                    && is_lapsed(record, &witness, self.now)
            }
            State::Released(_) | State::Completed(..) | State::Failed(..) | State::Tombstone(_) => false,
        }
    }

    fn is_dropped(&self, row: &RowKey) -> bool {
        self.engine.memory.look(row).witness.dropped.is_some()
    }

    /// Reservations that count, since the disk has no record that does.
    fn add_volatile(&mut self, after: Option<&[u8]>) -> Result<(), EngineError> {
        let mut from = after.map(index::read_row).transpose()?;
        while !self.full {
            let reserved = self.engine.memory.reserved_after(from, CHUNK);
            let view = self.look_again()?;
            let Some((last, _)) = reserved.last() else { break };
            from = Some(last.row);
            for (address, glimpse) in reserved {
                let found = find(&*view, &address, glimpse, self.now)?;
                let Address { id, row } = address;
                if found.is_volatile()
                    && let Some(record) = found.into_record()
                    && self.add(Part::Volatile, row.as_bytes(), row, id, record).is_break()
                {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Records in the order of their rows; in a scope those that wait for somebody, too, since they lie close together there.
    fn add_stored(&mut self, part: Part, after: Option<&[u8]>) -> Result<(), EngineError> {
        let view = self.view.clone();
        let mark = self.listing.scope.as_ref().map(|scope| scope_mark(scope, &self.engine.salt));
        let start = mark.map_or_else(Vec::new, |mark| mark.to_vec());
        let from = match after {
            Some(after) => Bound::Excluded(after),
            None => Bound::Included(start.as_slice()),
        };
        let space = if part == Part::Records { Space::Records } else { Space::Live };
        let end = prefix_end(&start);
        let to = if end.is_empty() { Bound::Unbounded } else { Bound::Excluded(end.as_slice()) };
        let range = (from, to);
        let past_damage = self.listing.past_damage;
        let (mut failed, mut torn) = (None, std::mem::take(&mut self.torn));
        let met = RefCell::new(&mut torn);
        let mut visit = |key: &[u8], value: &[u8]| {
            let before = self.seen.len();
            let added = self.add_row(part, key, value);
            if self.seen.len() > before {
                self.torn_before = met.borrow().len();
            }
            match added {
                Ok(flow) => flow,
                Err(EngineError::Decode(error)) if past_damage => {
                    met.borrow_mut().push(Torn::row(space, key, value, &error));
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let scanned = if past_damage {
            scan_past(&*view, space, range, &mut visit, &mut |torn| met.borrow_mut().push(torn))
        } else {
            view.scan(space, range, &mut visit)
        };
        self.torn = torn;
        scanned?;
        failed.map_or(Ok(()), Err)
    }

    fn add_row(&mut self, part: Part, key: &[u8], value: &[u8]) -> Result<ControlFlow<()>, EngineError> {
        let row = index::read_row(key)?;
        let (id, record) = codec::decode_entry(value)?;
        // Before memory is asked, for a filter may turn a million away.
        if !self.is_asked_for(&id, &record) {
            return Ok(ControlFlow::Continue(()));
        }
        let in_order = part == Part::Records || self.listing.is_by_place();
        let is_here = in_order || self.waits(&row, &record) == (part == Part::Waiting);
        Ok(if is_here { self.add_aged(part, key, row, id, record) } else { ControlFlow::Continue(()) })
    }

    /// Adds what a stored record counts as now.
    fn add_aged(&mut self, part: Part, mark: &[u8], row: RowKey, id: KeyId, record: Record) -> ControlFlow<()> {
        let witness = self.engine.memory.look(&row).witness;
        match age(&record, &witness, self.now) {
            Age::AsStored => self.add(part, mark, row, id, record),
            Age::Next(next) => self.add(part, mark, row, id, *next),
            Age::NoRecord => ControlFlow::Continue(()),
        }
    }

    /// Adds a record that the filter lets through; breaks when the page is full and there is one more.
    fn add(&mut self, part: Part, mark: &[u8], row: RowKey, id: KeyId, record: Record) -> ControlFlow<()> {
        let seen = self.engine.seen(id, &row, record, part == Part::Volatile, self.now);
        // The disk was looked at twice, and it has moved in between.
        if self.shown.contains(&row) || !self.lets_through(&seen) {
            return ControlFlow::Continue(());
        }
        if self.seen.len() == self.listing.limit {
            self.full = true;
            return ControlFlow::Break(());
        }
        self.last = Some([&[part as u8], mark].concat());
        self.shown.insert(row);
        self.seen.push(seen);
        ControlFlow::Continue(())
    }

    fn lets_through(&self, seen: &Seen) -> bool {
        self.is_asked_for(&seen.id, &seen.record) && self.listing.state.is_none_or(|state| state == state_name(seen))
    }

    /// Whether the filter lets it through by what no time changes.
    fn is_asked_for(&self, id: &KeyId, record: &Record) -> bool {
        let listing = self.listing;
        let age_ms = self.now.wall_ms.saturating_sub(record.first_granted.wall_ms);
        listing.scope.as_ref().is_none_or(|scope| scope == id.scope())
            && listing.operation.as_ref().is_none_or(|operation| operation == id.operation())
            && listing.key.as_ref().is_none_or(|key| key == id.key())
            && listing.older_than_ms.is_none_or(|least| age_ms >= least)
            && listing.newer_than_ms.is_none_or(|most| age_ms <= most)
    }
}
