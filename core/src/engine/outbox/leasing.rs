//! Handing entries out, and settling their deliveries (O4 to O9, O11).

use std::collections::HashSet;

use super::{Desk, OutboxTerms, reading};
use crate::codec::line::{self, Mark};
use crate::codec::outbox::{self, LaneRow, Request};
use crate::engine::{EngineError, Session};
use crate::key::Scope;
use crate::machine::classify::{DeliveryOutcome, Kind};
use crate::machine::deliver::{Delivered, settle};
use crate::machine::entry::{Entry, Order, ended};
use crate::machine::lease;
use crate::machine::standing::EntryState;
use crate::machine::timeline::Moment;
use crate::outbox_memory::Dropped;
use crate::store::Space;

/// An entry whose delivery is out.
#[derive(Debug, Clone)]
pub(crate) struct Handed {
    pub(crate) entry: Entry,
    pub(crate) request: Request,
    /// How long its lease lasts from the instant it was granted.
    pub(crate) lease_ms: u64,
    pub(crate) granted_at: Moment,
}

/// An entry that may be due.
struct Candidate {
    ready_at: u64,
    id: u64,
}

impl Session<'_> {
    /// O4: at most `limit` deliveries of a scope that are due; the leases are in this commit.
    pub(crate) fn lease_due(
        &mut self,
        terms: &OutboxTerms,
        scope: &Scope,
        limit: usize,
    ) -> Result<Vec<Handed>, EngineError> {
        self.desk(terms)?.lease_due(scope, limit)
    }

    /// Settles a delivery.
    pub(crate) fn settle_delivery(
        &mut self,
        terms: &OutboxTerms,
        id: u64,
        fence: u64,
        outcome: &DeliveryOutcome,
    ) -> Result<(), EngineError> {
        self.desk(terms)?.settle(id, fence, outcome)
    }
}

impl Desk<'_, '_> {
    fn lease_due(mut self, scope: &Scope, limit: usize) -> Result<Vec<Handed>, EngineError> {
        self.end_dropped()?;
        let mark = line::scope_mark(scope, &self.session.engine.salt);
        self.end_by_time(mark)?;
        self.row.budget = self.row.budget.at(self.terms.budget, self.now.at);
        let (mut handed, mut passed) = (Vec::new(), HashSet::new());
        let mut pauses_over = Vec::new();
        while handed.len() < limit {
            let mut due = self.due(mark, limit - handed.len(), &passed, &mut pauses_over)?;
            if due.is_empty() {
                break;
            }
            due.sort_by_key(|candidate| (candidate.ready_at, candidate.id));
            for candidate in due.into_iter().take(limit - handed.len()) {
                passed.insert(candidate.id);
                handed.extend(self.lease_one(scope, candidate.id)?);
            }
        }
        if self.changed {
            for key in pauses_over {
                self.session.overlay.delete(Space::Outbox, key);
            }
        }
        Ok(handed)
    }

    /// Deliveries of this process that were dropped: the backoff of their tries runs since then.
    fn end_dropped(&mut self) -> Result<(), EngineError> {
        let dropped = self.session.engine.outbox.dropped().clone();
        for Dropped { id, fence, at_mono_ms } in &dropped {
            let Some(old) = self.entry(*id)? else { continue };
            let ago_ms = self.now.stamp.mono_ms.saturating_sub(*at_mono_ms);
            if let Some(new) = lease::dropped(old.clone(), *fence, self.now.at.saturating_sub(ago_ms)) {
                let new = ended(&new, self.now, &self.terms.entry).unwrap_or(new);
                self.put(Some(&old), new);
            }
        }
        if !dropped.is_empty() {
            self.session.takes_back(dropped);
        }
        Ok(())
    }

    /// What time alone changes (O11). Every row that is due goes: whoever looks again finds none.
    fn end_by_time(&mut self, scope: Mark) -> Result<(), EngineError> {
        let prefix = line::end_prefix(scope);
        let end = line::after_instant(&prefix, self.now.at);
        for row in reading::keys_between(self.session.overlay, &prefix, &end, usize::MAX)? {
            let Some(old) = self.entry(line::read_id(&row)?)? else { continue };
            // Under other settings than it was written with its end may be another one: then that is written.
            let new = ended(&old, self.now, &self.terms.entry).unwrap_or_else(|| old.clone());
            self.put(Some(&old), new);
        }
        Ok(())
    }

    /// At most `limit` of each lane that may be handed out, those passed excepted.
    /// Rows of lanes whose pause is over are noted: nobody needs them any more.
    fn due(
        &self,
        scope: Mark,
        limit: usize,
        passed: &HashSet<u64>,
        pauses_over: &mut Vec<Vec<u8>>,
    ) -> Result<Vec<Candidate>, EngineError> {
        let view = &*self.session.overlay;
        let mut due = Vec::new();
        for mark in reading::lanes_of(view, scope)? {
            match reading::lane(view, scope, mark)? {
                Some(lane) if lane.held.is_some() || lane.paused_until > self.now.at => continue,
                Some(_) => {
                    let key = line::lane_key(scope, mark);
                    if !pauses_over.contains(&key) {
                        pauses_over.push(key);
                    }
                }
                None => {}
            }
            let Some(head) = reading::head(view, scope, mark)? else { continue };
            match head.order {
                Order::Strict { .. } if reading::is_out(view, scope, mark, self.now)? => {}
                Order::Strict { .. } => due.extend(self.head_due(&head)),
                Order::None => self.line_due(scope, mark, limit, &mut due)?,
            }
        }
        due.retain(|candidate| !passed.contains(&candidate.id));
        Ok(due)
    }

