//! Time to live, looking after the file, and the life of a handle (contract sections 6 and 10).

#[cfg(not(target_arch = "wasm32"))]
use std::path::Path;

use super::Ledger;
use crate::engine::{Checked, Forgot};
use crate::error::Result;
use crate::key::{KeyId, Scope};
use crate::operation::Operation;
use crate::stats::{Compacted, FileCheck, FileSizes, Stats};
use crate::store::FileReport;
use crate::sweep::Swept;

/// How many records [`Ledger::forget`] and [`Ledger::forget_scope`] have removed, by what they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Completed and failed ones.
    pub settled: u64,
    /// Released ones.
    pub released: u64,
    /// Tombstones.
    pub tombstones: u64,
    /// In progress or parked: only with `even_if_unknown`.
    pub unsettled: u64,
    /// In progress or parked, and kept.
    pub kept_unsettled: u64,
    /// Entries of the scope's outbox: unsettled ones only with `even_if_unknown`.
    pub entries: u64,
    /// Entries of the scope's outbox that are unsettled, and kept.
    pub kept_entries: u64,
}

impl From<Forgot> for Forgotten {
    fn from(forgot: Forgot) -> Self {
        Self {
            settled: forgot.settled,
            released: forgot.released,
            tombstones: forgot.tombstones,
            unsettled: forgot.unsettled,
            kept_unsettled: forgot.kept,
            entries: forgot.entries,
            kept_entries: forgot.entries_kept,
        }
    }
}

impl From<Checked> for FileCheck {
    fn from(checked: Checked) -> Self {
        let Checked { records, rows, entries, faults, fault_count } = checked;
        Self { records, rows, entries, faults, fault_count }
    }
}

impl From<FileReport> for FileSizes {
    fn from(report: FileReport) -> Self {
        Self {
            file: report.file_bytes,
            stored: report.stored_bytes,
            overhead: report.overhead_bytes,
            free: report.free_bytes,
            leaked: report.leaked_bytes,
        }
    }
}

impl Ledger {
    /// Checks an operation's name and numbers once, at the start of a program, instead of at its first use.
    ///
    /// # Errors
    /// `InvalidKey` for its name; `InvalidArgument` for a lease of zero or no attempts.
    pub fn declare(&self, operation: &Operation) -> Result<()> {
        operation.check()
    }

    /// Removes one record, settled or released or a tombstone (a person's right to be forgotten). One that is in progress or
    /// parked is removed only `even_if_unknown`, because after that it may run again. Bytes stay in free pages until `compact`.
    ///
    /// # Errors
    /// Those of storage.
    #[tracing::instrument(level = "debug", name = "keyledger.forget", skip_all, fields(operation = %id.operation()))]
    pub fn forget(&self, id: &KeyId, even_if_unknown: bool) -> Result<Forgotten> {
        Ok(self.engine().forget(id.clone(), even_if_unknown)?.into())
    }

    /// [`forget`](Ledger::forget) for every record of a scope, in one commit.
    ///
    /// # Errors
    /// Those of storage.
    #[tracing::instrument(level = "debug", name = "keyledger.forget_scope", skip_all)]
    pub fn forget_scope(&self, scope: &Scope, even_if_unknown: bool) -> Result<Forgotten> {
        Ok(self.engine().forget_scope(scope.clone(), even_if_unknown)?.into())
    }

    /// Turns at most `limit` expired records into their next state, oldest first, in one transaction (T2). Its cost depends on
    /// `limit`, not on the size of the ledger. Never removes what is parked, nor what is in progress other than InLedger's (I6).
    ///
    /// # Errors
    /// Those of storage.
    #[tracing::instrument(level = "debug", name = "keyledger.sweep", skip_all, fields(limit))]
    pub fn sweep(&self, limit: usize) -> Result<Swept> {
        Ok(self.engine().sweep(limit)?.into())
    }

    /// Records by state and the file's length exactly; lapsed and due ones counted up to a thousand. The cost does not depend
    /// on the size of the ledger (T4).
    ///
    /// # Errors
    /// Those of storage.
    pub fn stats(&self) -> Result<Stats> {
        Stats::of(self.engine())
    }

