//! One leased try at sending an entry.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::engine::Engine;
use crate::engine::outbox::{Handed, OutboxTerms};
use crate::entry::{EntryId, EntryView};
use crate::error::{Error, Result};
use crate::key::{Key, Scope};
use crate::limits::stored_outcome;
use crate::machine::classify::DeliveryOutcome;
use crate::machine::entry::Entry;
use crate::machine::entry::Peeked;
use crate::outbox_memory::Dropped;

/// One leased try at sending an entry: its lease is on disk, and nobody else sends it meanwhile (O4).
///
/// Send the request with [`key`](Delivery::key) within [`lease_left`](Delivery::lease_left), then
/// [`settle`](Delivery::settle) it. One that is dropped counts as a try whose outcome is unknown, and is due after its backoff
/// (O6); dropping does no I/O.
#[must_use = "a delivery that is dropped counts as a try whose outcome is unknown"]
pub struct Delivery {
    engine: Arc<Engine>,
    terms: OutboxTerms,
    handed: Handed,
    entry: EntryView,
    is_over: bool,
}

/// How long a delivery's lease still lasts. It may outlive the delivery: for whoever sends on another thread, or in another language.
#[derive(Clone)]
pub struct DeliveryLease {
    clock: Arc<dyn Clock>,
    ends_at_mono_ms: u64,
}

impl DeliveryLease {
    /// How long it still lasts, by the ledger's monotonic clock: a transport neither sends nor waits longer (O7, C4).
    pub fn left(&self) -> Duration {
        Duration::from_millis(self.ends_at_mono_ms.saturating_sub(self.clock.monotonic_ms()))
    }
}

impl fmt::Debug for DeliveryLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeliveryLease").field("left", &self.left()).finish()
    }
}

/// What came of a delivery, to be stored with [`Outbox::settle`](crate::Outbox::settle); it can be told again after an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The entry.
    pub id: EntryId,
    /// The delivery's fence.
    pub fence: u64,
    /// What came of it.
    pub outcome: DeliveryOutcome,
}

/// A delivery could not be settled; here it is again.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub struct DeliveryError {
    /// The delivery. After `ClaimLost` there is nothing left to do with it.
    pub delivery: Box<Delivery>,
    /// What went wrong.
    pub source: Error,
}

impl From<DeliveryError> for Error {
    fn from(error: DeliveryError) -> Self {
        error.source
    }
}

impl Delivery {
    pub(crate) fn new(engine: Arc<Engine>, terms: OutboxTerms, handed: Handed) -> Self {
        let entry = EntryView::of(Peeked { entry: handed.entry.clone(), now: handed.granted_at });
        Self { engine, terms, handed, entry, is_over: false }
    }

    /// The entry as it is while this delivery is out.
    pub fn entry(&self) -> &EntryView {
        &self.entry
    }

    /// The entry's id.
    pub fn id(&self) -> EntryId {
        self.entry.id()
    }

    /// Whose request it is.
    pub fn scope(&self) -> &Scope {
        self.entry.scope()
    }

    /// The key to send: the same on every try (O2).
    pub fn key(&self) -> &Key {
        self.entry.key()
    }

    /// The request's bytes, read from the ledger for this try (O2).
    pub fn request(&self) -> &[u8] {
        &self.handed.request.bytes
    }

    /// The request's media type.
    pub fn media_type(&self) -> &str {
        &self.handed.request.media_type
    }

    /// Which fence this delivery has: a number that strictly rises.
    pub fn fence(&self) -> u64 {
        self.entry.fence()
    }

    /// Whether an earlier try may have taken effect.
    pub fn is_in_doubt(&self) -> bool {
        self.handed.entry.in_doubt
    }

    /// How long the lease still lasts, by the ledger's monotonic clock: a transport neither sends nor waits longer (O7, C4).
    pub fn lease_left(&self) -> Duration {
        self.lease().left()
    }

    /// Its lease, as a value of its own.
    pub fn lease(&self) -> DeliveryLease {
        let ends_at_mono_ms = self.handed.granted_at.stamp.mono_ms.saturating_add(self.handed.lease_ms);
        DeliveryLease { clock: self.engine.clock.clone(), ends_at_mono_ms }
    }

    /// What came of it, as a value: for [`Outbox::settle`](crate::Outbox::settle) and
    /// [`Outbox::settle_and_lease`](crate::Outbox::settle_and_lease).
    pub fn report(mut self, outcome: DeliveryOutcome) -> Report {
        self.is_over = true;
        Report { id: self.id(), fence: self.fence(), outcome }
    }

    /// Settles it. On return the outcome is on disk.
    ///
    /// # Errors
    /// `ClaimLost`: the entry is no longer this delivery's, and what it says does not count (O5); `TooLarge` for a media type;
    /// those of storage. The error has the delivery.
    pub fn settle(mut self, outcome: DeliveryOutcome) -> Result<(), DeliveryError> {
        let (id, fence, terms) = (self.id().get(), self.fence(), self.terms);
        let settled = stored_outcome(outcome, self.engine.options).and_then(|outcome| {
            Ok(self.engine.session(move |session| session.settle_delivery(&terms, id, fence, &outcome))?)
        });
        match settled {
            Ok(()) => {
                self.is_over = true;
                Ok(())
            }
            Err(source) => Err(DeliveryError { delivery: Box::new(self), source }),
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if !self.is_over && !self.engine.is_elsewhere() {
            let Entry { id, fence, .. } = self.handed.entry;
            let at_mono_ms = self.engine.clock.monotonic_ms();
            self.engine.outbox.drop_delivery(Dropped { id, fence, at_mono_ms });
        }
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery").field("id", &self.id()).field("fence", &self.fence()).finish_non_exhaustive()
    }
}
