//! Whether the outbox agrees with itself: entries, requests, index rows, counts (I7).

use std::ops::ControlFlow;

use super::{OutboxTerms, reading};
use crate::codec::line;
use crate::codec::outbox::{self, OutboxRow, Request};
use crate::engine::check::{ALL, Checked, has};
use crate::engine::damage::{Torn, damage_in, scan_past};
use crate::engine::{Engine, EngineError};
use crate::machine::entry::Entry;
use crate::store::{Snapshot, Space};

/// What rows begin with that belong to no entry alone.
const OF_NO_ENTRY: [u8; 3] = [line::OUTBOX[0], line::LANES, line::DECLARED];

struct Walk<'a> {
    engine: &'a Engine,
    view: &'a dyn Snapshot,
    row: OutboxRow,
    /// What the entries make of the counts.
    counted: OutboxRow,
    /// How many rows there must be.
    expected: RowCounts,
}

/// Numbers of rows, by the byte that they begin with.
type RowCounts = [u64; 256];

impl Engine {
    /// Walks the outbox.
    pub(in crate::engine) fn check_outbox(
        &self,
        view: &dyn Snapshot,
        checked: &mut Checked,
    ) -> Result<(), EngineError> {
        let row = match reading::outbox_row(view, self.now(), &OutboxTerms::DEFAULT) {
            Ok((row, _)) => row,
            Err(error) => {
                let torn = Torn::row(Space::Outbox, line::OUTBOX, &[], &damage_in(error)?);
                checked.torn(self, vec![torn]);
                return Ok(());
            }
        };
        let counted = OutboxRow { unsettled_bytes: 0, counts: Default::default(), ..row };
        let mut walk = Walk { engine: self, view, row, counted, expected: [0; 256] };
        let (found, all) = walk.rows(checked)?;
        if !all {
            // What is counted is less than there is.
            return Ok(());
        }
        for (first, rows) in (0_u8..=u8::MAX).zip(found).filter(|(_, rows)| *rows > 0) {
            let expected = walk.expected[usize::from(first)];
            if rows != expected {
                let first = char::from(first);
                checked.fault(|| format!("the outbox has {rows} rows '{first}', its entries {expected}"));
            }
        }
        if walk.counted != row {
            checked.fault(|| format!("the outbox counts {row:?}, its entries make it {:?}", walk.counted));
        }
        Ok(())
    }
}

impl Walk<'_> {
    /// Looks at every entry; how many rows there are that belong to entries, by what they begin with, and whether those are all.
    fn rows(&mut self, checked: &mut Checked) -> Result<(RowCounts, bool), EngineError> {
        let (mut found, mut failed, mut torn, view) = ([0; 256], None, Vec::new(), self.view);
        let mut visit = |key: &[u8], value: &[u8]| {
            let first = key.first().copied().unwrap_or_default();
            if !OF_NO_ENTRY.contains(&first) {
                found[usize::from(first)] += 1;
            }
            if first == line::ENTRIES {
                failed = self.entry(key, value, checked).err();
            }
            if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        scan_past(view, Space::Outbox, ALL, &mut visit, &mut |met| torn.push(met))?;
        let all = torn.is_empty();
        checked.torn(self.engine, torn);
        failed.map_or(Ok((found, all)), Err)
    }

    fn entry(&mut self, key: &[u8], value: &[u8], checked: &mut Checked) -> Result<(), EngineError> {
        checked.entries += 1;
        let entry = match line::read_id(key).and_then(|id| outbox::decode_entry(id, value)) {
            Ok(entry) => entry,
            Err(error) => {
                checked.torn(self.engine, vec![Torn::row(Space::Outbox, key, value, &error)]);
                return Ok(());
            }
        };
        self.counted.move_entry(None, Some(&entry));
        if entry.id >= self.row.next_id || entry.change >= self.row.next_change {
            checked.fault(|| format!("entry {} is younger than the outbox", entry.id));
        }
        self.request_of(&entry, checked)?;
        for row in [vec![key.to_vec(), line::request_key(entry.id)], line::rows(&entry, &self.engine.salt)].concat() {
            self.expected[usize::from(row[0])] += 1;
            if has(self.view, Space::Outbox, &row)? == Some(false) {
                checked.fault(|| format!("entry {} has no row '{}'", entry.id, char::from(row[0])));
            }
        }
        Ok(())
    }

    fn request_of(&self, entry: &Entry, checked: &mut Checked) -> Result<(), EngineError> {
        let mut length = None;
        let read = self.view.get(Space::Outbox, &line::request_key(entry.id), &mut |bytes| {
            length = outbox::decode::<Request>("a request", bytes).ok().map(|request| request.bytes.len() as u64);
        });
        match read {
            Ok(_) => {}
            // It is told when its own row is met.
            Err(error) if error.damage().is_some() => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        if length != Some(entry.request_bytes) {
            checked.fault(|| format!("the request of entry {} is not the one that was stored", entry.id));
        }
        Ok(())
    }
}
