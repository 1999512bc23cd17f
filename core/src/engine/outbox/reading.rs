//! What is in the outbox, by any view of the store.

use std::ops::Bound;
use std::sync::Arc;

use super::terms::OutboxTerms;
use crate::codec::line::{self, Mark};
use crate::codec::outbox::{self, Declared, LaneRow, OutboxRow, Request};
use crate::engine::recovery::{prefix_end, rows_from};
use crate::engine::{Engine, EngineError, Unreadable, read_with};
use crate::key::{LaneName, Purpose, Scope};
use crate::machine::backoff::Budget;
use crate::machine::entry::{Entry, Order, Peeked};
use crate::machine::record::Stamp;
use crate::machine::standing::{EntryState, EntryStateName};
use crate::machine::timeline::{Moment, Timeline};
use crate::store::{Snapshot, Space};

/// Which entries `list` shows.
#[derive(Debug, Clone, Default)]
pub(crate) struct EntryFilter {
    pub(crate) scope: Option<Scope>,
    pub(crate) lane: Option<String>,
    pub(crate) operation: Option<String>,
    /// Enqueued at least so long ago.
    pub(crate) older_than_ms: u64,
    pub(crate) state: Option<EntryStateName>,
    pub(crate) after: u64,
    pub(crate) limit: usize,
    /// What cannot be read is passed over, and told.
    pub(crate) past_damage: bool,
}

/// A page of entries, and the id after which the next begins.
#[expect(clippy::struct_field_names, reason = "there is no better name for either")]
pub(crate) struct Entries {
    pub(crate) entries: Vec<Peeked>,
    pub(crate) next: Option<u64>,
    /// What was passed over.
    pub(crate) unreadable: Vec<Unreadable>,
}

impl Entries {
    fn of(entries: Vec<Peeked>, next: Option<u64>) -> Self {
        Self { entries, next, unreadable: Vec::new() }
    }
}

/// A lane of a scope that is held or paused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lane {
    pub(crate) row: LaneRow,
    pub(crate) now: Moment,
}

/// The outbox's row, and the instant that it is on the timeline.
pub(super) fn outbox_row(
    view: &dyn Snapshot,
    stamp: Stamp,
    terms: &OutboxTerms,
) -> Result<(OutboxRow, Moment), EngineError> {
    let stored = read_with(view, Space::Outbox, line::OUTBOX, OutboxRow::decode)?;
    let row = stored.unwrap_or_else(|| {
        let timeline = Timeline::begin(stamp);
        OutboxRow::new(timeline, Budget::full(terms.budget, timeline.at))
    });
    Ok((row, row.timeline.moment(stamp)))
}

pub(super) fn entry(view: &dyn Snapshot, id: u64) -> Result<Option<Entry>, EngineError> {
    read_with(view, Space::Outbox, &line::entry_key(id), |bytes| outbox::decode_entry(id, bytes))
}

pub(super) fn request(view: &dyn Snapshot, id: u64) -> Result<Option<Request>, EngineError> {
    read_with(view, Space::Outbox, &line::request_key(id), |bytes| outbox::decode("a request", bytes))
}

pub(super) fn lane(view: &dyn Snapshot, scope: Mark, lane: Mark) -> Result<Option<LaneRow>, EngineError> {
    read_with(view, Space::Outbox, &line::lane_key(scope, lane), |bytes| outbox::decode("a lane", bytes))
}

/// The rows of lanes that are held or paused, or were, with their keys.
pub(super) fn lane_rows(view: &dyn Snapshot, prefix: &[u8]) -> Result<Vec<(Vec<u8>, LaneRow)>, EngineError> {
    let mut rows = Vec::new();
    for key in keys(view, prefix, usize::MAX)? {
        let lane = read_with(view, Space::Outbox, &key, |bytes| outbox::decode("a lane", bytes))?;
        rows.extend(lane.map(|lane| (key, lane)));
    }
    Ok(rows)
}

/// The same of one scope.
pub(super) fn lane_rows_of(
    engine: &Engine,
    view: &dyn Snapshot,
    scope: &Scope,
) -> Result<Vec<(Vec<u8>, LaneRow)>, EngineError> {
    let mut rows = lane_rows(view, &line::lanes_prefix(line::scope_mark(scope, &engine.salt)))?;
    rows.retain(|(_, lane)| lane.scope == scope.as_str());
    Ok(rows)
}

