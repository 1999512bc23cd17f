//! How the spaces lie in redb: all of them in one table, each under a first byte of its own, each value sealed by a
//! checksum.

use std::cmp::Ordering;
use std::ops::{Bound, ControlFlow, RangeBounds};

use ::redb::{AccessGuard, Range, ReadOnlyTable, ReadTransaction, Table, TableDefinition, WriteTransaction};

#[cfg(not(target_arch = "wasm32"))]
use crc32fast::Hasher;

use super::errors::{caught, of_storage, of_table};
#[cfg(target_arch = "wasm32")]
use crate::store::crc::Hasher;
use crate::store::{KeyRange, Space, StoreError, Visit, Writes};

type Rows = Range<'static, &'static [u8], &'static [u8]>;

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("ledger");

/// One row, sealed as all are: which generation of the log is not yet in the tree.
const LOG: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("log");
const GENERATION: &[u8] = b"generation";

/// The tables of a read transaction.
pub(super) struct Tables(ReadOnlyTable<&'static [u8], &'static [u8]>);

impl Tables {
    pub(super) fn open(transaction: &ReadTransaction) -> Result<Tables, StoreError> {
        transaction.open_table(TABLE).map(Tables).map_err(of_table)
    }

    pub(super) fn get(&self, space: Space, key: &[u8], read: &mut dyn FnMut(&[u8])) -> Result<bool, StoreError> {
        let key = key_of(space, key);
        let found = caught(|| self.0.get(&*key).map_err(of_storage))?;
        match &found {
            Some(value) => read(caught(|| unsealed(&key, value.value()))?),
            None => caught(|| self.neighbours_are_whole(&key))?,
        }
        Ok(found.is_some())
    }

    /// A damaged key hides its row, and sends those who look for others the wrong way: in a leaf to a place beside itself, above
    /// it to a wrong leaf. So what is not found counts only between two rows that match their seals, and between which it
    /// would lie (I9).
    fn neighbours_are_whole(&self, key: &[u8]) -> Result<(), StoreError> {
        let mut after = self.0.range::<&[u8]>((Bound::Included(key), Bound::Unbounded)).map_err(of_storage)?;
        let mut before = self.0.range::<&[u8]>((Bound::Unbounded, Bound::Included(key))).map_err(of_storage)?;
        for (row, side) in [(after.next(), Ordering::Greater), (before.next_back(), Ordering::Less)] {
            let Some((found, value)) = row.transpose().map_err(of_storage)? else { continue };
            unsealed(found.value(), value.value())?;
            if found.value().cmp(key) != side {
                return Err(out_of_order());
            }
        }
        Ok(())
    }

    pub(super) fn scan(&self, space: Space, (from, to): KeyRange<'_>, visit: Visit<'_>) -> Result<(), StoreError> {
        let from = bound_of(space, from, Bound::Included(vec![prefix(space)]));
        let to = bound_of(space, to, Bound::Excluded(vec![prefix(space) + 1]));
        let range = (from.as_ref().map(Vec::as_slice), to.as_ref().map(Vec::as_slice));
        let mut rows = caught(|| self.0.range::<&[u8]>(range).map_err(of_storage))?;
        let mut before: Option<Bytes> = None;
        while let Some((row, sealed)) = caught(|| step(&mut rows))? {
            let (key, value) = caught(|| Ok((row.value(), unsealed(row.value(), sealed.value())?)))?;
            if !range.contains(key) || before.is_some_and(|before| before.value() >= key) {
                return Err(out_of_order());
            }
            if let ControlFlow::Break(()) = visit(&key[1..], value) {
                break;
            }
            before = Some(row);
        }
        Ok(())
    }
}

/// A page in another's place has rows that match their seals, and may lead a scan round for ever (I9).
fn out_of_order() -> StoreError {
    StoreError::Corrupt("rows are not in order".into())
}

type Bytes = AccessGuard<'static, &'static [u8]>;

