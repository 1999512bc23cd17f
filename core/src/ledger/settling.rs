//! Settling by key id and fence, recovery, resolving, and the caller's own rows.

use std::time::Duration;

use super::{Filter, Ledger};
use crate::begin::{operation_name, valid_terms};
use crate::claim::Claim;
use crate::error::{Error, Result};
use crate::key::KeyId;
use crate::limits::{check_person, check_step, stored_form, stored_resolution, valid_lease};
use crate::machine::record::Step;
use crate::machine::settle::{Resolution, Settlement};
use crate::operation::Operation;
use crate::transaction::{self, Batch, Row, Transaction};

impl Ledger {
    /// Settles a claim by key id and fence: for whoever holds no [`Claim`] object. On return the outcome is on disk.
    ///
    /// # Errors
    /// `ClaimLost` (contract section 4), also where nothing is left of the record; `TooLarge`; `Ambiguous`, after which `reopen` and the same call are safe (S6).
    #[tracing::instrument(level = "debug", name = "keyledger.settle", skip_all, fields(operation = %id.operation(), fence))]
    pub fn settle(&self, id: &KeyId, fence: u64, settlement: Settlement) -> Result<()> {
        let settlement = stored_form(settlement, self.engine().options)?;
        Ok(self.engine().settle(&self.engine().address(id.clone()), fence, settlement)?)
    }

    /// Renews a claim's lease from now, by key id and fence.
    ///
    /// # Errors
    /// `ClaimLost`; `InvalidArgument` for a lease of zero.
    #[tracing::instrument(level = "debug", name = "keyledger.heartbeat", skip_all, fields(operation = %id.operation(), fence))]
    pub fn heartbeat(&self, id: &KeyId, fence: u64, lease: Duration) -> Result<()> {
        Ok(self.engine().heartbeat(&self.engine().address(id.clone()), fence, valid_lease(lease)?)?)
    }

    /// Records a step's result, by key id and fence. On return it is on disk.
    ///
    /// # Errors
    /// As [`Claim::record_step`].
    #[tracing::instrument(level = "debug", name = "keyledger.record_step", skip_all, fields(operation = %id.operation(), fence))]
    pub fn record_step(&self, id: &KeyId, fence: u64, name: &str, value: impl Into<Vec<u8>>) -> Result<()> {
        let step = Step { name: name.to_owned(), value: value.into() };
        check_step(&step, self.engine().options)?;
        Ok(self.engine().record_step(&self.engine().address(id.clone()), fence, step)?)
    }

    /// Hands out claims on at most `limit` records of this operation that are lapsed, or parked without a person having looked,
    /// oldest first; each at most once per lease. The worker finds out what happened and settles them.
    ///
    /// # Errors
    /// `InvalidKey`, `InvalidArgument` for the operation; those of storage.
    #[tracing::instrument(level = "debug", name = "keyledger.recover", skip_all, fields(operation = operation.name()))]
    pub fn recover(&self, operation: &Operation, limit: usize) -> Result<Vec<Claim>> {
        let (name, terms) = (operation_name(operation)?, valid_terms(operation)?);
        let granted = self.engine().recover(name, terms.into(), limit)?;
        let claim = |granted| Claim::new(self.engine().clone(), granted, terms.remembered_for_ms);
        Ok(granted.into_iter().map(claim).collect())
    }

    /// Settles a parked record for a person, who found out what happened. `fence` is the one that
    /// [`inspect`](Ledger::inspect) showed; who and note stay in the audit trail. On return it is on disk.
    ///
    /// [`Resolution::NotDone`] is **only for when the old owner can no longer act**.
    ///
    /// # Errors
    /// `NotParked` for another fence, a record that is not parked, or none; the same fence and outcome again is ok. `TooLarge` for
    /// who (255 bytes), note (4 KiB) or a media type.
    #[tracing::instrument(level = "debug", name = "keyledger.resolve", skip_all, fields(operation = %id.operation(), fence, resolution = resolution.as_str()))]
    pub fn resolve(&self, id: &KeyId, fence: u64, resolution: Resolution, who: &str, note: &str) -> Result<()> {
        check_person(who, note)?;
        let resolution = stored_resolution(resolution, self.engine().options)?;
        let address = self.engine().address(id.clone());
        Ok(self.engine().resolve(&address, fence, resolution, who.to_owned(), note.to_owned())?)
    }

    /// Resolves every parked record that the filter's scope, operation and age let through, page by page; says how many. What is
    /// parked meanwhile it may miss, as [`list`](Ledger::list) may.
    ///
    /// # Errors
    /// As [`resolve`](Ledger::resolve), save that a record which somebody else settles meanwhile is passed over;
    /// `InvalidArgument` for pages of no records.
    #[tracing::instrument(level = "debug", name = "keyledger.resolve_many", skip_all, fields(resolution = resolution.as_str()))]
    pub fn resolve_many(&self, filter: &Filter, resolution: &Resolution, who: &str, note: &str) -> Result<u64> {
        let mut filter = filter.clone().parked();
        let mut resolved = 0;
        loop {
            let page = self.list(&filter)?;
            for record in &page.records {
                match self.resolve(record.key_id(), record.fence(), resolution.clone(), who, note) {
                    Ok(()) => resolved += 1,
                    Err(Error::NotParked) => {}
                    Err(error) => return Err(error),
                }
            }
            match page.next {
                Some(next) => filter = filter.after(next),
                None => return Ok(resolved),
            }
        }
    }

    /// Runs `f` on the caller's own tables; either all it changes is stored, or nothing (contract section 7). On `Ok` it is on
    /// disk. `f` runs once; while it runs, others wait: keep it short, and do not call the ledger from inside it.
    ///
    /// # Locks
    /// `f` holds this ledger's commit queue. Two ledgers whose closures call each other's crosswise wait for each other for ever:
    /// nest them in one order.
    ///
    /// # Errors
    /// Whatever `f` returns, and those of storage.
    #[tracing::instrument(level = "debug", name = "keyledger.transaction", skip_all)]
    pub fn transaction<T, E>(&self, f: impl FnOnce(&mut Transaction<'_, '_>) -> Result<T, E>) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.engine().session_here(|session| Transaction::run(session, f)).map_err(Error::from)?
    }

    /// Applies a batch: all of it, or nothing.
    ///
    /// # Errors
    /// Those of its changes, and those of storage.
    pub fn apply(&self, batch: &Batch) -> Result<()> {
        self.transaction(|tx| tx.apply(batch))
    }

    /// A row of the caller's own tables, as it was committed last.
    ///
    /// # Errors
    /// As [`Transaction::get`].
    pub fn get(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        transaction::get(self.engine(), table, key)
    }

    /// Rows of the caller's own tables, as they were committed last.
    ///
    /// # Errors
    /// As [`Transaction::scan`].
    pub fn scan(&self, table: &str, from: &[u8], to: Option<&[u8]>, limit: usize) -> Result<Vec<Row>> {
        transaction::scan(self.engine(), table, from, to, limit)
    }
}
