//! What people and apps decide: lanes, cancel, resume, resolve, requeue, dismiss; and the sweep (O4, O7, O8, O10, O13).

use std::collections::BTreeMap;

use super::{Desk, OutboxTerms, reading};
use crate::codec::line;
use crate::codec::outbox::{self, Declared, LaneRow};
use crate::engine::recovery::prefix_end;
use crate::engine::{EngineError, Session};
use crate::key::{LaneName, Scope};
use crate::machine::enqueue::succeed;
use crate::machine::entry::{Entry, Order, Peeked, ended};
use crate::machine::lease;
use crate::machine::person::{self, Decider, EntryResolution};
use crate::outbox_memory::Unanswered;
use crate::store::Space;

/// Every lane that was ever declared, and how it hands out.
pub(crate) type Lanes = BTreeMap<String, Order>;

impl Session<'_> {
    /// Declares lanes, and says which there are. Entries of a lane that is declared otherwise than before follow.
    pub(crate) fn declare_lanes(&mut self, terms: &OutboxTerms, declared: &Lanes) -> Result<Lanes, EngineError> {
        let mut lanes = stored_lanes(self)?;
        for (name, order) in declared {
            let before = lanes.insert(name.clone(), *order);
            let default = (name == LaneName::DEFAULT.as_str()).then_some(Order::None);
            if before != Some(*order) {
                let row = outbox::encode(&Declared::from(*order));
                self.overlay.put(Space::Outbox, line::declared_key(name), row);
                if before.or(default).is_some_and(|before| before != *order) {
                    self.desk(terms)?.reorder(name, *order)?;
                }
            }
        }
        lanes.entry(LaneName::DEFAULT.as_str().to_owned()).or_insert(Order::None);
        self.desk(terms)?.begin_opening();
        Ok(lanes)
    }

    /// O10: the entry, and whether it is cancelled; else it is too late.
    pub(crate) fn cancel(&mut self, terms: &OutboxTerms, id: u64) -> Result<(bool, Peeked), EngineError> {
        let desk = self.desk(terms)?;
        let old = desk.current(id)?;
        match person::cancel(&old, desk.now, &terms.entry) {
            Some(new) => Ok((true, desk.becomes(new)?)),
            None => Ok((false, Peeked { entry: old, now: desk.now })),
        }
    }

    /// O8: everything of a scope that is held with its lane may be sent again. How many lanes and entries were held.
    pub(crate) fn resume_scope(&mut self, terms: &OutboxTerms, scope: &Scope) -> Result<(u64, u64), EngineError> {
        self.desk(terms)?.resume_scope(scope)
    }

    /// O6: the network is back. What waits in a scope because no answer came is due within the wait after a first try. How many entries.
    pub(crate) fn online(&mut self, terms: &OutboxTerms, scope: &Scope) -> Result<u64, EngineError> {
        self.desk(terms)?.online(scope)
    }

    /// O8: one held entry may be sent again.
    pub(crate) fn resume_entry(&mut self, terms: &OutboxTerms, id: u64) -> Result<Peeked, EngineError> {
        let desk = self.desk(terms)?;
        let old = desk.current(id)?;
        let new = person::resume(&old, desk.now).ok_or_else(|| wrong_state(&old, "held"))?;
        desk.becomes(new)
    }

    /// O3: a dead entry is sent again with its key, unless its purpose has got another entry.
    pub(crate) fn requeue(&mut self, terms: &OutboxTerms, id: u64) -> Result<Peeked, EngineError> {
        let mut desk = self.desk(terms)?;
        let old = desk.current(id)?;
        let new = person::requeue(&old, desk.now).ok_or_else(|| wrong_state(&old, "dead"))?;
        if let Some(other) = desk.other_of_purpose(&old)? {
            return Err(desk.conflict(other, true));
        }
        desk.check_room(old.request_bytes)?;
        desk.becomes(new)
    }

    /// O4: a person gives an entry up.
    pub(crate) fn dismiss(
        &mut self,
        terms: &OutboxTerms,
        id: u64,
        decider: &Decider<'_>,
    ) -> Result<Peeked, EngineError> {
        let desk = self.desk(terms)?;
        let old = desk.current(id)?;
        let new = person::dismiss(&old, decider, desk.now, &terms.entry);
        desk.becomes(new.ok_or_else(|| wrong_state(&old, "dead or unknown"))?)
    }

    /// O7: somebody has found out what became of an unknown entry. For `Resend` the successor is the answer, also when asked
    /// again.
    pub(crate) fn resolve_entry(
        &mut self,
        terms: &OutboxTerms,
        id: u64,
        resolution: &EntryResolution,
        decider: &Decider<'_>,
    ) -> Result<Peeked, EngineError> {
        self.desk(terms)?.resolve(id, resolution, decider)
    }

    /// O13: removes at most `limit` settled entries that have stayed long enough, oldest first. How many; whether there are more.
    pub(crate) fn sweep_outbox(&mut self, limit: usize) -> Result<(u64, bool), EngineError> {
        self.desk(&OutboxTerms::DEFAULT)?.sweep(limit)
    }

    /// Section 4: removes the entries of a scope; unsettled ones only if `even_if_unknown`, because after that they may be asked for
    /// again. How many are removed, and how many are kept.
    pub(crate) fn forget_entries(&mut self, scope: &Scope, even_if_unknown: bool) -> Result<(u64, u64), EngineError> {
        self.desk(&OutboxTerms::DEFAULT)?.forget(scope, even_if_unknown)
    }
}