    fn head_due(&self, head: &Entry) -> Option<Candidate> {
        let may_be_sent = matches!(head.state, EntryState::Pending | EntryState::Sending { .. });
        let is_free = head.fence == 0 || self.row.budget.tokens > 0;
        (may_be_sent && is_free && head.ready_at <= self.now.at)
            .then_some(Candidate { ready_at: head.ready_at, id: head.id })
    }

    fn line_due(&self, scope: Mark, lane: Mark, limit: usize, due: &mut Vec<Candidate>) -> Result<(), EngineError> {
        let retries = limit.min(usize::try_from(self.row.budget.tokens).unwrap_or(usize::MAX));
        for (takes_from_budget, limit) in [(false, limit), (true, retries)] {
            let prefix = line::class_prefix(scope, lane, takes_from_budget);
            let end = line::after_instant(&prefix, self.now.at);
            for row in reading::keys_between(self.session.overlay, &prefix, &end, limit)? {
                due.push(Candidate { ready_at: line::read_number(&row)?, id: line::read_id(&row)? });
            }
        }
        Ok(())
    }

    fn lease_one(&mut self, scope: &Scope, id: u64) -> Result<Option<Handed>, EngineError> {
        let Some(old) = self.entry(id)?.filter(|entry| entry.scope == *scope) else { return Ok(None) };
        if let Some(over) = ended(&old, self.now, &self.terms.entry) {
            self.put(Some(&old), over);
            return Ok(None);
        }
        if old.fence > 0 {
            let Some(budget) = self.row.budget.take() else { return Ok(None) };
            // One that refills at once is never empty.
            self.row.budget = budget.at(self.terms.budget, self.now.at);
        }
        let fence = self.session.fence()?;
        let leased = lease::lease(old.clone(), fence, self.roll(), self.now, &self.terms.entry);
        let EntryState::Sending { lease_end } = leased.state else { return Ok(None) };
        let entry = self.put(Some(&old), leased);
        let request = reading::request(self.session.overlay, id)?.ok_or(EngineError::NoEntry(id))?;
        let lease_ms = lease_end.saturating_sub(self.now.at);
        Ok(Some(Handed { entry, request, lease_ms, granted_at: self.now }))
    }

    pub(super) fn roll(&self) -> u64 {
        let mut bytes = [0; 8];
        self.session.engine.entropy.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    fn settle(mut self, id: u64, fence: u64, outcome: &DeliveryOutcome) -> Result<(), EngineError> {
        let old = self.entry(id)?.ok_or(EngineError::ClaimLost)?;
        match settle(&old, fence, outcome, self.now, &self.terms.entry) {
            Delivered::Lost => Err(EngineError::ClaimLost),
            Delivered::Already => Ok(()),
            Delivered::Becomes(new) => {
                if matches!(new.state, EntryState::Answered { .. }) {
                    let budget = self.row.budget.at(self.terms.budget, self.now.at);
                    self.row.budget = budget.refill(self.terms.budget);
                }
                self.mind_lane(&old, outcome)?;
                let entry = self.put(Some(&old), *new);
                self.mind_network(&entry, outcome);
                let (id, tries, state) = (entry.id, entry.tries, entry.standing());
                tracing::debug!(entry = id, outcome = outcome.as_str(), state, tries, "a delivery is settled");
                Ok(())
            }
        }
    }

    /// O6: remembers whether the entry waits because no answer came, and no server has said until when.
    fn mind_network(&self, entry: &Entry, outcome: &DeliveryOutcome) {
        let memory = &self.session.engine.outbox;
        if outcome.is_unanswered && outcome.retry_after_ms.is_none() {
            memory.got_no_answer(entry.id, entry.fence);
        } else {
            memory.waits_no_more(entry.id);
        }
    }

    /// O6, O8: what an answer means for the whole lane.
    fn mind_lane(&mut self, entry: &Entry, outcome: &DeliveryOutcome) -> Result<(), EngineError> {
        let held = match &outcome.kind {
            Kind::Hold { reason, whole_lane: true } => Some((reason.clone(), self.now.stamp.wall_ms)),
            Kind::Hold { .. } | Kind::Answered { .. } | Kind::Retry { .. } | Kind::Dead(_) | Kind::Unknown(_) => None,
        };
        let pause_ms = outcome.retry_after_ms.filter(|_| outcome.pauses_lane);
        if held.is_none() && pause_ms.is_none() {
            return Ok(());
        }
        let salt = &self.session.engine.salt;
        let (scope, lane) = (line::scope_mark(&entry.scope, salt), line::lane_mark(&entry.lane, salt));
        let known = reading::lane(self.session.overlay, scope, lane)?;
        let (was_held, paused_until) = known.map_or((None, 0), |row| (row.held, row.paused_until));
        let pause = pause_ms.map_or(0, |ms| self.now.at.saturating_add(ms.min(self.terms.entry.retry_after_max_ms)));
        let row = LaneRow {
            scope: entry.scope.as_str().to_owned(),
            lane: entry.lane.as_str().to_owned(),
            held: was_held.or(held),
            paused_until: paused_until.max(pause),
        };
        self.session.overlay.put(Space::Outbox, line::lane_key(scope, lane), outbox::encode(&row));
        Ok(())
    }
}