    /// Walks the whole file for stored, free and leaked bytes. Others wait meanwhile.
    ///
    /// # Errors
    /// Those of storage.
    pub fn inspect_file(&self) -> Result<FileSizes> {
        Ok(self.engine().inspect_file()?.into())
    }

    /// Walks the whole file: pages and their checksums, records, index rows and counters against each other. Others wait while
    /// pages are checked. Nothing is changed by it; faults are told in the answer. A file whose tree is so damaged that it can be
    /// walked no more has that one fault told, and the handle answers `Poisoned` from then on.
    ///
    /// # Errors
    /// Those of storage, where not even a walk is possible.
    #[tracing::instrument(level = "debug", name = "keyledger.check", skip_all)]
    pub fn check(&self) -> Result<FileCheck> {
        Ok(self.engine().check()?.into())
    }

    /// Gives free pages back to the file system; others wait meanwhile (T5). A kill in it loses nothing. A claim whose lease is
    /// over is nobody's, and keeps nothing from starting.
    ///
    /// # Errors
    /// `Unavailable` while there are claims, unless `even_with_claims`; those of storage.
    #[tracing::instrument(level = "debug", name = "keyledger.compact", skip_all)]
    pub fn compact(&self, even_with_claims: bool) -> Result<Compacted> {
        let (before_bytes, after_bytes) = self.engine().compact(even_with_claims)?;
        Ok(Compacted { before_bytes, after_bytes })
    }

    /// Writes a consistent copy into a new file at `path`, put in place whole. The copy is another ledger (I5): its fences say
    /// nothing about this one's.
    ///
    /// # Errors
    /// `Unavailable` when the path exists or cannot be made; those of storage.
    #[cfg(not(target_arch = "wasm32"))]
    #[tracing::instrument(level = "debug", name = "keyledger.snapshot", skip_all)]
    pub fn snapshot(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(self.engine().copy_to(path.as_ref())?)
    }

    /// Stores the leases renewed in memory, lets go of file and lock; calls fail with `Suspended` until
    /// [`resume`](Ledger::resume). Reservations that are in memory alone end: their claims answer `ClaimLost` afterwards.
    /// Durable claims stay, and their leases run on (P6).
    ///
    /// # Errors
    /// Those of storage.
    #[tracing::instrument(level = "debug", name = "keyledger.suspend", skip_all)]
    pub fn suspend(&self) -> Result<()> {
        self.engine().suspend()?;
        self.opened.shut_door();
        Ok(())
    }

    /// Takes file and lock again after [`suspend`](Ledger::suspend). An outcome that a future told to the suspended ledger, and was
    /// dropped before it was answered, is settled now, unless somebody has taken the claim over (S3).
    ///
    /// # Errors
    /// As [`Ledger::open`].
    #[tracing::instrument(level = "debug", name = "keyledger.resume", skip_all)]
    pub fn resume(&self) -> Result<()> {
        self.engine().resume()?;
        self.opened.open_door()
    }

    /// Opens the file again after `Ambiguous` or `Poisoned`. Claims outlive it; what a failed `begin` may have stored is
    /// released (S6), and outcomes that nobody is left to tell again are settled as by [`resume`](Ledger::resume).
    ///
    /// # Errors
    /// As [`Ledger::open`].
    #[tracing::instrument(level = "debug", name = "keyledger.reopen", skip_all)]
    pub fn reopen(&self) -> Result<()> {
        Ok(self.engine().reopen()?)
    }

    /// Stores the leases renewed in memory, waits for commits in hand, wakes waiters, lets go of file and lock. Idempotent;
    /// later calls answer `Closed` (P7). Dropping the last handle without it writes nothing: the file is repaired on the next
    /// opening, as after a kill.
    ///
    /// # Errors
    /// Those of storage.
    #[tracing::instrument(level = "debug", name = "keyledger.close", skip_all)]
    pub fn close(&self) -> Result<()> {
        self.engine().close()?;
        self.opened.shut_door();
        Ok(())
    }
}
