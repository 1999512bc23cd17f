//! Whether what is in the file agrees with itself: pages with their checksums, records with their places, index rows and counters
//! (I4, I7).

use std::ops::{Bound, ControlFlow};

use super::damage::{Torn, damage_in, scan_past};
use super::session::space_of;
use super::{Engine, EngineError, read_with};
use crate::codec::address::{Address, operation_mark};
use crate::codec::counters::{COUNTERS, Counters};
use crate::codec::{self, index};
use crate::machine::record::Record;
use crate::store::{KeyRange, Snapshot, Space};

pub(super) const ALL: KeyRange<'static> = (Bound::Unbounded, Bound::Unbounded);

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
    /// What cannot be read.
    pub(super) fn torn(&mut self, engine: &Engine, torn: Vec<Torn>) {
        for torn in torn {
            self.fault(|| torn.told(engine).sentence());
        }
    }

    pub(super) fn fault(&mut self, what: impl FnOnce() -> String) {
        self.fault_count += 1;
        if self.faults.len() < TOLD_MAX {
            self.faults.push(what());
        }
    }
}

impl Engine {
    /// Walks the whole file, and past what cannot be read of it; then its pages, for which others wait.
    pub(crate) fn check(&self) -> Result<Checked, EngineError> {
        self.check_open()?;
        let mut checked = self.check_rows()?;
        match self.commits.alone(|| self.store.check()) {
            Ok(true) => {}
            Ok(false) => checked.fault(|| "a page of the file does not match its checksum".into()),
            Err(error) => match error.damage() {
                Some(why) => checked.fault(|| {
                    format!("pages of the file do not match their checksums, and no older state of it does (storage engine: {why})")
                }),
                None => return Err(error.into()),
            },
        }
        Ok(checked)
    }

    /// Nobody waits meanwhile.
    fn check_rows(&self) -> Result<Checked, EngineError> {
        let (snapshot, counters, checked) = (self.store.snapshot()?, Counters::default(), Checked::default());
        let mut walk = Walk { engine: self, view: &*snapshot, checked, counters, index_rows: [0; 2], partly: false };
        walk.records(Space::Records)?;
        walk.records(Space::Live)?;
        walk.index_rows()?;
        walk.counters()?;
        walk.checked.rows = walk.count(Space::Rows)?.0;
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
    /// Some record could not be read: what is counted is less than there is.
    partly: bool,
}

impl Walk<'_> {
    fn records(&mut self, space: Space) -> Result<(), EngineError> {
        let (view, mut failed, mut torn) = (self.view, None, Vec::new());
        let mut visit = |key: &[u8], value: &[u8]| {
            failed = self.record(space, key, value).err();
            if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        scan_past(view, space, ALL, &mut visit, &mut |met| torn.push(met))?;
        self.partly |= !torn.is_empty();
        self.checked.torn(self.engine, torn);
        failed.map_or(Ok(()), Err)
    }

    fn record(&mut self, space: Space, key: &[u8], value: &[u8]) -> Result<(), EngineError> {
        self.checked.records += 1;
        let (id, record) = match codec::decode_entry(value) {
            Ok(entry) => entry,
            Err(error) => {
                self.partly = true;
                self.checked.torn(self.engine, vec![Torn::row(space, key, value, &error)]);
                return Ok(());
            }
        };
        let address = self.engine.address(id);
        if address.row.as_bytes() != key || space_of(index::shelf_of(&record)) != space {
            self.checked.fault(|| format!("the record of {} lies in a wrong place", address.id));
        }
        if space == Space::Live && self.has(Space::Records, key)? == Some(true) {
            self.checked.fault(|| format!("{} has two records", address.id));
        }
        self.counters.move_record(None, Some(&record));
        self.rows_of(&address, &record)
    }

    fn rows_of(&mut self, address: &Address, record: &Record) -> Result<(), EngineError> {
        let operation = operation_mark(address.id.operation(), &self.engine.salt);
        for (shelf, key) in index::rows(address.row, operation, record) {
            let space = space_of(shelf);
            // One that cannot be read is told when the index itself is walked.
            if self.has(space, &key)? == Some(false) {
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
            let (found, all) = self.count(space)?;
            if found != expected && all && !self.partly {
                self.checked.fault(|| format!("the index {space:?} has {found} rows for {expected} records"));
            }
        }
        Ok(())
    }

    fn counters(&mut self) -> Result<(), EngineError> {
        let stored = match read_with(self.view, Space::Meta, COUNTERS, Counters::decode) {
            Ok(stored) => stored.unwrap_or_default(),
            Err(error) => {
                let torn = Torn::row(Space::Meta, COUNTERS, &[], &damage_in(error)?);
                self.checked.torn(self.engine, vec![torn]);
                return Ok(());
            }
        };
        let counted = self.counters;
        if self.partly {
            let (stored, counted) = (stored.total(), counted.total());
            self.checked.fault(|| format!("{counted} of {stored} records could be read, by the ledger's own count"));
        } else if stored != counted {
            self.checked.fault(|| format!("the counters say {stored:?}, the records {counted:?}"));
        }
        Ok(())
    }

    /// How many rows a space has that can be read, and whether those are all.
    fn count(&mut self, space: Space) -> Result<(u64, bool), EngineError> {
        let (mut count, mut torn) = (0, Vec::new());
        let mut visit = |_: &[u8], _: &[u8]| {
            count += 1;
            ControlFlow::Continue(())
        };
        scan_past(self.view, space, ALL, &mut visit, &mut |met| torn.push(met))?;
        let all = torn.is_empty();
        self.checked.torn(self.engine, torn);
        Ok((count, all))
    }

    fn has(&self, space: Space, key: &[u8]) -> Result<Option<bool>, EngineError> {
        has(self.view, space, key)
    }
}

/// Whether there is such a row; `None`: damage keeps it from being known.
pub(super) fn has(view: &dyn Snapshot, space: Space, key: &[u8]) -> Result<Option<bool>, EngineError> {
    match view.get(space, key, &mut |_| ()) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.damage().is_some() => Ok(None),
        Err(error) => Err(error.into()),
    }
}
