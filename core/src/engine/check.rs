//! Whether what is in the file agrees with itself: pages with their checksums, records with their places, index rows and counters
//! (I4, I7).

use std::ops::{Bound, ControlFlow};

use super::session::space_of;
use super::{Engine, EngineError, read_with};
use crate::codec::address::{Address, operation_mark};
use crate::codec::counters::{COUNTERS, Counters};
use crate::codec::{self, index};
use crate::machine::record::Record;
use crate::store::{Snapshot, Space, StoreError};

/// So many faults are told one by one.
const TOLD_MAX: usize = 100;

/// What a walk over everything found.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) records: u64,
    pub(crate) rows: u64,
    pub(crate) entries: u64,
    pub(crate) faults: Vec<String>,
    /// How many there are in all.
    pub(crate) fault_count: u64,
}

impl Checked {
    pub(super) fn fault(&mut self, what: impl FnOnce() -> String) {
        self.fault_count += 1;
        if self.faults.len() < TOLD_MAX {
            self.faults.push(what());
        }
    }
}

impl Engine {
    /// Walks the whole file; others wait while its pages are checked.
    pub(crate) fn check(&self) -> Result<Checked, EngineError> {
        self.check_open()?;
        let mut checked = Checked::default();
        let pages = self.commits.alone(|| self.store.check());
        match pages {
            Ok(true) => {}
            Ok(false) => checked.fault(|| "a page of the file does not match its checksum".into()),
            // The engine gives up on such a file: there is nothing more to be walked.
            Err(StoreError::Corrupt(why)) => {
                checked.fault(|| why);
                return Ok(checked);
            }
            Err(error) => return Err(error.into()),
        }
        let snapshot = self.store.snapshot()?;
        let mut walk =
            Walk { engine: self, view: &*snapshot, checked, counters: Counters::default(), index_rows: [0; 2] };
        walk.records(Space::Records)?;
        walk.records(Space::Live)?;
        walk.index_rows()?;
        walk.counters()?;
        walk.checked.rows = count(&*snapshot, Space::Rows)?;
        self.check_outbox(&*snapshot, &mut walk.checked)?;
        Ok(walk.checked)
    }
}

const INDEXES: [Space; 2] = [Space::Expiry, Space::Unsettled];

struct Walk<'a> {
    engine: &'a Engine,
    view: &'a dyn Snapshot,
    checked: Checked,
    counters: Counters,
    /// How many rows of each index the records have.
    index_rows: [u64; 2],
}

impl Walk<'_> {
    fn records(&mut self, space: Space) -> Result<(), EngineError> {
        let view = self.view;
        let mut failed = None;
        view.scan(space, (Bound::Unbounded, Bound::Unbounded), &mut |key, value| {
            failed = self.record(space, key, value).err();
            if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn record(&mut self, space: Space, key: &[u8], value: &[u8]) -> Result<(), EngineError> {
        self.checked.records += 1;
        let (id, record) = match codec::decode_entry(value) {
            Ok(entry) => entry,
            Err(error) => {
                self.checked.fault(|| error.to_string());
                return Ok(());
            }
        };
        let address = self.engine.address(id);
        if address.row.as_bytes() != key || space_of(index::shelf_of(&record)) != space {
            self.checked.fault(|| format!("the record of {} lies in a wrong place", address.id));
        }
        if space == Space::Live && self.has(Space::Records, key)? {
            self.checked.fault(|| format!("{} has two records", address.id));
        }
        self.counters.move_record(None, Some(&record));
        self.rows_of(&address, &record)
    }

    fn rows_of(&mut self, address: &Address, record: &Record) -> Result<(), EngineError> {
        let operation = operation_mark(address.id.operation(), &self.engine.salt);
        for (shelf, key) in index::rows(address.row, operation, record) {
            let space = space_of(shelf);
            if !self.has(space, &key)? {
                self.checked.fault(|| format!("{} has no row in the index {space:?}", address.id));
            }
            for (index, rows) in INDEXES.iter().zip(&mut self.index_rows) {
                *rows += u64::from(*index == space);
            }
        }
        Ok(())
    }

    /// Every row that a record must have is there, so more than those belong to none.
    fn index_rows(&mut self) -> Result<(), EngineError> {
        for (space, expected) in INDEXES.into_iter().zip(self.index_rows) {
            let found = count(self.view, space)?;
            if found != expected {
                self.checked.fault(|| format!("the index {space:?} has {found} rows for {expected} records"));
            }
        }
        Ok(())
    }

    fn counters(&mut self) -> Result<(), EngineError> {
        let stored = read_with(self.view, Space::Meta, COUNTERS, Counters::decode)?.unwrap_or_default();
        if stored != self.counters {
            let counted = self.counters;
            self.checked.fault(|| format!("the counters say {stored:?}, the records {counted:?}"));
        }
        Ok(())
    }

    fn has(&self, space: Space, key: &[u8]) -> Result<bool, EngineError> {
        Ok(self.view.get(space, key, &mut |_| ())?)
    }
}

fn count(view: &dyn Snapshot, space: Space) -> Result<u64, EngineError> {
    let mut count = 0;
    view.scan(space, (Bound::Unbounded, Bound::Unbounded), &mut |_, _| {
        count += 1;
        ControlFlow::Continue(())
    })?;
    Ok(count)
}
