//! The outbox in the commit queue: entries, their lanes and their indexes (contract section 9).

mod asking;
mod checking;
mod deciding;
mod leasing;
mod reading;
mod salvage;
mod terms;

use std::sync::Arc;

use super::{Engine, EngineError, Session};
use crate::codec::line;
use crate::codec::outbox::{self, OutboxRow, Request};
use crate::machine::entry::Entry;
use crate::machine::standing::{EntryState, EntryStateName};
use crate::machine::timeline::Moment;
use crate::store::Space;
use crate::wake::Bell;

pub(crate) use asking::{Asking, Enqueued};
pub(crate) use deciding::Lanes;
pub(crate) use leasing::Handed;
pub(crate) use reading::{EntryFilter, Lane};
pub(crate) use terms::OutboxTerms;

/// A place among those who wait for a change of the outbox; given up when dropped.
pub(crate) struct OutboxWaiting {
    engine: Arc<Engine>,
    pub(crate) bell: Arc<Bell>,
}

impl OutboxWaiting {
    pub(crate) fn register(engine: &Arc<Engine>) -> Self {
        let bell = Arc::new(Bell::default());
        engine.outbox.bells().push(bell.clone());
        Self { engine: engine.clone(), bell }
    }
}

impl Drop for OutboxWaiting {
    fn drop(&mut self) {
        if !self.engine.is_elsewhere() {
            self.engine.outbox.bells().retain(|bell| !Arc::ptr_eq(bell, &self.bell));
        }
    }
}

/// Work on the outbox within a session: one instant, and the outbox's row, which is stored with every change.
pub(crate) struct Desk<'s, 'e> {
    session: &'s mut Session<'e>,
    terms: OutboxTerms,
    row: OutboxRow,
    now: Moment,
    changed: bool,
}

impl<'e> Session<'e> {
    pub(crate) fn desk<'s>(&'s mut self, terms: &OutboxTerms) -> Result<Desk<'s, 'e>, EngineError> {
        let (row, now) = reading::outbox_row(self.overlay, self.now, terms)?;
        Ok(Desk { terms: *terms, row, now, changed: false, session: self })
    }
}

impl Desk<'_, '_> {
    fn entry(&self, id: u64) -> Result<Option<Entry>, EngineError> {
        reading::entry(self.session.overlay, id)
    }

    fn the_entry(&self, id: u64) -> Result<Entry, EngineError> {
        self.entry(id)?.ok_or(EngineError::NoEntry(id))
    }

    /// Stores `new` in the place of `old`, with its index rows and the counts (I7).
    fn put(&mut self, old: Option<&Entry>, mut new: Entry) -> Entry {
        new.ends_at = new.next_end(&self.terms.entry);
        new.change = self.row.next_change;
        self.row.next_change += 1;
        self.move_rows(old, Some(&new));
        self.session.overlay.put(Space::Outbox, line::entry_key(new.id), outbox::encode_entry(&new));
        self.row.move_entry(old, Some(&new));
        self.store_row();
        if !matches!(new.state, EntryState::Pending | EntryState::Sending { .. }) {
            self.session.engine.outbox.waits_no_more(new.id);
        }
        warn_of(old, &new);
        new
    }

    /// Removes an entry and its request.
    fn remove(&mut self, old: &Entry) {
        self.move_rows(Some(old), None);
        self.session.overlay.delete(Space::Outbox, line::entry_key(old.id));
        self.session.overlay.delete(Space::Outbox, line::request_key(old.id));
        self.row.move_entry(Some(old), None);
        self.store_row();
    }

    fn move_rows(&mut self, old: Option<&Entry>, new: Option<&Entry>) {
        let salt = self.session.engine.salt;
        let rows = |entry: Option<&Entry>| entry.map_or_else(Vec::new, |entry| line::rows(entry, &salt));
        let (old_rows, new_rows) = (rows(old), rows(new));
        for row in old_rows.iter().filter(|row| !new_rows.contains(row)) {
            self.session.overlay.delete(Space::Outbox, row.clone());
        }
        for row in new_rows.into_iter().filter(|row| !old_rows.contains(row)) {
            self.session.overlay.put(Space::Outbox, row, Vec::new());
        }
    }

    /// The outbox's own row goes with every change: its time, ids, counts and budget.
    fn store_row(&mut self) {
        if !std::mem::replace(&mut self.changed, true) {
            self.session.changes_outbox();
        }
        self.row.timeline = self.now.into();
        self.session.overlay.put(Space::Outbox, line::OUTBOX.to_vec(), self.row.encode());
    }

    /// A new entry, with its request. Its id is the next one.
    fn add(&mut self, entry: Entry, request: &Request) -> Entry {
        self.row.next_id += 1;
        let row = outbox::encode(request);
        self.session.overlay.put(Space::Outbox, line::request_key(entry.id), row);
        self.put(None, entry)
    }

    /// O12: refuses what the outbox has no room for.
    fn check_room(&self, request_bytes: u64) -> Result<(), EngineError> {
        let entries = self.row.unsettled();
        let bytes = self.row.unsettled_bytes;
        if entries >= self.terms.max_entries || bytes.saturating_add(request_bytes) > self.terms.max_bytes {
            return Err(EngineError::OutboxFull { entries, bytes });
        }
        Ok(())
    }
}

/// What somebody has to look at is told to whoever listens.
fn warn_of(old: Option<&Entry>, new: &Entry) {
    let state = new.state_name();
    let waits_for_somebody = matches!(state, EntryStateName::Held | EntryStateName::Unknown | EntryStateName::Dead);
    if waits_for_somebody && old.is_none_or(|old| old.state_name() != state) {
        tracing::warn!(entry = new.id, state = new.standing(), tries = new.tries, "an entry waits for somebody");
    }
}
