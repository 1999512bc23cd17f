//! The caller's own rows: transactions and batches.

use std::sync::{Mutex, PoisonError};

use keyledger::{Batch, Row};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::argument::{Answer, Bytes};
use crate::borrowed::{Lent, Raised, lend, returned};
use crate::error::Told;
use crate::key_id::PyKeyId;
use crate::ledger::PyLedger;
use crate::outbox::{PyEnqueue, PyOutbox};
use crate::waiting::awaitable;

/// A transaction on the ledger's own tables, for the function that it is given to and no longer.
///
/// Reads see what the transaction has written. Keys and values are bytes; a table is there as soon as a row is in it.
///
/// Example:
///
///     def count(tx: Transaction) -> int:
///         visits = int(tx.get("visits", b"ann") or b"0") + 1
///         tx.put("visits", b"ann", str(visits).encode())
///         return visits
///
///     assert ledger.transaction(count) == 1
#[pyclass(name = "Transaction", module = "keyledger", frozen)]
#[derive(Default)]
pub(crate) struct PyTransaction {
    pub(crate) lent: Lent,
}

#[pymethods]
impl PyTransaction {
    /// A row, or None.
    fn get<'py>(&self, py: Python<'py>, table: &str, key: Bytes) -> Told<Option<Bound<'py, PyBytes>>> {
        Ok(self.lent.with(py, |tx| tx.get(table, &key.0))?.map(|value| PyBytes::new(py, &value)))
    }

    /// At most `limit` rows with keys from `start` on, before `end` if there is one, in the order of their keys: pairs of bytes.
    #[pyo3(signature = (table, start=None, end=None, limit=100))]
    fn scan<'py>(
        &self,
        py: Python<'py>,
        table: &str,
        start: Option<Bytes>,
        end: Option<Bytes>,
        limit: usize,
    ) -> Told<Bound<'py, PyList>> {
        Ok(pairs(py, &self.lent.with(py, |tx| tx.scan(table, &start.unwrap_or_default().0, of(end.as_ref()), limit))?)?)
    }

    /// Stores a row, whatever was there.
    fn put(&self, py: Python<'_>, table: &str, key: Bytes, value: Bytes) -> Told<()> {
        self.lent.with(py, |tx| tx.put(table, &key.0, value.0))
    }

    /// Removes a row, if it is there.
    fn delete(&self, py: Python<'_>, table: &str, key: Bytes) -> Told<()> {
        self.lent.with(py, |tx| tx.delete(table, &key.0))
    }

    /// Stores a row where there is none. Raises `UniqueViolation` where there is.
    fn insert_unique(&self, py: Python<'_>, table: &str, key: Bytes, value: Bytes) -> Told<()> {
        self.lent.with(py, |tx| tx.insert_unique(table, &key.0, value.0))
    }

    /// Stores, or removes with None, a row that is as `expected`; None: there is none. Raises `CompareFailed` where it is not.
    #[pyo3(signature = (table, key, expected, value))]
    fn compare_and_set(
        &self,
        py: Python<'_>,
        table: &str,
        key: Bytes,
        expected: Option<Bytes>,
        value: Option<Bytes>,
    ) -> Told<()> {
        self.lent.with(py, |tx| tx.compare_and_set(table, &key.0, of(expected.as_ref()), of(value.as_ref())))
    }

    /// Completes a claim by key id and fence, together with the rows: all of it, or none. Raises `ClaimLost`.
    fn complete(&self, py: Python<'_>, id: &PyKeyId, fence: u64, response: Answer) -> Told<()> {
        self.lent.with(py, |tx| tx.complete(&id.0, fence, response.0))
    }

    /// Enqueues together with the rows: sent only if they are stored. Raises as `Outbox.enqueue`.
    fn enqueue(&self, py: Python<'_>, outbox: &PyOutbox, enqueue: &PyEnqueue) -> PyResult<Py<PyAny>> {
        outbox.within(py, |outbox| self.lent.with_error(py, |tx| tx.enqueue(outbox, &enqueue.0)))
    }

    /// Applies a batch, in order; the first of its changes that fails ends it.
    fn apply(&self, py: Python<'_>, batch: &PyBatch) -> Told<()> {
        let batch = batch.batch();
        self.lent.with(py, |tx| tx.apply(&batch))
    }
}

/// Changes of rows as a value. Applied in order, whole or not at all. Each method returns the batch itself.
///
/// Example:
///
///     ledger.apply(Batch().insert_unique("users", b"ann", b"").put("visits", b"ann", b"0"))
///     assert ledger.scan("users") == [(b"ann", b"")]
#[pyclass(name = "Batch", module = "keyledger", frozen)]
pub(crate) struct PyBatch(Mutex<Batch>);

