//! One record, or pages of them, as they count now.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use super::{Engine, EngineError, find};
use crate::codec::address::{Address, RowKey, scope_mark};
use crate::codec::{self, index};
use crate::key::{KeyId, OperationName, Scope};
use crate::machine::expire::{Age, age};
use crate::machine::record::{Record, Stamp, State};
use crate::machine::recover::{counts_as_parked, is_lapsed};
use crate::store::{Snapshot, Space};
use crate::volatile::Glimpse;

/// How many records a page holds unless told otherwise.
const PAGE: usize = 100;

/// A record, as it counts at some instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) id: KeyId,
    pub(crate) record: Record,
    pub(crate) lapsed: bool,
    pub(crate) volatile: bool,
    as_parked: bool,
}

/// Which records a page shows.
#[derive(Debug, Clone)]
pub(crate) struct Listing {
    pub(crate) state: Option<&'static str>,
    pub(crate) operation: Option<OperationName>,
    pub(crate) scope: Option<Scope>,
    pub(crate) older_than_ms: Option<u64>,
    pub(crate) limit: usize,
    /// The byte of the space and the row key that the page before ended with.
    pub(crate) after: Option<Vec<u8>>,
}

impl Default for Listing {
    fn default() -> Self {
        Self { state: None, operation: None, scope: None, older_than_ms: None, limit: PAGE, after: None }
    }
}

/// The spaces in the order of a listing: what is in memory alone, what is unsettled, the rest.
const VOLATILE: u8 = 0;
const LIVE: u8 = 1;
const RECORDS: u8 = 2;

impl Engine {
    pub(crate) fn inspect(&self, address: &Address) -> Result<Option<Seen>, EngineError> {
        let (found, _, now) = self.find_now(address)?;
        self.see(address, &found, now);
        let volatile = found.is_volatile();
        Ok(found.into_record().map(|record| self.seen(address.id.clone(), &address.row, record, volatile, now)))
    }

    /// The record as a person sees it: a lease that was renewed in memory is its lease.
    fn seen(&self, id: KeyId, row: &RowKey, mut record: Record, volatile: bool, now: Stamp) -> Seen {
        self.memory.see(&Address { id: id.clone(), row: *row }, &record, now);
        let witness = self.memory.look(row).witness;
        let lapsed = is_lapsed(&record, &witness, now);
        let as_parked = counts_as_parked(&record, &witness, now);
        if let State::InProgress { lease, .. } = &mut record.state {
            *lease = witness.lease(record.fence, *lease);
        }
        Seen { id, record, lapsed, volatile, as_parked }
    }

    /// A page of records, and where the next begins.
    pub(crate) fn list(&self, listing: &Listing) -> Result<(Vec<Seen>, Option<Vec<u8>>), EngineError> {
        // Memory first: what is completed from here on is in the snapshot, too, and there the record on disk counts.
        let reserved = self.reserved();
        let now = self.now();
        let snapshot = self.snapshot()?;
        let mut page = PageUnderway { engine: self, listing, now, seen: Vec::new(), last: None, full: false };
        let (space, row) = match listing.after.as_deref() {
            Some([space, row @ ..]) => (*space, Some(row)),
            Some([]) | None => (VOLATILE, None),
        };
        for at in [VOLATILE, LIVE, RECORDS].into_iter().filter(|at| *at >= space) {
            let after = row.filter(|_| at == space);
            match at {
                VOLATILE => page.add_volatile(&*snapshot, &reserved, after)?,
                LIVE => page.add_stored(&*snapshot, Space::Live, after)?,
                _ => page.add_stored(&*snapshot, Space::Records, after)?,
            }
        }
        Ok((page.seen, page.last.filter(|_| page.full)))
    }

    /// The reservations in memory, in the order of their rows.
    fn reserved(&self) -> Reserved {
        let mut reserved = BTreeMap::new();
        self.memory.for_each(|row, slot| {
            if slot.volatile.is_some() {
                reserved.insert(*row, (slot.id.clone(), slot.glimpse()));
            }
        });
        reserved
    }
}