/// At most `limit` keys that begin with `prefix`.
pub(super) fn keys(view: &dyn Snapshot, prefix: &[u8], limit: usize) -> Result<Vec<Vec<u8>>, EngineError> {
    keys_between(view, prefix, &prefix_end(prefix), limit)
}

/// At most `limit` keys from `start` up to `end`.
pub(super) fn keys_between(
    view: &dyn Snapshot,
    start: &[u8],
    end: &[u8],
    limit: usize,
) -> Result<Vec<Vec<u8>>, EngineError> {
    rows_from(view, Space::Outbox, start, Bound::Excluded(end), limit)
}

/// How a lane was declared last, by whatever handle.
pub(super) fn declared(view: &dyn Snapshot, lane: &str) -> Result<Option<Order>, EngineError> {
    let declared: Option<Declared> =
        read_with(view, Space::Outbox, &line::declared_key(lane), |bytes| outbox::decode("a lane's settings", bytes))?;
    Ok(declared.map(Order::from))
}

/// What speaks for a purpose: an unsettled entry, else the newest that answers it, else the newest.
pub(super) fn by_purpose(
    engine: &Engine,
    view: &dyn Snapshot,
    scope: &Scope,
    lane: &LaneName,
    purpose: &Purpose,
    now: Moment,
) -> Result<Option<Entry>, EngineError> {
    const CHUNK: usize = 16;
    let prefix = line::purpose_prefix(scope, lane, purpose, &engine.salt);
    let found =
        |row: &Vec<u8>| {
            let found = entry(view, line::read_purpose_id(row)?)?;
            Ok::<_, EngineError>(found.filter(|entry| {
                entry.scope == *scope && entry.lane == *lane && entry.purpose.as_ref() == Some(purpose)
            }))
        };
    let (mut from, end) = (prefix.clone(), line::given_up_prefix(&prefix));
    let mut newest: Option<Entry> = None;
    loop {
        let rows = keys_between(view, &from, &end, CHUNK)?;
        let Some(last) = rows.last() else { break };
        from = [last.as_slice(), &[0]].concat();
        for row in &rows {
            match found(row)? {
                Some(found) if found.is_unsettled() || found.answers_purpose(now) => return Ok(Some(found)),
                found => newest = newest.or(found),
            }
        }
    }
    // However many are dead or cancelled, the newest of them speaks for all.
    let given_up = keys(view, &end, 1)?.first().map(found).transpose()?.flatten();
    Ok(newest.into_iter().chain(given_up).max_by_key(|entry| entry.id))
}

/// Until when something is out in an ordered lane; `None`: never was, or it is settled.
fn out_until(view: &dyn Snapshot, scope: Mark, lane: Mark) -> Result<Option<u64>, EngineError> {
    let rows = keys(view, &line::out_prefix(scope, lane), usize::MAX)?;
    Ok(rows.last().map(|row| line::read_number(row)).transpose()?)
}

/// Whether something is out in an ordered lane.
pub(super) fn is_out(view: &dyn Snapshot, scope: Mark, lane: Mark, now: Moment) -> Result<bool, EngineError> {
    Ok(out_until(view, scope, lane)?.is_some_and(|until| until > now.at))
}

/// The lanes of a scope that have a line, one after the other.
pub(super) fn lanes_of(view: &dyn Snapshot, scope: Mark) -> Result<Vec<Mark>, EngineError> {
    let mut lanes = Vec::new();
    let prefix = line::line_prefix(scope);
    let (mut from, end) = (prefix.clone(), prefix_end(&prefix));
    while let Some(first) = keys_between(view, &from, &end, 1)?.pop() {
        let lane = line::read_lane(&first)?;
        lanes.push(lane);
        from = prefix_end(&line::lane_line_prefix(scope, lane));
    }
    Ok(lanes)
}

