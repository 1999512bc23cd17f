//! What people and apps decide about entries.

use super::Outbox;
use crate::engine::outbox::OutboxTerms;
use crate::engine::{EngineError, Session};
use crate::entry::{EntryId, EntryView};
use crate::error::Result;
use crate::key::Scope;
use crate::limits::{check_person, stored_entry_resolution};
use crate::machine::entry::Peeked;
use crate::machine::person::{Decider, EntryResolution};

/// What `cancel` answers: truthfully, after it is on disk (O10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cancel {
    /// It is cancelled: no lease is out, and no try can have taken effect.
    Cancelled(EntryView),
    /// A send may have taken effect. Nothing was changed.
    TooLate(EntryView),
}

impl Cancel {
    /// Whether it is cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Cancel::Cancelled(_))
    }
}

/// What `resume` did for a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resumed {
    /// Lanes that were held.
    pub lanes: u64,
    /// Entries that were held with them, and are due now.
    pub entries: u64,
}

pub(super) type Work<T> = Box<dyn FnOnce(&mut Session<'_>, &OutboxTerms) -> Result<T, EngineError> + Send>;

pub(super) fn cancelling(id: EntryId) -> Work<(bool, Peeked)> {
    Box::new(move |session, terms| session.cancel(terms, id.get()))
}

pub(super) fn cancelled((is_cancelled, peeked): (bool, Peeked)) -> Cancel {
    let entry = EntryView::of(peeked);
    if is_cancelled { Cancel::Cancelled(entry) } else { Cancel::TooLate(entry) }
}

pub(super) fn resuming(scope: &Scope) -> Work<Resumed> {
    let scope = scope.clone();
    Box::new(move |session, terms| {
        session.resume_scope(terms, &scope).map(|(lanes, entries)| Resumed { lanes, entries })
    })
}

pub(super) fn going_online(scope: &Scope) -> Work<u64> {
    let scope = scope.clone();
    Box::new(move |session, terms| session.online(terms, &scope))
}

pub(super) fn resuming_entry(id: EntryId) -> Work<EntryView> {
    Box::new(move |session, terms| session.resume_entry(terms, id.get()).map(EntryView::of))
}

pub(super) fn requeueing(id: EntryId) -> Work<EntryView> {
    Box::new(move |session, terms| session.requeue(terms, id.get()).map(EntryView::of))
}

pub(super) fn dismissing(id: EntryId, who: &str, note: &str) -> Result<Work<EntryView>> {
    check_person(who, note)?;
    let (who, note) = (who.to_owned(), note.to_owned());
    Ok(Box::new(move |session, terms| {
        session.dismiss(terms, id.get(), &Decider { who: &who, note: &note }).map(EntryView::of)
    }))
}

pub(super) fn resolving(
    outbox: &Outbox,
    id: EntryId,
    resolution: EntryResolution,
    who: &str,
    note: &str,
) -> Result<Work<EntryView>> {
    check_person(who, note)?;
    let resolution = stored_entry_resolution(resolution, outbox.engine().options)?;
    let (who, note) = (who.to_owned(), note.to_owned());
    Ok(Box::new(move |session, terms| {
        let decider = Decider { who: &who, note: &note };
        session.resolve_entry(terms, id.get(), &resolution, &decider).map(EntryView::of)
    }))
}

impl Outbox {
    /// Takes an entry back, if no lease is out and no try can have taken effect (O10): one that is pending, held or dead.
    /// Cancelling again is ok.
    ///
    /// # Errors
    /// `NotFound`; those of storage.
    pub fn cancel(&self, id: EntryId) -> Result<Cancel> {
        self.call(cancelling(id)).map(cancelled)
    }

    /// There are other credentials: everything of the scope that is held with its lane is due again (O8).
    ///
    /// # Errors
    /// Those of storage.
    pub fn resume(&self, scope: &Scope) -> Result<Resumed> {
        self.call(resuming(scope))
    }

    /// The network is back: what waits in the scope because no answer came ([`unanswered`](crate::DeliveryOutcome::unanswered)) is due at a random instant within
    /// the first backoff (O6). An entry for which a server has said when waits until then. One that gets no answer then either waits for its
    /// backoff, whoever calls this meanwhile. How many entries are due earlier now.
    ///
    /// Only this process's own tries are known.
    ///
    /// # Errors
    /// Those of storage.
    pub fn online(&self, scope: &Scope) -> Result<u64> {
        self.call(going_online(scope))
    }

    /// One held entry is due again (O8).
    ///
    /// # Errors
    /// `NotFound`; `WrongState` for an entry that is not held; those of storage.
    pub fn resume_entry(&self, id: EntryId) -> Result<EntryView> {
        self.call(resuming_entry(id))
    }

    /// A dead entry is sent again with its own key, its tries counted anew; its `send_by` is dropped (O3).
    ///
    /// # Errors
    /// `NotFound`; `WrongState` for an entry that is not dead, or was superseded; `PurposeConflict` when its purpose has since got
    /// another; `OutboxFull`; those of storage.
    pub fn requeue(&self, id: EntryId) -> Result<EntryView> {
        self.call(requeueing(id))
    }

    /// A person gives a dead or unknown entry up: it is dead, and blocks its lane no more (O4).
    ///
    /// # Errors
    /// `NotFound`; `WrongState` for an entry that is neither; `TooLarge` for who (255 bytes) or note (4 KiB); those of storage.
    pub fn dismiss(&self, id: EntryId, who: &str, note: &str) -> Result<EntryView> {
        self.call(dismissing(id, who, note)?)
    }

    /// Somebody has found out what became of an unknown entry (O7). For [`EntryResolution::Resend`] the answer is the entry with a
    /// new key that takes its place, also when it is asked again; else the entry itself.
    ///
    /// # Errors
    /// `NotFound`; `WrongState` for an entry that is not unknown, unless it was resolved so before; `TooLarge` for who, note or a
    /// media type; those of storage.
    pub fn resolve(&self, id: EntryId, resolution: EntryResolution, who: &str, note: &str) -> Result<EntryView> {
        self.call(resolving(self, id, resolution, who, note)?)
    }
}
