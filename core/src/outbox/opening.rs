//! How an outbox is opened: its settings, and its lanes.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{Opened, Outbox};
use crate::clock::millis;
use crate::engine::Engine;
use crate::engine::outbox::{Lanes, OutboxTerms};
use crate::error::{Error, Result};
use crate::key::{Part, check};
use crate::limits::valid_lease;
use crate::machine::entry::Order;
use crate::options::REQUEST_BYTES_MAX;

/// What a dead, unknown or held entry at the head of an ordered lane does to those behind it (O4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnStuckHead {
    /// They wait until somebody has decided about it.
    #[default]
    Block,
    /// They go on without it.
    Skip,
}

/// A lane: an ordering key among entries. The lane `default` is always there, and is unordered unless it is declared otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    name: String,
    order: Order,
}

impl Lane {
    /// First in, first out, one in flight at a time in each scope. A stuck head blocks it.
    pub fn ordered(name: impl Into<String>) -> Self {
        Self { name: name.into(), order: Order::Strict { blocks: true } }
    }

    /// By due time, many at once.
    pub fn unordered(name: impl Into<String>) -> Self {
        Self { name: name.into(), order: Order::None }
    }

    /// What a stuck head of an ordered lane does to it.
    pub fn on_stuck_head(mut self, what: OnStuckHead) -> Self {
        if let Order::Strict { blocks } = &mut self.order {
            *blocks = what == OnStuckHead::Block;
        }
        self
    }
}

/// Settings of an outbox, then [`open`](OutboxBuilder::open). They hold for this handle; lanes are stored (O4), and a handle that
/// does not declare them knows them all the same.
#[derive(Clone)]
pub struct OutboxBuilder {
    engine: Arc<Engine>,
    terms: OutboxTerms,
    max_request_bytes: usize,
    lanes: Vec<Lane>,
    /// The program's own terms stay what they are.
    for_people: bool,
}

impl fmt::Debug for OutboxBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboxBuilder").field("terms", &self.terms).field("lanes", &self.lanes).finish_non_exhaustive()
    }
}

impl OutboxBuilder {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self {
            engine,
            terms: OutboxTerms::DEFAULT,
            max_request_bytes: REQUEST_BYTES_MAX,
            lanes: Vec::new(),
            for_people: false,
        }
    }

    /// For people who decide about entries of a program: by the terms that the program has opened its outbox with, but not kept by
    /// the bounds that keep it from enqueueing.
    pub(crate) fn of_people(engine: Arc<Engine>) -> Self {
        let terms = OutboxTerms { max_entries: u64::MAX, max_bytes: u64::MAX, ..engine.outbox.terms() };
        Self { terms, for_people: true, ..Self::new(engine) }
    }

    /// Declares a lane, or declares it otherwise than before: entries that are in it follow.
    pub fn lane(mut self, lane: Lane) -> Self {
        self.lanes.push(lane);
        self
    }

    /// How long a delivery lasts: no transport sends or waits longer (O7). Default 30 s; zero is refused at opening.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.terms.entry.lease_ms = millis(lease);
        self
    }

    /// The longest wait after the first try, and after any; each try multiplies it. Full jitter. Default 1 s, 5 min, 2.
    pub fn backoff(mut self, base: Duration, cap: Duration, multiplier: u32) -> Self {
        let backoff = &mut self.terms.entry.backoff;
        (backoff.base_ms, backoff.cap_ms, backoff.multiplier) = (millis(base), millis(cap), multiplier);
        self
    }

    /// Without jitter waits are as long as they may be: for tests that show what it is for.
    #[doc(hidden)]
    pub fn without_jitter(mut self) -> Self {
        self.terms.entry.backoff.jitter = false;
        self
    }

    /// How often an entry is tried at the most. Default 20; zero is refused at opening.
    pub fn max_tries(mut self, tries: u32) -> Self {
        self.terms.entry.max_tries = tries;
        self
    }

    /// How old an entry may get before it is given up. Default: as old as it may.
    pub fn max_age(mut self, age: Duration) -> Self {
        self.terms.entry.max_age_ms = Some(millis(age));
        self
    }

    /// How long the servers remember a key (O7): past it, an entry whose outcome is unknown is not sent again. Default 23 h.
    pub fn resend_window(mut self, window: Duration) -> Self {
        self.terms.entry.resend_window_ms = millis(window);
        self
    }

    /// How long a purpose is answered with the entry that settled it (O3). Default 24 h.
    pub fn purpose_retention(mut self, retention: Duration) -> Self {
        self.terms.entry.purpose_retention_ms = millis(retention);
        self
    }

    /// How long settled entries stay, at least as long as `purpose_retention`. Default 7 days.
    pub fn retention(mut self, retention: Duration) -> Self {
        self.terms.entry.retention_ms = millis(retention);
        self
    }

    /// The longest wait that a server can ask for. Default 1 h.
    pub fn retry_after_max(mut self, span: Duration) -> Self {
        self.terms.entry.retry_after_max_ms = millis(span);
        self
    }

    /// The budget that keeps an outage from becoming a storm (O6): so many retries when it is full, one more in each
    /// `refill`, and one for each answer. Default 100, 1 s.
    pub fn retry_budget(mut self, retries: u32, refill: Duration) -> Self {
        (self.terms.budget.capacity, self.terms.budget.refill_ms) = (retries, millis(refill));
        self
    }

    /// How many unsettled entries there may be, and how many bytes their requests may have together (O12). Default 100,000,
    /// 64 MiB.
    pub fn bounds(mut self, entries: u64, bytes: u64) -> Self {
        (self.terms.max_entries, self.terms.max_bytes) = (entries, bytes);
        self
    }

    /// The greatest length of a request. Default 1 MiB.
    pub fn max_request_bytes(mut self, bytes: usize) -> Self {
        self.max_request_bytes = bytes;
        self
    }

    /// Opens the outbox of the ledger. On return the lanes are stored.
    ///
    /// # Errors
    /// `InvalidKey` for a lane's name; `InvalidArgument` for a lease, a resend window or `max_tries` of zero; those of storage.
    pub fn open(mut self) -> Result<Outbox> {
        self.terms.entry.lease_ms = valid_lease(Duration::from_millis(self.terms.entry.lease_ms))?;
        if self.terms.entry.max_tries == 0 {
            return Err(Error::InvalidArgument("max_tries must be at least 1".into()));
        }
        if self.terms.entry.resend_window_ms == 0 {
            return Err(Error::InvalidArgument(
                "the resend window must be at least one millisecond: no lease reaches past it".into(),
            ));
        }
        let mut declared = Lanes::new();
        for Lane { name, order } in self.lanes {
            check(Part::Lane, &name)?;
            declared.insert(name, order);
        }
        let terms = self.terms;
        let engine = self.engine.here();
        // A person who looks into a damaged file needs no lanes.
        let lanes = if self.for_people && engine.store.is_only_looked_at() {
            declared
        } else {
            engine.session(move |session| session.declare_lanes(&terms, &declared))?
        };
        if !self.for_people {
            engine.outbox.opened_with(terms);
        }
        let opened = Opened { terms, lanes, max_request_bytes: self.max_request_bytes };
        Ok(Outbox::of(self.engine, opened))
    }
}
