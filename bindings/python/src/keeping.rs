//! The end of records' time, and the shape of the file.

use std::path::PathBuf;

use keyledger::{FileCheck, FileSizes, Forgotten, Stats, Swept};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::argument::{Text, seconds};
use crate::decision::shown;
use crate::error::{Told, exception};
use crate::key_id::PyKeyId;
use crate::ledger::PyLedger;
use crate::waiting::awaitable;

/// A class whose members are those of a struct of the core's.
macro_rules! figures {
    ($(#[$doc:meta])* $name:ident($inner:ty) as $python:literal { $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)? } $(and $($more:ident),*)?) => {
        $(#[$doc])*
        #[pyclass(name = $python, module = "keyledger", frozen, eq)]
        #[derive(Clone, PartialEq)]
        pub(crate) struct $name(pub(crate) $inner);

        #[pymethods]
        impl $name {
            $($(#[$field_doc])*
            #[getter]
            fn $field(&self) -> $type {
                self.0.$field.clone()
            })*

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let values: &[Bound<'_, PyAny>] = &[
                    $(self.$field().into_bound_py_any(py)?,)*
                    $($(self.$more().into_bound_py_any(py)?,)*)?
                ];
                shown($python, &[$(stringify!($field),)* $($(stringify!($more),)*)?], &PyTuple::new(py, values)?)
            }
        }
    };
}

figures! {
    /// How many records `forget` and `forget_scope` have removed, by what they were.
    PyForgotten(Forgotten) as "Forgotten" {
        /// Completed and failed ones.
        settled: u64,
        /// Released ones.
        released: u64,
        /// Tombstones.
        tombstones: u64,
        /// In progress or parked: only with `even_if_unknown`.
        unsettled: u64,
        /// In progress or parked, and kept.
        kept_unsettled: u64,
        /// Entries of the scope's outbox: unsettled ones only with `even_if_unknown`.
        entries: u64,
        /// Entries of the scope's outbox that are unsettled, and kept.
        kept_entries: u64,
    }
}

figures! {
    /// What a sweep did.
    PySwept(Swept) as "Swept" {
        /// When it ran: milliseconds since 1970-01-01 UTC.
        at_ms: u64,
        /// Settled and released records that became tombstones.
        tombstoned: u64,
        /// Records that became no record.
        removed: u64,
        /// Settled entries of the outbox that have stayed long enough (O13).
        entries_removed: u64,
        /// Whether more are due.
        more: bool,
    } and took_seconds
}

figures! {
    /// How a ledger stands.
    PyStats(Stats) as "Stats" {
        /// Claims, lapsed ones included, save AtMostOnce ones that are lapsed: those count as parked.
        in_progress: u64,
        /// Released records.
        released: u64,
        /// Completed records.
        completed: u64,
        /// Failed records.
        failed: u64,
        /// Records that wait for a person.
        parked: u64,
        /// Tombstones.
        tombstones: u64,
        /// The length of the file in bytes; in memory, of the image.
        file_bytes: u64,
        /// Since when the oldest unsettled record waits: milliseconds since 1970-01-01 UTC.
        oldest_unsettled_at_ms: Option<u64>,
    } and lapsed, due, last_sweep
}

figures! {
    /// What `inspect_file` found by walking the file. Bytes.
    PyFileSizes(FileSizes) as "FileSizes" {
        /// The length of the file.
        file: u64,
        /// Keys and values.
        stored: u64,
        /// The trees' own overhead and slack.
        overhead: u64,
        /// Free pages, which later commits use again and `compact` gives back.
        free: u64,
        /// Pages that are neither free nor reachable.
        leaked: u64,
    }
}

figures! {
    /// What `check` found.
    PyFileCheck(FileCheck) as "FileCheck" {
        /// How many records there are.
        records: u64,
        /// How many rows of the caller's own.
        rows: u64,
        /// How many entries of the outbox.
        entries: u64,
        /// What is wrong, a sentence each: the first hundred.
        faults: Vec<String>,
        /// How many faults there are in all.
        fault_count: u64,
    }
}

/// A count that stops at a thousand.
#[pyclass(module = "keyledger", frozen, eq, get_all)]
#[derive(Clone, PartialEq)]
pub(crate) struct AtLeast {
    /// The number, exact below a thousand.
    count: u64,
    /// Whether `count` is the number, and not only its lower bound.
    is_exact: bool,
}

#[pymethods]
impl AtLeast {
    fn __repr__(&self) -> String {
        format!("<AtLeast {}{}>", self.count, if self.is_exact { "" } else { " or more" })
    }
}

impl From<keyledger::AtLeast> for AtLeast {
    fn from(count: keyledger::AtLeast) -> Self {
        Self { count: count.count, is_exact: count.is_exact() }
    }
}

/// Sizes of the file around a `compact`. Bytes.
#[pyclass(module = "keyledger", frozen, eq, get_all)]
#[derive(Clone, PartialEq)]
pub(crate) struct Compacted {
    /// Before.
    before_bytes: u64,
    /// After.
    after_bytes: u64,
}

#[pymethods]
impl Compacted {
    fn __repr__(&self) -> String {
        format!("Compacted(before_bytes={}, after_bytes={})", self.before_bytes, self.after_bytes)
    }
}

#[pymethods]
impl PyStats {
    /// Claims whose lease is over.
    #[getter]
    fn lapsed(&self) -> AtLeast {
        self.0.lapsed.into()
    }

    /// Records that a sweep would turn into their next state.
    #[getter]
    fn due(&self) -> AtLeast {
        self.0.due.into()
    }

    /// What the last sweep of this handle did.
    #[getter]
    fn last_sweep(&self) -> Option<PySwept> {
        self.0.last_sweep.map(PySwept)
    }
}

#[pymethods]
impl PySwept {
    /// How long it took.
    #[getter]
    fn took_seconds(&self) -> f64 {
        seconds(self.0.took)
    }
}

#[pymethods]
impl PyFileCheck {
    /// Whether nothing is wrong.
    #[getter]
    fn is_well(&self) -> bool {
        self.0.is_well()
    }
}

#[pymethods]
impl PyLedger {
    /// Removes one record, settled or released or a tombstone (a person's right to be forgotten). One that is in progress or parked is
    /// removed only with `even_if_unknown`, because after that it may run again. Bytes stay in free pages until `compact`.
    #[pyo3(signature = (id, *, even_if_unknown=false))]
    fn forget(&self, py: Python<'_>, id: &PyKeyId, even_if_unknown: bool) -> Told<PyForgotten> {
        Ok(PyForgotten(py.detach(|| self.0.forget(&id.0, even_if_unknown))?))
    }

    /// `forget` on an event loop.
    #[pyo3(signature = (id, *, even_if_unknown=false))]
    fn forget_async<'py>(&self, py: Python<'py>, id: &PyKeyId, even_if_unknown: bool) -> PyResult<Bound<'py, PyAny>> {
        awaitable(py, || self.0.forget_async(&id.0, even_if_unknown), forgotten)
    }

    /// `forget` for every record of a scope, in one commit.
    #[pyo3(signature = (scope, *, even_if_unknown=false))]
    fn forget_scope(&self, py: Python<'_>, scope: Text, even_if_unknown: bool) -> Told<PyForgotten> {
        let scope = scope.scope()?;
        Ok(PyForgotten(py.detach(|| self.0.forget_scope(&scope, even_if_unknown))?))
    }

    /// `forget_scope` on an event loop.
    #[pyo3(signature = (scope, *, even_if_unknown=false))]
    fn forget_scope_async<'py>(
        &self,
        py: Python<'py>,
        scope: Text,
        even_if_unknown: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let scope = scope.scope()?;
        awaitable(py, || self.0.forget_scope_async(&scope, even_if_unknown), forgotten)
    }

    /// Turns at most `limit` expired records into their next state, oldest first, in one transaction (T2). Never removes what is parked,
    /// nor what is in progress other than InLedger's (I6).
    #[pyo3(signature = (limit=1000))]
    fn sweep(&self, py: Python<'_>, limit: usize) -> Told<PySwept> {
        Ok(PySwept(py.detach(|| self.0.sweep(limit))?))
    }

    /// `sweep` on an event loop.
    #[pyo3(signature = (limit=1000))]
    fn sweep_async<'py>(&self, py: Python<'py>, limit: usize) -> PyResult<Bound<'py, PyAny>> {
        awaitable(
            py,
            || self.0.sweep_async(limit),
            |py, swept| Ok(Py::new(py, PySwept(swept.map_err(|error| exception(py, &error))?))?.into_any()),
        )
    }

    /// How the ledger stands, at a cost that does not depend on its size (T4).
    fn stats(&self, py: Python<'_>) -> Told<PyStats> {
        Ok(PyStats(py.detach(|| self.0.stats())?))
    }

    /// Walks the whole file for stored, free and leaked bytes. Others wait meanwhile.
    fn inspect_file(&self, py: Python<'_>) -> Told<PyFileSizes> {
        Ok(PyFileSizes(py.detach(|| self.0.inspect_file())?))
    }

    /// Walks the whole file: pages and checksums, records, index rows and counters against each other. Nothing is changed; faults are told
    /// in the answer.
    fn check(&self, py: Python<'_>) -> Told<PyFileCheck> {
        Ok(PyFileCheck(py.detach(|| self.0.check())?))
    }

    /// Gives free pages back to the file system; others wait meanwhile (T5). A kill in it loses nothing.
    ///
    /// Raises `Unavailable` while there are claims, unless `even_with_claims`.
    #[pyo3(signature = (*, even_with_claims=false))]
    fn compact(&self, py: Python<'_>, even_with_claims: bool) -> Told<Compacted> {
        let keyledger::Compacted { before_bytes, after_bytes } = py.detach(|| self.0.compact(even_with_claims))?;
        Ok(Compacted { before_bytes, after_bytes })
    }

    /// Writes a consistent copy into a new file, put in place whole. The copy is another ledger (I5).
    ///
    /// Raises `Unavailable` when the path exists or cannot be made.
    fn snapshot(&self, py: Python<'_>, path: PathBuf) -> Told<()> {
        Ok(py.detach(|| self.0.snapshot(path))?)
    }
}

fn forgotten(py: Python<'_>, counts: keyledger::Result<Forgotten>) -> PyResult<Py<PyAny>> {
    Ok(Py::new(py, PyForgotten(counts.map_err(|error| exception(py, &error))?))?.into_any())
}
