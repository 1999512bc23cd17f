//! The ledger: one handle, to be shared by every thread and task of a process.

mod builder;
mod futures;
mod keeping;
mod looking;
mod opened;
mod run;
mod settling;
#[cfg(test)]
mod spans;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::begin::Begin;
use crate::claim::Claim;
use crate::decision::{Decision, InProgress, Outcome, Parked, Replay};
use crate::engine::{Answer, Engine};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::key::{Key, Scope};
use crate::operation::Operation;
use crate::outbox::OutboxBuilder;

use opened::Opened;

pub use builder::Builder;
pub use keeping::Forgotten;
pub use looking::{Cursor, Filter, Page, RecordView, StateName};
pub use run::{ErrorMeans, KeyAdvice, Refused, RunError};

/// A key ledger in one file, or in memory.
///
/// Clones are the same ledger. Blocking calls return when what they promise is on disk; each has a twin whose name ends in
/// `_async`, a future that needs no particular runtime (P1).
#[derive(Clone)]
pub struct Ledger {
    opened: Opened,
}

impl Ledger {
    /// Opens the ledger file at `path`, or makes it, for this process alone.
    ///
    /// # Errors
    /// `AlreadyOpen`, `Unavailable`, `WrongFormat`, `Corrupt`, `Storage`. A file that is refused is not changed (I9).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::builder().open(path)
    }

    /// A ledger that is gone with the process: for tests, and for hosts without files.
    ///
    /// # Errors
    /// None that is known; opening is fallible everywhere.
    #[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
    pub fn in_memory() -> Result<Self> {
        Self::builder().in_memory()
    }

    /// Settings first.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn of(engine: Arc<Engine>) -> Self {
        Self { opened: Opened::with(engine) }
    }

    /// The engine of this process (P3).
    pub(crate) fn engine(&self) -> &Arc<Engine> {
        self.opened.here()
    }

    /// Asks for a key under a scope and an operation: exactly one caller gets the claim (contract section 4).
    ///
    /// For `Repeatable` and `AtMostOnce` the claim is on disk on return; for `InLedger` it need not be (E2).
    ///
    /// # Errors
    /// `InvalidKey` for the operation's name; `InvalidArgument` for a lease of zero; those of storage. A `begin` that ends in an
    /// error has granted nothing (S6).
    pub fn begin(&self, operation: &Operation, scope: &Scope, key: &Key, fingerprint: Fingerprint) -> Result<Decision> {
        self.begin_with(&Begin::new(operation, scope, key, fingerprint))
    }

    /// [`begin`](Ledger::begin) with a memo or a wait.
    ///
    /// # Errors
    /// As [`begin`](Ledger::begin); `TooLarge` for the memo.
    #[tracing::instrument(level = "debug", name = "keyledger.begin", skip_all, fields(operation = begin.operation().name()))]
    pub fn begin_with(&self, begin: &Begin) -> Result<Decision> {
        let asked = begin.check(self.engine())?;
        let wait = begin.wait_time();
        let answer =
            if wait.is_zero() { self.engine().begin(&asked)? } else { self.engine().begin_waiting(&asked, wait)? };
        let decision = self.decision(answer, begin.operation());
        tracing::debug!(decision = decision.as_str());
        Ok(decision)
    }

    /// The answer of [`begin_with`](Ledger::begin_with) where it is to be had without waiting for a commit, another process or time;
    /// `None` where `begin_with` has to be asked. For hosts that must let go of a lock of their own around whatever waits.
    ///
    /// # Errors
    /// As [`begin_with`](Ledger::begin_with).
    pub fn begin_at_once(&self, begin: &Begin) -> Result<Option<Decision>> {
        let asked = begin.check(self.engine())?;
        if self.engine().is_shared() {
            return Ok(None);
        }
        let answer = self.engine().begin_without_commit(&asked)?;
        let answer =
            answer.filter(|answer| begin.wait_time().is_zero() || !matches!(answer, Answer::InProgress { .. }));
        Ok(answer.map(|answer| self.decision(answer, begin.operation())))
    }

    /// Decides each as if alone, in order, so that the second of two equal key ids meets what the first one made; all in one
    /// commit. Waits are not looked at.
    ///
    /// # Errors
    /// As [`begin_with`](Ledger::begin_with). One invalid entry refuses the whole call before anything is stored.
    #[tracing::instrument(level = "debug", name = "keyledger.begin_many", skip_all, fields(count = begins.len()))]
    pub fn begin_many(&self, begins: &[Begin]) -> Result<Vec<Decision>> {
        let asked = begins.iter().map(|begin| begin.check(self.engine())).collect::<Result<_>>()?;
        let answers = self.engine().begin_many(asked)?;
        Ok(answers.into_iter().zip(begins).map(|(answer, begin)| self.decision(answer, begin.operation())).collect())
    }

    fn decision(&self, answer: Answer, operation: &Operation) -> Decision {
        match answer {
            Answer::Acquired(granted) => {
                let remembered_for_ms = operation.terms().remembered_for_ms;
                Decision::Acquired(Claim::new(self.engine().clone(), granted, remembered_for_ms))
            }
            Answer::Replay { response, failed, kept } => Decision::Replay(Replay {
                response,
                outcome: if failed { Outcome::Failed } else { Outcome::Completed },
                settled_at_ms: kept.settled_at,
                expires_at_ms: kept.retained_until,
            }),
            Answer::InProgress { running_ms, left_ms } => Decision::InProgress(InProgress {
                running_for: std::time::Duration::from_millis(running_ms),
                retry_after: std::time::Duration::from_millis(left_ms),
            }),
            Answer::Mismatch => Decision::Mismatch,
            Answer::Parked { reason, since } => Decision::Parked(Parked { reason, since_ms: since }),
            Answer::Gone => Decision::Gone,
        }
    }

    /// Commits what futures have queued, where the host does that: see [`Builder::commit_by_host`]. Calls that block do it first, by
    /// themselves.
    pub fn commit_queued(&self) {
        self.engine().commits.commit_queued();
    }

    /// The longest response that this ledger keeps whole, in bytes (S4), as [`Builder::max_response_bytes`] has set it.
    ///
    /// ```
    /// let ledger = keyledger::Ledger::builder().max_response_bytes(1000).in_memory().unwrap();
    /// assert_eq!(ledger.max_response_bytes(), 1000);
    /// ```
    pub fn max_response_bytes(&self) -> usize {
        self.engine().options.max_response_bytes
    }

    /// The client half: requests persisted with their keys before they are sent. Settings first.
    pub fn outbox(&self) -> OutboxBuilder {
        OutboxBuilder::new(self.engine().clone())
    }

    /// A new key for a new operation: UUIDv7 by this ledger's clock and entropy (F5).
    pub fn new_key(&self) -> Key {
        Key::v7(self.engine().clock.wall_ms(), &*self.engine().entropy)
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("phase", &self.engine().phase()).finish_non_exhaustive()
    }
}
