//! What a caller of `begin` asks for, as a value.

use std::time::Duration;

use crate::engine::{Asked, Engine};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::key::{Key, KeyId, OperationName, Scope};
use crate::limits::{check_length, valid_lease};
use crate::machine::begin::Ask;
use crate::operation::{Operation, Terms};
use crate::options::MEMO_BYTES_MAX;

/// One key, and what is asked for it: the arguments of [`Ledger::begin`](crate::Ledger::begin), with a memo and a wait.
#[derive(Debug, Clone)]
pub struct Begin {
    operation: Operation,
    scope: Scope,
    key: Key,
    fingerprint: Fingerprint,
    memo: Vec<u8>,
    wait: Duration,
}

impl Begin {
    /// Asks for `key` under a scope and an operation. The fingerprint tells a retry from another request under the same key;
    /// [`Fingerprint::unchecked`] is said on purpose (F7).
    pub fn new(operation: &Operation, scope: &Scope, key: &Key, fingerprint: Fingerprint) -> Self {
        Self {
            operation: operation.clone(),
            scope: scope.clone(),
            key: key.clone(),
            fingerprint,
            memo: Vec::new(),
            wait: Duration::ZERO,
        }
    }

    /// Up to 4 KiB for whoever recovers the record. On a later attempt an empty memo keeps the one before.
    pub fn memo(mut self, memo: impl Into<Vec<u8>>) -> Self {
        self.memo = memo.into();
        self
    }

    /// How long to wait for another owner to settle before answering `InProgress` (P4). Default: not at all.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// How long it waits for another owner.
    pub fn wait_time(&self) -> Duration {
        self.wait
    }

    pub(crate) fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Checks everything at the door (L1, L4, L5).
    pub(crate) fn check(&self, engine: &Engine) -> Result<Asked> {
        let id = KeyId::of_parts(self.scope.clone(), operation_name(&self.operation)?, self.key.clone());
        check_length("the memo", self.memo.len(), MEMO_BYTES_MAX)?;
        let ask = Ask {
            effect: self.operation.effect(),
            terms: valid_terms(&self.operation)?,
            fingerprint: self.fingerprint,
            memo: self.memo.clone(),
        };
        Ok(Asked { address: engine.address(id), ask })
    }
}

impl Operation {
    /// Checks its name and numbers, without a ledger at hand: what [`Ledger::declare`](crate::Ledger::declare) does.
    ///
    /// # Errors
    /// `InvalidKey` for its name; `InvalidArgument` for a lease of zero or no attempts.
    pub fn check(&self) -> Result<()> {
        operation_name(self)?;
        valid_terms(self)?;
        Ok(())
    }
}

/// The operation's name, checked by L1; a literal one costs no allocation.
pub(crate) fn operation_name(operation: &Operation) -> Result<OperationName> {
    Ok(OperationName::declared(operation.shared_name().clone())?)
}

/// The operation's numbers, checked by L5.
pub(crate) fn valid_terms(operation: &Operation) -> Result<Terms> {
    let lease_ms = valid_lease(operation.lease_time())?;
    if operation.terms().max_attempts == 0 {
        return Err(Error::InvalidArgument("max_attempts must be at least 1".into()));
    }
    Ok(Terms { lease_ms, ..operation.terms() })
}
