//! Entries of an outbox of which a part cannot be read.

use std::cell::RefCell;
use std::ops::{Bound, ControlFlow};

use super::reading::{Entries, EntryFilter, outbox_row};
use super::terms::OutboxTerms;
use crate::codec::{line, outbox};
use crate::engine::damage::{Torn, damage_in, scan_past};
use crate::engine::recovery::prefix_end;
use crate::engine::{Engine, EngineError};
use crate::machine::entry::Peeked;
use crate::machine::timeline::Timeline;
use crate::store::Space;

impl Engine {
    /// A page of entries, and what was passed over. Where not even the timeline can be read, one that begins now is in its place.
    pub(super) fn outbox_salvage(&self, terms: &OutboxTerms, filter: &EntryFilter) -> Result<Entries, EngineError> {
        let (view, stamp) = (self.snapshot()?, self.now());
        let mut torn = Vec::new();
        let now = match outbox_row(&*view, stamp, terms) {
            Ok((_, now)) => now,
            Err(error) => {
                torn.push(Torn::row(Space::Outbox, line::OUTBOX, &[], &damage_in(error)?));
                Timeline::begin(stamp).moment(stamp)
            }
        };
        let (from, end) = (line::entry_key(filter.after.saturating_add(1)), prefix_end(&[line::ENTRIES]));
        let (mut entries, torn, mut before, mut full) = (Vec::<Peeked>::new(), RefCell::new(torn), 0, false);
        let range = (Bound::Included(from.as_slice()), Bound::Excluded(end.as_slice()));
        let mut visit = |key: &[u8], value: &[u8]| {
            match line::read_id(key).and_then(|id| outbox::decode_entry(id, value)) {
                Ok(entry) if !filter.lets_through(&entry, now) => {}
                Ok(_) if entries.len() == filter.limit => {
                    full = true;
                    return ControlFlow::Break(());
                }
                Ok(entry) => {
                    entries.push(Peeked { entry, now });
                    before = torn.borrow().len();
                }
                Err(error) => torn.borrow_mut().push(Torn::row(Space::Outbox, key, value, &error)),
            }
            ControlFlow::Continue(())
        };
        scan_past(&*view, Space::Outbox, range, &mut visit, &mut |met| torn.borrow_mut().push(met))?;
        let next = entries.last().filter(|_| full).map(|last| last.entry.id);
        let told = if full { before } else { usize::MAX };
        let unreadable = torn.into_inner().into_iter().take(told).map(|torn| torn.told(self)).collect();
        Ok(Entries { entries, next, unreadable })
    }
}