fn stored_lanes(session: &Session<'_>) -> Result<Lanes, EngineError> {
    let mut lanes = Lanes::new();
    for key in reading::keys(session.overlay, &[line::DECLARED], usize::MAX)? {
        let name = String::from_utf8_lossy(&key[1..]).into_owned();
        lanes.extend(reading::declared(session.overlay, &name)?.map(|order| (name, order)));
    }
    Ok(lanes)
}

fn wrong_state(entry: &Entry, allowed: &'static str) -> EngineError {
    EngineError::WrongState { is: entry.standing(), allowed }
}

impl Desk<'_, '_> {
    /// Stores the outbox's time as the clocks of this opening begin: from here it follows the monotonic one. A wall clock that was
    /// set back meanwhile would make it stand still until something else is stored. Whoever only looks leaves it as it is (P8).
    fn begin_opening(mut self) {
        if self.session.engine.store.is_only_looked_at() {
            return;
        }
        if self.row.timeline.stamp.opening != self.now.stamp.opening {
            self.store_row();
        }
    }

    /// The entry as it counts now, what time has made of it included.
    fn current(&self, id: u64) -> Result<Entry, EngineError> {
        let old = self.the_entry(id)?;
        Ok(ended(&old, self.now, &self.terms.entry).unwrap_or(old))
    }

    fn becomes(mut self, new: Entry) -> Result<Peeked, EngineError> {
        let old = self.the_entry(new.id)?;
        if old == new {
            return Ok(Peeked { entry: new, now: self.now });
        }
        let entry = self.put(Some(&old), new);
        Ok(Peeked { entry, now: self.now })
    }

    /// Every entry of a lane that is in it still gets its place by the new order.
    fn reorder(&mut self, lane: &str, order: Order) -> Result<(), EngineError> {
        for row in reading::keys(self.session.overlay, &[line::ENTRIES], usize::MAX)? {
            let Some(old) = self.entry(line::read_id(&row)?)? else { continue };
            if old.lane.as_str() == lane {
                self.put(Some(&old), Entry { order, ..old.clone() });
            }
        }
        Ok(())
    }

    fn online(mut self, scope: &Scope) -> Result<u64, EngineError> {
        let engine = self.session.engine.clone();
        let waiting: Vec<_> = engine.outbox.unanswered().iter().map(|(id, how)| (*id, *how)).collect();
        let mut entries = 0;
        for (id, how) in waiting {
            let Unanswered::Waits(fence) = how else { continue };
            let Some(old) = self.entry(id)?.filter(|entry| entry.scope == *scope && entry.fence == fence) else {
                continue;
            };
            if let Some(new) = lease::brought_forward(&old, self.roll(), self.now, &self.terms.entry) {
                self.put(Some(&old), new);
                engine.outbox.unanswered().insert(id, Unanswered::BroughtForward);
                entries += 1;
            }
        }
        Ok(entries)
    }