impl PyBatch {
    pub(crate) fn batch(&self) -> Batch {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// One more change.
    pub(crate) fn change(&self, with: impl FnOnce(Batch) -> Batch) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *held = with(std::mem::take(&mut *held));
    }
}

#[pymethods]
impl PyBatch {
    #[new]
    fn new() -> Self {
        PyBatch(Mutex::default())
    }

    /// As `Transaction.put`.
    fn put(slf: Py<Self>, table: String, key: Bytes, value: Bytes) -> Py<Self> {
        slf.get().change(|batch| batch.put(table, key.0, value.0));
        slf
    }

    /// As `Transaction.delete`.
    fn delete(slf: Py<Self>, table: String, key: Bytes) -> Py<Self> {
        slf.get().change(|batch| batch.delete(table, key.0));
        slf
    }

    /// As `Transaction.insert_unique`.
    fn insert_unique(slf: Py<Self>, table: String, key: Bytes, value: Bytes) -> Py<Self> {
        slf.get().change(|batch| batch.insert_unique(table, key.0, value.0));
        slf
    }

    /// As `Transaction.enqueue`.
    fn enqueue(slf: Py<Self>, outbox: &PyOutbox, enqueue: &PyEnqueue) -> Py<Self> {
        slf.get().change(|batch| batch.enqueue(&outbox.0, &enqueue.0));
        slf
    }

    /// As `Transaction.compare_and_set`.
    #[pyo3(signature = (table, key, expected, value))]
    fn compare_and_set(
        slf: Py<Self>,
        table: String,
        key: Bytes,
        expected: Option<Bytes>,
        value: Option<Bytes>,
    ) -> Py<Self> {
        let (expected, value) = (expected.map(|Bytes(row)| row), value.map(|Bytes(row)| row));
        slf.get().change(|batch| batch.compare_and_set(table, key.0, expected, value));
        slf
    }
}

#[pymethods]
impl PyLedger {
    /// Runs `f` with a `Transaction` on the ledger's own tables: all that it changes is stored, or nothing. On return it is on disk.
    ///
    /// `f` runs once; while it runs others wait: keep it short, and do not call the ledger from inside it. Returns what `f` returns. What
    /// `f` raises comes out as it is; then nothing is stored.
    fn transaction(&self, py: Python<'_>, f: Bound<'_, PyAny>) -> Told<Py<PyAny>> {
        let f = f.unbind();
        py.detach(|| self.0.transaction(|tx| within(tx, &f)))
    }

    /// `transaction` on an event loop: `f` runs on the ledger's own thread, and what it stored stays stored even if nobody waits.
    fn transaction_async<'py>(&self, py: Python<'py>, f: Py<PyAny>) -> PyResult<Bound<'py, PyAny>> {
        awaitable(py, || self.0.transaction_async(move |tx| within(tx, &f)), |_, done| Ok(done?))
    }

    /// Applies a batch: all of it, or nothing. On return it is on disk. Raises the errors of its changes.
    fn apply(&self, py: Python<'_>, batch: &PyBatch) -> Told<()> {
        let batch = batch.batch();
        Ok(py.detach(|| self.0.apply(&batch))?)
    }

    /// A row as it was committed last, or None.
    fn get<'py>(&self, py: Python<'py>, table: &str, key: Bytes) -> Told<Option<Bound<'py, PyBytes>>> {
        let found = py.detach(|| self.0.get(table, &key.0))?;
        Ok(found.map(|value| PyBytes::new(py, &value)))
    }

    /// Rows as they were committed last: see `Transaction.scan`.
    #[pyo3(signature = (table, start=None, end=None, limit=100))]
    fn scan<'py>(
        &self,
        py: Python<'py>,
        table: &str,
        start: Option<Bytes>,
        end: Option<Bytes>,
        limit: usize,
    ) -> Told<Bound<'py, PyList>> {
        let start = start.unwrap_or_default();
        let rows = py.detach(|| self.0.scan(table, &start.0, of(end.as_ref()), limit))?;
        Ok(pairs(py, &rows)?)
    }
}

fn within(tx: &mut keyledger::Transaction<'_, '_>, f: &Py<PyAny>) -> Result<Py<PyAny>, Raised> {
    returned(|py| lend(py, tx, f).map(Bound::unbind))
}

fn of(bytes: Option<&Bytes>) -> Option<&[u8]> {
    bytes.map(|Bytes(bytes)| bytes.as_slice())
}

fn pairs<'py>(py: Python<'py>, rows: &[Row]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, rows.iter().map(|(key, value)| (PyBytes::new(py, key), PyBytes::new(py, value))))
}
