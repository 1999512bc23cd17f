//! What is being done, declared once: its name, what kind of side effects it has, and for how long it matters.

use std::borrow::Cow;
use std::time::Duration;

use crate::clock::millis;
use crate::options::{LEASE, MAX_ATTEMPTS, REMEMBERED_FOR, RETENTION, TOMBSTONE};

/// What kind of side effects an operation has. It decides what may happen when its owner is lost (contract section 3).
///
/// Ordered by strictness: a record has the strictest effect that any granted begin has named (E1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// All effects are rows of this ledger file, written in the transaction that completes the claim.
    /// A transaction in another database is not this. Owner lost: runs again.
    InLedger,
    /// The effects are elsewhere, and whoever performs them takes a key and deduplicates: a payment API, or your own database
    /// with a unique column that holds a derived key. Owner lost: runs again with the same derived keys, within bounds.
    Repeatable,
    /// Nobody can tell whether it happened: mail, a legacy API. Owner lost: parked for a person.
    AtMostOnce,
}

impl Effect {
    /// Every effect, the least strict first.
    pub const ALL: [Effect; 3] = [Effect::InLedger, Effect::Repeatable, Effect::AtMostOnce];

    /// The effect of that name, as [`as_str`](Effect::as_str) has it.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.as_str() == name)
    }

    /// The name that every language and the scenarios use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Effect::InLedger => "in_ledger",
            Effect::Repeatable => "repeatable",
            Effect::AtMostOnce => "at_most_once",
        }
    }
}

/// What is being done, declared once and best kept in a `static`. There is no default effect: whoever declares says which.
///
/// ```
/// use std::time::Duration;
/// use keyledger::Operation;
///
/// static CHARGE: Operation = Operation::repeatable("POST /v1/charges").lease(Duration::from_secs(60));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    name: Cow<'static, str>,
    effect: Effect,
    lease: Duration,
    retention: Duration,
    tombstone: Duration,
    remembered_for: Duration,
    max_attempts: u32,
}

impl Operation {
    /// All its effects are rows of this ledger: see [`Effect::InLedger`].
    pub const fn in_ledger(name: &'static str) -> Self {
        Self::declare(Cow::Borrowed(name), Effect::InLedger)
    }

    /// Its effects are elsewhere and take a key: see [`Effect::Repeatable`].
    pub const fn repeatable(name: &'static str) -> Self {
        Self::declare(Cow::Borrowed(name), Effect::Repeatable)
    }

    /// Nobody can tell whether it happened: see [`Effect::AtMostOnce`].
    pub const fn at_most_once(name: &'static str) -> Self {
        Self::declare(Cow::Borrowed(name), Effect::AtMostOnce)
    }

    /// An operation whose name is made while the program runs. The name is checked when it is used (L1).
    pub fn new(effect: Effect, name: impl Into<Cow<'static, str>>) -> Self {
        Self::declare(name.into(), effect)
    }

    const fn declare(name: Cow<'static, str>, effect: Effect) -> Self {
        Self {
            name,
            effect,
            lease: LEASE,
            retention: RETENTION,
            tombstone: TOMBSTONE,
            remembered_for: REMEMBERED_FOR,
            max_attempts: MAX_ATTEMPTS,
        }
    }

    /// The same declaration with another effect.
    pub const fn with_effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// The same declaration under another name.
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// How long a claim lasts without a heartbeat. Default 30 s; zero is refused when it is used.
    pub const fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// How long an answer is replayed, from the moment of settling. Default 24 h; zero is a value.
    pub const fn retention(mut self, retention: Duration) -> Self {
        self.retention = retention;
        self
    }

    /// How long a late retry is refused after the retention. Default 7 days; with zero there is no tombstone.
    pub const fn tombstone(mut self, tombstone: Duration) -> Self {
        self.tombstone = tombstone;
        self
    }

    /// Repeatable: how long the downstream knows a derived key (E4). Default 24 h.
    pub const fn remembered_for(mut self, remembered_for: Duration) -> Self {
        self.remembered_for = remembered_for;
        self
    }

    /// Repeatable: how often the operation may be granted before it is parked (E4). Default 20.
    pub const fn max_attempts(mut self, max_attempts: u32) -> Self {
        self.max_attempts = max_attempts;
        self
    }

    /// The name that is part of every key id.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The effect that was declared.
    pub const fn effect(&self) -> Effect {
        self.effect
    }

    /// How long a claim lasts without a heartbeat.
    pub const fn lease_time(&self) -> Duration {
        self.lease
    }

    pub(crate) fn shared_name(&self) -> &Cow<'static, str> {
        &self.name
    }

    pub(crate) fn terms(&self) -> Terms {
        Terms {
            lease_ms: millis(self.lease),
            retention_ms: millis(self.retention),
            tombstone_ms: millis(self.tombstone),
            remembered_for_ms: millis(self.remembered_for),
            max_attempts: self.max_attempts,
        }
    }
}

/// The numbers of an operation, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) lease_ms: u64,
    pub(crate) retention_ms: u64,
    pub(crate) tombstone_ms: u64,
    pub(crate) remembered_for_ms: u64,
    pub(crate) max_attempts: u32,
}