    fn resume_scope(mut self, scope: &Scope) -> Result<(u64, u64), EngineError> {
        let mark = line::scope_mark(scope, &self.session.engine.salt);
        let (mut lanes, mut entries) = (0, 0);
        let held = reading::lane_rows_of(self.session.engine, self.session.overlay, scope)?;
        for (key, lane) in held.into_iter().filter(|(_, lane)| lane.held.is_some()) {
            if lane.paused_until > self.now.at {
                let row = outbox::encode(&LaneRow { held: None, ..lane });
                self.session.overlay.put(Space::Outbox, key, row);
            } else {
                self.session.overlay.delete(Space::Outbox, key);
            }
            self.store_row();
            lanes += 1;
        }
        for row in reading::keys(self.session.overlay, &line::held_prefix(mark), usize::MAX)? {
            let Some(old) = self.entry(line::read_id(&row)?)?.filter(|entry| entry.scope == *scope) else { continue };
            if let Some(new) = person::resume(&old, self.now) {
                self.put(Some(&old), new);
                entries += 1;
            }
        }
        Ok((lanes, entries))
    }

    /// Another entry of the purpose that is unsettled, or that answers it.
    fn other_of_purpose(&mut self, entry: &Entry) -> Result<Option<Entry>, EngineError> {
        let found = self.of_purpose(&entry.scope, &entry.lane, entry.purpose.as_ref())?;
        Ok(found.filter(|other| other.id != entry.id && (other.is_unsettled() || other.answers_purpose(self.now))))
    }

    fn resolve(mut self, id: u64, resolution: &EntryResolution, decider: &Decider<'_>) -> Result<Peeked, EngineError> {
        let current = self.current(id)?;
        if person::is_resolved(&current, resolution) {
            let entry = match current.successor {
                Some(successor) => self.entry(successor)?.unwrap_or(current),
                None => current,
            };
            return Ok(Peeked { entry, now: self.now });
        }
        let resends = matches!(resolution, EntryResolution::Resend);
        let successor = resends.then_some(self.row.next_id);
        let new = person::resolve(&current, resolution, successor, decider, self.now, &self.terms.entry)
            .ok_or_else(|| wrong_state(&current, "unknown"))?;
        let old = self.the_entry(id)?;
        let entry = self.put(Some(&old), new);
        let Some(successor) = successor else { return Ok(Peeked { entry, now: self.now }) };
        let request = reading::request(self.session.overlay, id)?.ok_or(EngineError::NoEntry(id))?;
        let entry = succeed(&entry, successor, self.new_key(), self.now);
        let entry = self.add(entry, &request);
        Ok(Peeked { entry, now: self.now })
    }

    fn sweep(mut self, limit: usize) -> Result<(u64, bool), EngineError> {
        let prefix = [line::REMOVALS];
        let end = line::after_instant(&prefix, self.now.at).min(prefix_end(&prefix));
        let rows = reading::keys_between(self.session.overlay, &prefix, &end, limit.saturating_add(1))?;
        let mut removed = 0;
        for row in rows.iter().take(limit) {
            if let Some(old) = self.entry(line::read_id(row)?)? {
                self.remove(&old);
                removed += 1;
            }
        }
        Ok((removed, rows.len() > limit))
    }

    fn forget(mut self, scope: &Scope, even_if_unknown: bool) -> Result<(u64, u64), EngineError> {
        let (mut removed, mut kept) = (0, 0);
        for row in reading::keys(self.session.overlay, &[line::ENTRIES], usize::MAX)? {
            match self.entry(line::read_id(&row)?)?.filter(|entry| entry.scope == *scope) {
                None => {}
                Some(entry) if entry.is_unsettled() && !even_if_unknown => kept += 1,
                Some(entry) => {
                    self.remove(&entry);
                    removed += 1;
                }
            }
        }
        if kept == 0 {
            self.forget_lanes(scope)?;
        }
        Ok((removed, kept))
    }

    /// What is held or paused tells a scope's name too.
    fn forget_lanes(&mut self, scope: &Scope) -> Result<(), EngineError> {
        for (key, _) in reading::lane_rows_of(self.session.engine, self.session.overlay, scope)? {
            self.session.overlay.delete(Space::Outbox, key);
            self.store_row();
        }
        Ok(())
    }
}
