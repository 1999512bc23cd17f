//! The caller's own tables, in the same file and the same transaction as the answer (contract section 7).

use crate::engine::{Engine, Session, reentry, rows};
use crate::entry::Enqueued;
use crate::error::{Error, Result};
use crate::key::{KeyId, Part, check};
use crate::limits::{check_length, check_row_value, stored_form};
use crate::machine::settle::Settlement;
use crate::options::ROW_KEY_BYTES_MAX;
use crate::outbox::{Enqueue, Outbox};
use crate::response::Response;

/// A row of a table: key and value.
pub type Row = (Vec<u8>, Vec<u8>);

/// A buffered write set over reads of a consistent state. It sees its own writes, also in `scan`; it is applied whole or thrown
/// away (G1).
///
/// Table names are as L1 says, keys up to 1 KiB, values up to the ledger's `max_response_bytes`.
pub struct Transaction<'s, 'e> {
    session: &'s mut Session<'e>,
}

impl<'s, 'e> Transaction<'s, 'e> {
    /// Runs a caller's closure on the session, and refuses its calls back into the ledger.
    pub(crate) fn run<T, E>(
        session: &'s mut Session<'e>,
        f: impl FnOnce(&mut Transaction<'_, '_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let _inside = reentry::enter(session.engine);
        f(&mut Transaction { session })
    }

    /// The value under `key`, if there is one.
    ///
    /// # Errors
    /// `InvalidKey` for the table's name; `TooLarge` for the key.
    pub fn get(&self, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.session.get_row(&row_key(table, key)?)?)
    }

    /// The rows of a table in key order, from `from` up to `to` (exclusive; `None`: to the end), at most `limit` of them.
    ///
    /// # Errors
    /// `InvalidKey` for the table's name.
    pub fn scan(&self, table: &str, from: &[u8], to: Option<&[u8]>, limit: usize) -> Result<Vec<Row>> {
        let range = TableRange::new(table, from, to)?;
        Ok(range.strip(self.session.scan_rows(&range.start, &range.end, limit)?))
    }

    /// Stores a value under `key`, whatever was there.
    ///
    /// # Errors
    /// `InvalidKey` for the table's name; `TooLarge` for key or value.
    pub fn put(&mut self, table: &str, key: &[u8], value: impl Into<Vec<u8>>) -> Result<()> {
        let row = row_key(table, key)?;
        let value = value.into();
        check_row_value(&value, self.session.engine.options)?;
        self.session.put_row(row, value);
        Ok(())
    }

    /// Removes the row under `key`, if there is one.
    ///
    /// # Errors
    /// `InvalidKey` for the table's name; `TooLarge` for the key.
    pub fn delete(&mut self, table: &str, key: &[u8]) -> Result<()> {
        let row = row_key(table, key)?;
        self.session.delete_row(row);
        Ok(())
    }

    /// Stores a row that must not be there yet: "one grant per order".
    ///
    /// # Errors
    /// `UniqueViolation` when there is one; else as [`put`](Transaction::put).
    pub fn insert_unique(&mut self, table: &str, key: &[u8], value: impl Into<Vec<u8>>) -> Result<()> {
        if self.get(table, key)?.is_some() {
            return Err(Error::UniqueViolation { table: table.to_owned() });
        }
        self.put(table, key, value)
    }

    /// Changes a row that must be as expected: "unpaid to paid, once". `None` is no row, on either side.
    ///
    /// # Errors
    /// `CompareFailed` when it is not; else as [`put`](Transaction::put).
    pub fn compare_and_set(
        &mut self,
        table: &str,
        key: &[u8],
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<()> {
        if self.get(table, key)?.as_deref() != expected {
            return Err(Error::CompareFailed { table: table.to_owned() });
        }
        match value {
            Some(value) => self.put(table, key, value),
            None => self.delete(table, key),
        }
    }

    /// Completes a claim by key id and fence, in this transaction.
    ///
    /// # Errors
    /// `ClaimLost`; `TooLarge` for the media type.
    pub fn complete(&mut self, id: &KeyId, fence: u64, response: impl Into<Response>) -> Result<()> {
        let address = self.session.engine.address(id.clone());
        let settlement = stored_form(Settlement::Complete(response.into()), self.session.engine.options)?;
        Ok(self.session.settle(&address, fence, &settlement)?)
    }

    /// Stores a request with its key, to be sent once this transaction is on disk: with the business change, or not at all.
    ///
    /// # Errors
    /// As [`Outbox::enqueue`]; `InvalidArgument` for the outbox of another ledger.
    pub fn enqueue(&mut self, outbox: &Outbox, enqueue: &Enqueue) -> Result<Enqueued> {
        if !outbox.is_of(self.session.engine) {
            return Err(Error::InvalidArgument("the outbox is another ledger's; use the one of this ledger".into()));
        }
        let asking = enqueue.check(outbox)?;
        Ok(self.session.enqueue(&outbox.terms(), &asking)?.into())
    }

    /// Applies a batch, in order.
    ///
    /// # Errors
    /// Those of its changes; the first ends it.
    pub fn apply(&mut self, batch: &Batch) -> Result<()> {
        batch.changes.iter().try_for_each(|change| self.change(change))
    }

    fn change(&mut self, change: &Change) -> Result<()> {
        match change {
            Change::Put { table, key, value } => self.put(table, key, value.as_slice()),
            Change::Delete { table, key } => self.delete(table, key),
            Change::InsertUnique { table, key, value } => self.insert_unique(table, key, value.as_slice()),
            Change::CompareAndSet { table, key, expected, value } => {
                self.compare_and_set(table, key, expected.as_deref(), value.as_deref())
            }
            Change::Enqueue { outbox, enqueue } => self.enqueue(outbox, enqueue).map(drop),
        }
    }
}

/// Changes of rows as a value, for languages and places where a closure does not fit. Applied in order, whole or not at all.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    changes: Vec<Change>,
}