/// The first in a lane's line: what an ordered lane hands out next, if it does.
pub(super) fn head(view: &dyn Snapshot, scope: Mark, lane: Mark) -> Result<Option<Entry>, EngineError> {
    match keys(view, &line::lane_line_prefix(scope, lane), 1)?.pop() {
        Some(row) => entry(view, line::read_id(&row)?),
        None => Ok(None),
    }
}

impl Engine {
    /// A view of the outbox, and the instant that it is now on its timeline.
    fn look_at_outbox(&self, terms: &OutboxTerms) -> Result<(Arc<dyn Snapshot>, OutboxRow, Moment), EngineError> {
        let snapshot = self.snapshot()?;
        let (row, now) = outbox_row(&*snapshot, self.now(), terms)?;
        Ok((snapshot, row, now))
    }

    pub(crate) fn outbox_entry(&self, terms: &OutboxTerms, id: u64) -> Result<Option<Peeked>, EngineError> {
        let (view, _, now) = self.look_at_outbox(terms)?;
        Ok(entry(&*view, id)?.map(|entry| Peeked { entry, now }))
    }

    pub(crate) fn outbox_request(&self, id: u64) -> Result<Option<Request>, EngineError> {
        request(&*self.snapshot()?, id)
    }

    pub(crate) fn outbox_find(
        &self,
        terms: &OutboxTerms,
        scope: &Scope,
        lane: &LaneName,
        purpose: &Purpose,
    ) -> Result<Option<Peeked>, EngineError> {
        let (view, _, now) = self.look_at_outbox(terms)?;
        Ok(by_purpose(self, &*view, scope, lane, purpose, now)?.map(|entry| Peeked { entry, now }))
    }

    pub(crate) fn outbox_list(&self, terms: &OutboxTerms, filter: &EntryFilter) -> Result<Entries, EngineError> {
        const CHUNK: usize = 256;
        if filter.past_damage {
            return self.outbox_salvage(terms, filter);
        }
        let (view, _, now) = self.look_at_outbox(terms)?;
        let (mut from, end) = (line::entry_key(filter.after.saturating_add(1)), prefix_end(&[line::ENTRIES]));
        let mut entries = Vec::new();
        loop {
            let rows = keys_between(&*view, &from, &end, CHUNK)?;
            let Some(last) = rows.last() else { return Ok(Entries::of(entries, None)) };
            from = [last.as_slice(), &[0]].concat();
            for row in &rows {
                let id = line::read_id(row)?;
                let Some(entry) = entry(&*view, id)?.filter(|entry| filter.lets_through(entry, now)) else { continue };
                if entries.len() == filter.limit {
                    let next = entries.last().map(|last: &Peeked| last.entry.id);
                    return Ok(Entries::of(entries, next));
                }
                entries.push(Peeked { entry, now });
            }
        }
    }

