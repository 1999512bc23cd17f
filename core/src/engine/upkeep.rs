//! Looking after the file (T4, T5).

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use super::recovery::{CHUNK, prefix_end, rows_from};
use super::{Engine, EngineError, read_entry};
use crate::codec::index::{self, RECOVERABLE};
use crate::machine::record::{Record, State};
use crate::machine::recover::is_lapsed;
use crate::store::{FileReport, Snapshot, Space};

impl Engine {
    /// T5: gives free pages back; sizes in bytes before and after. Nothing is done while there are claims, unless
    /// `even_with_claims`.
    pub(crate) fn compact(self: &Arc<Self>, even_with_claims: bool) -> Result<(u64, u64), EngineError> {
        self.check_open()?;
        self.commits.alone(|| {
            if !even_with_claims && self.has_claims()? {
                return Err(EngineError::HasClaims);
            }
            let before = self.store.file_bytes()?;
            self.store.compact()?;
            Ok((before, self.store.file_bytes()?))
        })
    }

    pub(crate) fn inspect_file(&self) -> Result<FileReport, EngineError> {
        self.check_open()?;
        Ok(self.commits.alone(|| self.store.report())?)
    }

    /// Writes a consistent copy into a new file at `path`.
    pub(crate) fn copy_to(&self, path: &Path) -> Result<(), EngineError> {
        let snapshot = self.snapshot()?;
        let mut creation = [0; 16];
        self.entropy.fill(&mut creation);
        Ok(self.store.copy_to(&*snapshot, path, creation)?)
    }

    /// Whether somebody holds a claim: one whose lease is over is nobody's.
    fn has_claims(&self) -> Result<bool, EngineError> {
        let now = self.now();
        let mut held = false;
        self.memory.for_each(|_, slot| {
            held |= slot.volatile.as_ref().is_some_and(|record| !is_lapsed(record, &slot.witness, now));
        });
        if held { Ok(true) } else { self.has_stored_claims(&*self.snapshot()?) }
    }

    fn has_stored_claims(&self, view: &dyn Snapshot) -> Result<bool, EngineError> {
        let now = self.now();
        let (mut from, end) = (vec![RECOVERABLE], prefix_end(&[RECOVERABLE]));
        loop {
            let keys = rows_from(view, Space::Unsettled, &from, Bound::Excluded(&end), CHUNK)?;
            let Some(last) = keys.last() else { return Ok(false) };
            from = [last.as_slice(), &[0]].concat();
            for key in &keys {
                let row = index::read_unsettled(key)?.row;
                let Some((_, record)) = read_entry(view, &row)? else { continue };
                self.memory.see(&row, &record, now);
                if is_in_progress(&record) && !is_lapsed(&record, &self.memory.look(&row).witness, now) {
                    return Ok(true);
                }
            }
        }
    }
}

/// The unsettled rows that recovery is interested in are parked records, too.
fn is_in_progress(record: &Record) -> bool {
    matches!(record.state, State::InProgress { .. })
}