#[derive(Debug, Clone)]
enum Change {
    Put { table: String, key: Vec<u8>, value: Vec<u8> },
    Delete { table: String, key: Vec<u8> },
    InsertUnique { table: String, key: Vec<u8>, value: Vec<u8> },
    CompareAndSet { table: String, key: Vec<u8>, expected: Option<Vec<u8>>, value: Option<Vec<u8>> },
    Enqueue { outbox: Outbox, enqueue: Box<Enqueue> },
}

impl Batch {
    /// No changes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// See [`Transaction::put`].
    pub fn put(self, table: impl Into<String>, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        self.with(Change::Put { table: table.into(), key: key.into(), value: value.into() })
    }

    /// See [`Transaction::delete`].
    pub fn delete(self, table: impl Into<String>, key: impl Into<Vec<u8>>) -> Self {
        self.with(Change::Delete { table: table.into(), key: key.into() })
    }

    /// See [`Transaction::insert_unique`].
    pub fn insert_unique(self, table: impl Into<String>, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        self.with(Change::InsertUnique { table: table.into(), key: key.into(), value: value.into() })
    }

    /// See [`Transaction::compare_and_set`].
    pub fn compare_and_set(
        self,
        table: impl Into<String>,
        key: impl Into<Vec<u8>>,
        expected: Option<Vec<u8>>,
        value: Option<Vec<u8>>,
    ) -> Self {
        self.with(Change::CompareAndSet { table: table.into(), key: key.into(), expected, value })
    }

    /// See [`Transaction::enqueue`].
    pub fn enqueue(self, outbox: &Outbox, enqueue: &Enqueue) -> Self {
        self.with(Change::Enqueue { outbox: outbox.clone(), enqueue: Box::new(enqueue.clone()) })
    }

    fn with(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }
}

/// A committed row.
pub(crate) fn get(engine: &Engine, table: &str, key: &[u8]) -> Result<Option<Vec<u8>>> {
    Ok(rows::get(&*engine.snapshot()?, &row_key(table, key)?)?)
}

/// Committed rows.
pub(crate) fn scan(engine: &Engine, table: &str, from: &[u8], to: Option<&[u8]>, limit: usize) -> Result<Vec<Row>> {
    let range = TableRange::new(table, from, to)?;
    Ok(range.strip(rows::scan(&*engine.snapshot()?, &range.start, &range.end, limit)?))
}

/// Part of a table, as a range of whole keys.
struct TableRange {
    prefix_bytes: usize,
    start: Vec<u8>,
    end: Vec<u8>,
}

impl TableRange {
    fn new(table: &str, from: &[u8], to: Option<&[u8]>) -> Result<Self> {
        let prefix = table_prefix(table)?;
        let start = [prefix.as_slice(), from].concat();
        let end = to.map_or_else(|| after_table(&prefix), |to| [prefix.as_slice(), to].concat());
        Ok(Self { prefix_bytes: prefix.len(), start, end })
    }

    fn strip(&self, mut rows: Vec<Row>) -> Vec<Row> {
        for (key, _) in &mut rows {
            key.drain(..self.prefix_bytes);
        }
        rows
    }
}

fn row_key(table: &str, key: &[u8]) -> Result<Vec<u8>> {
    check_length("a row's key", key.len(), ROW_KEY_BYTES_MAX)?;
    let mut row = table_prefix(table)?;
    row.extend_from_slice(key);
    Ok(row)
}

/// One byte of length, then the name: no table's rows lie among another's.
fn table_prefix(table: &str) -> Result<Vec<u8>> {
    check(Part::Table, table)?;
    let length = u8::try_from(table.len()).map_err(|_| Error::InvalidArgument("a table's name is too long".into()))?;
    Ok([&[length], table.as_bytes()].concat())
}

/// The first key after all of a table's: its name's last byte is a byte of UTF-8, so it can be raised.
fn after_table(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    end
}