    /// At most `limit` entries that changed after that change, in the order of their last changes.
    pub(crate) fn outbox_changes(
        &self,
        terms: &OutboxTerms,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Peeked>, EngineError> {
        let (view, _, now) = self.look_at_outbox(terms)?;
        let from = line::change_key(after.saturating_add(1), 0);
        let mut entries = Vec::new();
        for key in keys_between(&*view, &from, &prefix_end(&[line::CHANGES]), limit)? {
            entries.extend(entry(&*view, line::read_id(&key)?)?.map(|entry| Peeked { entry, now }));
        }
        Ok(entries)
    }

    /// The outbox as a whole, and the lanes that are held or paused.
    pub(crate) fn outbox_stats(&self, terms: &OutboxTerms) -> Result<(OutboxRow, Vec<Lane>), EngineError> {
        let (view, mut row, now) = self.look_at_outbox(terms)?;
        row.budget = row.budget.at(terms.budget, now.at);
        let lanes = lane_rows(&*view, &[line::LANES])?.into_iter().map(|(_, row)| Lane { row, now });
        Ok((row, lanes.collect()))
    }

    /// Whether a lane of a scope is held.
    pub(crate) fn outbox_has_held_lane(&self, scope: &Scope) -> Result<bool, EngineError> {
        let lanes = lane_rows_of(self, &*self.snapshot()?, scope)?;
        Ok(lanes.iter().any(|(_, lane)| lane.held.is_some()))
    }

    /// O11: the earliest instant, on the wall clock, at which `lease_due` could hand something out or change a state.
    pub(crate) fn outbox_next_wakeup(&self, terms: &OutboxTerms, scope: &Scope) -> Result<Option<u64>, EngineError> {
        let (at, now) = self.outbox_wakeup(terms, scope)?;
        Ok(at.map(|at| now.wall_at(at.max(now.at))))
    }

    /// The same on the timeline, and where that is now. What is overdue has the instant at which it was due.
    pub(crate) fn outbox_wakeup(
        &self,
        terms: &OutboxTerms,
        scope: &Scope,
    ) -> Result<(Option<u64>, Moment), EngineError> {
        let (view, row, now) = self.look_at_outbox(terms)?;
        let at = if self.outbox.dropped().is_empty() {
            self.wakeup_of(&*view, &row, now, terms, scope)?
        } else {
            Some(now.at)
        };
        Ok((at, now))
    }

    fn wakeup_of(
        &self,
        view: &dyn Snapshot,
        row: &OutboxRow,
        now: Moment,
        terms: &OutboxTerms,
        scope: &Scope,
    ) -> Result<Option<u64>, EngineError> {
        let scope = line::scope_mark(scope, &self.salt);
        let retry_at = row.budget.next_at(terms.budget, now.at).map(|at| if at > now.at { at } else { 0 });
        let mut wakeup = first_instant(view, &line::end_prefix(scope))?;
        for lane in lanes_of(view, scope)? {
            if let Some(at) = lane_ready_at(view, scope, lane, retry_at)? {
                wakeup = Some(wakeup.map_or(at, |earlier| earlier.min(at)));
            }
        }
        Ok(wakeup)
    }
}

/// When a lane can hand something out; `None`: not by time alone.
fn lane_ready_at(
    view: &dyn Snapshot,
    scope: Mark,
    mark: Mark,
    retry_at: Option<u64>,
) -> Result<Option<u64>, EngineError> {
    let lane = lane(view, scope, mark)?;
    if lane.as_ref().is_some_and(|lane| lane.held.is_some()) {
        return Ok(None);
    }
    let Some(head) = head(view, scope, mark)? else { return Ok(None) };
    let first = match head.order {
        Order::Strict { .. } => {
            let out_until = out_until(view, scope, mark)?.unwrap_or(0);
            head_ready_at(&head, retry_at).map(|at| at.max(out_until))
        }
        Order::None => {
            let first = first_instant(view, &line::class_prefix(scope, mark, false))?;
            let again = first_instant(view, &line::class_prefix(scope, mark, true))?;
            let again = again.and_then(|at| Some(at.max(retry_at?)));
            [first, again].into_iter().flatten().min()
        }
    };
    Ok(first.map(|at| at.max(lane.map_or(0, |lane| lane.paused_until))))
}

/// The instant in the first row that begins with `prefix`.
fn first_instant(view: &dyn Snapshot, prefix: &[u8]) -> Result<Option<u64>, EngineError> {
    Ok(keys(view, prefix, 1)?.pop().map(|row| line::read_number(&row)).transpose()?)
}

/// When the head of an ordered lane may be sent; `None`: it blocks the lane.
fn head_ready_at(head: &Entry, retry_at: Option<u64>) -> Option<u64> {
    match head.state {
        EntryState::Pending if head.fence == 0 => Some(head.ready_at),
        EntryState::Pending | EntryState::Sending { .. } => Some(head.ready_at.max(retry_at?)),
        EntryState::Held { .. }
        | EntryState::Unknown(_)
        | EntryState::Answered { .. }
        | EntryState::Dead(_)
        | EntryState::Cancelled { .. } => None,
    }
}

impl EntryFilter {
    pub(super) fn lets_through(&self, entry: &Entry, now: Moment) -> bool {
        self.scope.as_ref().is_none_or(|scope| entry.scope == *scope)
            && self.lane.as_ref().is_none_or(|lane| entry.lane.as_str() == lane)
            && self.operation.as_ref().is_none_or(|operation| entry.operation.as_str() == operation)
            && now.stamp.wall_ms.saturating_sub(entry.created_at_ms) >= self.older_than_ms
            && self.state.is_none_or(|state| entry.state_name() == state)
    }
}