/// What memory alone knew of key ids at some instant.
type Reserved = BTreeMap<RowKey, (KeyId, Glimpse)>;

struct PageUnderway<'a> {
    engine: &'a Engine,
    listing: &'a Listing,
    now: Stamp,
    seen: Vec<Seen>,
    last: Option<Vec<u8>>,
    full: bool,
}

impl PageUnderway<'_> {
    /// Reservations that count, since the disk has no record that does.
    fn add_volatile(
        &mut self,
        view: &dyn Snapshot,
        reserved: &Reserved,
        after: Option<&[u8]>,
    ) -> Result<(), EngineError> {
        for (row, (id, glimpse)) in reserved {
            if after.is_some_and(|after| row.as_bytes().as_slice() <= after) {
                continue;
            }
            let found = find(view, &Address { id: id.clone(), row: *row }, glimpse.clone(), self.now)?;
            if found.is_volatile()
                && let Some(record) = found.into_record()
                && self.add(VOLATILE, *row, id.clone(), record).is_break()
            {
                break;
            }
        }
        Ok(())
    }

    fn add_stored(&mut self, view: &dyn Snapshot, space: Space, after: Option<&[u8]>) -> Result<(), EngineError> {
        if self.full {
            return Ok(());
        }
        let mark = self.listing.scope.as_ref().map(|scope| scope_mark(scope, &self.engine.salt));
        let start = mark.map_or_else(Vec::new, |mark| mark.to_vec());
        let from = match after {
            Some(after) => Bound::Excluded(after),
            None => Bound::Included(start.as_slice()),
        };
        let mut failed = None;
        let code = if space == Space::Live { LIVE } else { RECORDS };
        view.scan(space, (from, Bound::Unbounded), &mut |key, value| {
            if mark.is_some_and(|mark| !key.starts_with(&mark)) {
                return ControlFlow::Break(());
            }
            match self.add_row(code, key, value) {
                Ok(flow) => flow,
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn add_row(&mut self, space: u8, key: &[u8], value: &[u8]) -> Result<ControlFlow<()>, EngineError> {
        let row = index::read_row(key)?;
        let (id, record) = codec::decode_entry(value)?;
        let witness = self.engine.memory.look(&row).witness;
        let record = match age(&record, &witness, self.now) {
            Age::AsStored => record,
            Age::Next(next) => *next,
            Age::NoRecord => return Ok(ControlFlow::Continue(())),
        };
        Ok(self.add(space, row, id, record))
    }

    /// Adds a record that the filter lets through; breaks when the page is full and there is one more.
    fn add(&mut self, space: u8, row: RowKey, id: KeyId, record: Record) -> ControlFlow<()> {
        let seen = self.engine.seen(id, &row, record, space == VOLATILE, self.now);
        if !self.lets_through(&seen) {
            return ControlFlow::Continue(());
        }
        if self.seen.len() == self.listing.limit {
            self.full = true;
            return ControlFlow::Break(());
        }
        self.last = Some([&[space], row.as_bytes().as_slice()].concat());
        self.seen.push(seen);
        ControlFlow::Continue(())
    }

    fn lets_through(&self, seen: &Seen) -> bool {
        let listing = self.listing;
        listing.scope.as_ref().is_none_or(|scope| scope == seen.id.scope())
            && listing.operation.as_ref().is_none_or(|operation| operation == seen.id.operation())
            && listing.state.is_none_or(|state| state == state_name(seen))
            && listing
                .older_than_ms
                .is_none_or(|age| self.now.wall_ms.saturating_sub(seen.record.first_granted.wall_ms) >= age)
    }
}

fn state_name(seen: &Seen) -> &'static str {
    match &seen.record.state {
        State::InProgress { .. } if seen.as_parked => "parked",
        State::InProgress { .. } => "in_progress",
        State::Released(_) => "released",
        State::Completed(..) => "completed",
        State::Failed(..) => "failed",
        State::Parked { .. } => "parked",
        State::Tombstone(_) => "tombstone",
    }
}
