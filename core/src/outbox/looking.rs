//! Looking into an outbox.

use std::time::Duration;

use super::Outbox;
use crate::engine::outbox::{EntryFilter as Shown, Lane};
use crate::entry::{EntryId, EntryView};
use crate::error::{Error, Result};
use crate::key::{LaneName, Purpose, Scope};
use crate::machine::standing::EntryStateName;
use crate::unreadable::Unreadable;

/// Which entries [`Outbox::list`] shows.
#[derive(Debug, Clone)]
pub struct EntryFilter {
    shown: Shown,
}

impl EntryFilter {
    /// All of them, a hundred to a page.
    pub fn all() -> Self {
        Self { shown: Shown { limit: 100, ..Shown::default() } }
    }

    /// Those of this scope.
    pub fn scope(mut self, scope: &Scope) -> Self {
        self.shown.scope = Some(scope.clone());
        self
    }

    /// Those in this lane.
    pub fn lane(mut self, lane: impl Into<String>) -> Self {
        self.shown.lane = Some(lane.into());
        self
    }

    /// Those of this operation.
    pub fn operation(mut self, operation: impl Into<String>) -> Self {
        self.shown.operation = Some(operation.into());
        self
    }

    /// Those enqueued at least so long ago.
    pub fn older_than(mut self, age: Duration) -> Self {
        self.shown.older_than_ms = crate::clock::millis(age);
        self
    }

    /// Those in this state, as it is stored.
    pub fn state(mut self, state: EntryStateName) -> Self {
        self.shown.state = Some(state);
        self
    }

    /// At most so many to a page. A page of none is `InvalidArgument` where the filter is used.
    pub fn limit(mut self, limit: usize) -> Self {
        self.shown.limit = limit;
        self
    }

    /// From where the page before ended.
    pub fn after(mut self, id: EntryId) -> Self {
        self.shown.after = id.get();
        self
    }
}

/// A page of entries, oldest first.
#[derive(Debug, Clone)]
pub struct EntryPage {
    /// The entries.
    pub entries: Vec<EntryView>,
    /// After which entry the next page begins; `None` after the last.
    pub next: Option<EntryId>,
}

/// A lane of a scope that is held or paused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneState {
    /// Whose.
    pub scope: String,
    /// Its name.
    pub lane: String,
    /// Why it is held, and since when: milliseconds since 1970-01-01 UTC.
    pub held: Option<(String, u64)>,
    /// Until when it is paused: milliseconds since 1970-01-01 UTC.
    pub paused_until_ms: Option<u64>,
}

/// How an outbox stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxStats {
    counts: [u64; EntryStateName::ALL.len()],
    /// How many entries are unsettled.
    pub unsettled: u64,
    /// How many bytes their requests have together.
    pub unsettled_bytes: u64,
    /// Retries that the budget lets out now.
    pub budget: u32,
    /// Lanes that are held or paused.
    pub lanes: Vec<LaneState>,
    /// The number of the last change: where [`Outbox::changes`] goes on after everything that is there.
    pub last_change: u64,
}

impl OutboxStats {
    /// How many entries are in a state, as it is stored.
    pub fn count(&self, state: EntryStateName) -> u64 {
        self.counts[state as usize]
    }

    /// How many lanes are held (O15).
    pub fn held_lanes(&self) -> usize {
        self.lanes.iter().filter(|lane| lane.held.is_some()).count()
    }
}

impl LaneState {
    fn of(Lane { row, now }: Lane) -> Self {
        let paused = (row.paused_until > now.at).then(|| now.wall_at(row.paused_until));
        Self { scope: row.scope, lane: row.lane, held: row.held, paused_until_ms: paused }
    }

    fn is_of_interest(&self) -> bool {
        self.held.is_some() || self.paused_until_ms.is_some()
    }
}

impl Outbox {
    /// An entry; `None` is no entry.
    ///
    /// # Errors
    /// Those of storage.
    pub fn get(&self, id: EntryId) -> Result<Option<EntryView>> {
        Ok(self.engine().outbox_entry(&self.opened.terms, id.get())?.map(EntryView::of))
    }

    /// An entry's request: media type and bytes, as they were enqueued (O2).
    ///
    /// # Errors
    /// Those of storage.
    pub fn request(&self, id: EntryId) -> Result<Option<(String, Vec<u8>)>> {
        Ok(self.engine().outbox_request(id.get())?.map(|request| (request.media_type, request.bytes)))
    }

    /// The entry of a purpose: the unsettled one, else the newest. It only looks (O3).
    ///
    /// # Errors
    /// `InvalidKey` for a lane or purpose that L1 refuses; those of storage.
    pub fn find(&self, scope: &Scope, lane: &str, purpose: &str) -> Result<Option<EntryView>> {
        let (lane, purpose) = (LaneName::new(lane)?, Purpose::new(purpose)?);
        Ok(self.engine().outbox_find(&self.opened.terms, scope, &lane, &purpose)?.map(EntryView::of))
    }

    /// One page of the entries that the filter lets through, oldest first, in the states that are stored.
    ///
    /// # Errors
    /// `InvalidArgument` for a page of no entries; those of storage.
    pub fn list(&self, filter: &EntryFilter) -> Result<EntryPage> {
        Ok(self.page(&filter.shown)?.0)
    }

    /// [`list`](Outbox::list) on a file of which a part cannot be read: that is passed over, and told.
    ///
    /// # Errors
    /// As [`list`](Outbox::list).
    pub fn salvage(&self, filter: &EntryFilter) -> Result<(EntryPage, Vec<Unreadable>)> {
        self.page(&Shown { past_damage: true, ..filter.shown.clone() })
    }

    fn page(&self, shown: &Shown) -> Result<(EntryPage, Vec<Unreadable>)> {
        if shown.limit == 0 {
            return Err(Error::InvalidArgument("a page holds at least one entry".into()));
        }
        let found = self.engine().outbox_list(&self.opened.terms, shown)?;
        let entries = found.entries.into_iter().map(EntryView::of).collect();
        let unreadable = found.unreadable.into_iter().map(Unreadable::of).collect();
        Ok((EntryPage { entries, next: found.next.map(EntryId::new) }, unreadable))
    }

    /// How it stands, at a cost that does not depend on how many entries there are.
    ///
    /// # Errors
    /// Those of storage.
    pub fn stats(&self) -> Result<OutboxStats> {
        let (row, lanes) = self.engine().outbox_stats(&self.opened.terms)?;
        let lanes = lanes.into_iter().map(LaneState::of).filter(LaneState::is_of_interest).collect();
        Ok(OutboxStats {
            counts: row.counts,
            unsettled: row.unsettled(),
            unsettled_bytes: row.unsettled_bytes,
            budget: row.budget.tokens,
            lanes,
            last_change: row.next_change - 1,
        })
    }
}
