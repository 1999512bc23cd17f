//! Enqueueing: an entry that is there already, or a new one (O1, O3, O12).

use super::{Desk, OutboxTerms, reading};
use crate::codec::line;
use crate::codec::outbox::Request;
use crate::engine::{EngineError, Session};
use crate::key::{Key, LaneName, Purpose, Scope};
use crate::machine::enqueue::{self, Verdict, Wanted};
use crate::machine::entry::{Entry, Order, Peeked, ended};

/// What is asked for: what is wanted, the request, and how its lane hands out.
#[derive(Debug, Clone)]
pub(crate) struct Asking {
    pub(crate) wanted: Wanted,
    pub(crate) request: Request,
    pub(crate) order: Order,
}

/// The entry that answers an `enqueue`.
pub(crate) struct Enqueued {
    pub(crate) peeked: Peeked,
    pub(crate) created: bool,
}

impl Session<'_> {
    pub(crate) fn enqueue(&mut self, terms: &OutboxTerms, asking: &Asking) -> Result<Enqueued, EngineError> {
        self.desk(terms)?.enqueue(asking)
    }
}

impl Desk<'_, '_> {
    fn enqueue(mut self, asking: &Asking) -> Result<Enqueued, EngineError> {
        if let Some(entry) = self.existing(&asking.wanted)? {
            return Ok(Enqueued { peeked: Peeked { entry, now: self.now }, created: false });
        }
        self.check_room(asking.wanted.request_bytes)?;
        let key = asking.wanted.key.clone().unwrap_or_else(|| self.new_key());
        // Another handle may have declared the lane since this one was opened: entries of a lane have one order.
        let order = reading::declared(self.session.overlay, asking.wanted.lane.as_str())?.unwrap_or(asking.order);
        let entry = enqueue::create(&asking.wanted, self.row.next_id, key, order, self.now);
        let entry = self.add(entry, &asking.request);
        Ok(Enqueued { peeked: Peeked { entry, now: self.now }, created: true })
    }

    pub(super) fn new_key(&self) -> Key {
        let engine = self.session.engine;
        Key::v7(self.now.stamp.wall_ms, &*engine.entropy)
    }

    /// The entry that answers it already, by purpose or by the caller's own key.
    fn existing(&mut self, wanted: &Wanted) -> Result<Option<Entry>, EngineError> {
        if let Some(found) = self.of_purpose(&wanted.scope, &wanted.lane, wanted.purpose.as_ref())? {
            match enqueue::by_purpose(&found, wanted, self.now) {
                Verdict::Existing => return Ok(Some(found)),
                Verdict::PurposeConflict => return Err(self.conflict(found, true)),
                Verdict::KeyConflict | Verdict::New => {}
            }
        }
        let Some(found) = self.by_key(wanted)? else { return Ok(None) };
        match enqueue::by_key(&found, wanted) {
            Verdict::KeyConflict => Err(self.conflict(found, false)),
            Verdict::Existing | Verdict::PurposeConflict | Verdict::New => Ok(Some(found)),
        }
    }

    /// What speaks for the purpose now: what time has made of it is stored first.
    pub(super) fn of_purpose(
        &mut self,
        scope: &Scope,
        lane: &LaneName,
        purpose: Option<&Purpose>,
    ) -> Result<Option<Entry>, EngineError> {
        let Some(purpose) = purpose else { return Ok(None) };
        let engine = self.session.engine;
        loop {
            let view = &*self.session.overlay;
            let found = reading::by_purpose(engine, view, scope, lane, purpose, self.now)?;
            let Some(found) = found else { return Ok(None) };
            match ended(&found, self.now, &self.terms.entry) {
                Some(over) => self.put(Some(&found), over),
                None => return Ok(Some(found)),
            };
        }
    }

    pub(super) fn conflict(&self, entry: Entry, by_purpose: bool) -> EngineError {
        let peeked = Box::new(Peeked { entry, now: self.now });
        if by_purpose { EngineError::PurposeConflict(peeked) } else { EngineError::KeyConflict(peeked) }
    }

    fn by_key(&self, wanted: &Wanted) -> Result<Option<Entry>, EngineError> {
        let Some(key) = &wanted.key else { return Ok(None) };
        let prefix = line::key_prefix(&wanted.scope, &wanted.operation, key, &self.session.engine.salt);
        for row in reading::keys(self.session.overlay, &prefix, usize::MAX)? {
            let found = self.entry(line::read_id(&row)?)?.filter(|entry| {
                (&entry.scope, &entry.operation, &entry.key) == (&wanted.scope, &wanted.operation, key)
            });
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}