fn step(rows: &mut Rows) -> Result<Option<(Bytes, Bytes)>, StoreError> {
    rows.next().transpose().map_err(of_storage)
}

/// The generation of the log that is not yet in the tree.
pub(super) fn generation(transaction: &ReadTransaction) -> Result<u64, StoreError> {
    let table = transaction.open_table(LOG).map_err(of_table)?;
    let row = table.get(GENERATION).map_err(of_storage)?;
    let row = row.ok_or_else(|| StoreError::Corrupt("it does not tell the log's generation".into()))?;
    let generation = unsealed(GENERATION, row.value())?;
    let generation =
        generation.try_into().map_err(|_| StoreError::Corrupt("the log's generation is cut off".into()))?;
    Ok(u64::from_le_bytes(generation))
}

/// Says that all before this generation of the log is in the tree.
pub(super) fn set_generation(transaction: &WriteTransaction, generation: u64) -> Result<(), StoreError> {
    let mut table = transaction.open_table(LOG).map_err(of_table)?;
    put(&mut table, GENERATION, &generation.to_le_bytes())
}

/// Makes the tables of a new file.
pub(super) fn create(transaction: &WriteTransaction) -> Result<(), StoreError> {
    transaction.open_table(TABLE).map(drop).map_err(of_table)?;
    set_generation(transaction, 0)
}

/// Puts `writes` into a transaction, in key order.
pub(super) fn apply(transaction: &WriteTransaction, writes: &Writes) -> Result<(), StoreError> {
    let mut table = transaction.open_table(TABLE).map_err(of_table)?;
    for space in Space::ALL {
        for (key, change) in writes.of(space) {
            let key = key_of(space, key);
            match change {
                Some(value) => put(&mut table, &key, value),
                None => table.remove(&*key).map(drop).map_err(of_storage),
            }?;
        }
    }
    Ok(())
}

fn put(table: &mut Table<'_, &'static [u8], &'static [u8]>, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
    let mut place = table.insert_reserve(key, value.len() + SEAL_LEN).map_err(of_storage)?;
    let (body, seal) = place.as_mut().split_at_mut(value.len());
    body.copy_from_slice(value);
    seal.copy_from_slice(&seal_of(key, value));
    Ok(())
}

// redb looks at the checksums of its pages after a kill, not at every read: bytes that went bad in between would be told as
// an outcome (contract I2, I8).
const SEAL_LEN: usize = 4;

/// CRC-32 of a row's key, as it stands in the table, and its value.
fn seal_of(key: &[u8], value: &[u8]) -> [u8; SEAL_LEN] {
    let mut hasher = Hasher::new();
    hasher.update(key);
    hasher.update(value);
    hasher.finalize().to_be_bytes()
}

fn unsealed<'a>(key: &[u8], sealed: &'a [u8]) -> Result<&'a [u8], StoreError> {
    match sealed.split_last_chunk() {
        Some((value, seal)) if *seal == seal_of(key, value) => Ok(value),
        _ => Err(StoreError::Row {
            key: key.get(1..).unwrap_or_default().to_vec(),
            bytes: sealed[..sealed.len().saturating_sub(SEAL_LEN)].to_vec(),
        }),
    }
}

/// In the order of the spaces, so that what every commit touches lies side by side.
fn prefix(space: Space) -> u8 {
    match space {
        Space::Rows => 1,
        Space::Records => 2,
        Space::Expiry => 3,
        Space::Meta => 4,
        Space::Live => 5,
        Space::Unsettled => 6,
        Space::Outbox => 7,
    }
}

fn key_of(space: Space, key: &[u8]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(1 + key.len());
    whole.push(prefix(space));
    whole.extend_from_slice(key);
    whole
}

fn bound_of(space: Space, bound: Bound<&[u8]>, unbounded: Bound<Vec<u8>>) -> Bound<Vec<u8>> {
    match bound {
        Bound::Unbounded => unbounded,
        bounded => bounded.map(|key| key_of(space, key)),
    }
}
