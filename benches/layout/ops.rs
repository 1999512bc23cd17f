//! What a ledger does to its rows in each layout: begin, complete, both at once, sweep.

use crate::choice::{Deadlines, Entombed, Layout, Place, Unsettled};
use crate::item::{COUNTERS_BYTES, Item, decode, encode, encode_tombstone, fill};
use crate::rows::{Rows, Space};
use anyhow::{Context, ensure};

/// Class bytes of the deadline index, in the order of its rows: what grows by the end comes last.
const CLASS_LEASE: u8 = 0;
const CLASS_TOMBSTONE: u8 = 1;
const CLASS_SETTLED: u8 = 2;

/// The row that says how far sweeps have come.
const SWEPT: &[u8] = b"swept";

/// What an expired record becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expired {
    Tombstone,
    Nothing,
}

/// One layout at work on the rows of a transaction.
pub(crate) struct Ledger<'a> {
    pub(crate) layout: &'a Layout,
    /// Milliseconds of expiry that share a bucket.
    pub(crate) bucket_ms: u64,
    pub(crate) body_bytes: usize,
}

impl Ledger<'_> {
    /// Makes sure that the id is new, and writes an unsettled record with its deadline.
    pub(crate) fn begin(&self, rows: &mut dyn Rows, item: &Item) -> anyhow::Result<()> {
        self.expect_absent(rows, item)?;
        let (space, key) = self.unsettled_place(item);
        if self.layout.place == Place::Arrival && !self.unsettled_apart() {
            rows.put(Space::Index, &self.layout.key.of(item), &item.sequence.to_be_bytes())?;
        }
        rows.put(space, &key, &encode(item, 0))?;
        if let Some((space, key)) = self.lease_row(item) {
            rows.put(space, &key, &[])?;
        }
        Ok(())
    }

    /// Settles a record that [`Ledger::begin`] wrote.
    pub(crate) fn complete(&self, rows: &mut dyn Rows, item: &Item) -> anyhow::Result<()> {
        let (space, key) = self.unsettled_place(item);
        if self.layout.reads_before_complete {
            let stored = rows.get(space, &key)?.context("the record to complete is missing")?;
            ensure!(decode(&stored)?.id == item.id, "another record has this key");
        }
        if let Some((space, key)) = self.lease_row(item) {
            rows.remove(space, &key)?;
        }
        let moves = self.unsettled_apart();
        if moves {
            rows.remove(space, &key)?;
        }
        self.store_settled(rows, item, moves)
    }

    /// Makes sure that the id is new, and writes the settled record at once.
    pub(crate) fn begin_completed(&self, rows: &mut dyn Rows, item: &Item) -> anyhow::Result<()> {
        self.expect_absent(rows, item)?;
        self.store_settled(rows, item, true)
    }

    /// Moves up to `limit` expired records on, oldest first, and says how many.
    pub(crate) fn sweep(&self, rows: &mut dyn Rows, limit: usize, becomes: Expired) -> anyhow::Result<u64> {
        if self.layout.place == Place::Buckets {
            return drop_bucket(rows);
        }
        let start = if self.entombs_in_place() { rows.get(Space::Meta, SWEPT)? } else { None };
        let due = rows.first(Space::Expiry, &start.unwrap_or(vec![CLASS_SETTLED]), limit)?;
        for (key, value) in &due {
            self.expire(rows, key, value, becomes)?;
        }
        if let Some((last, _)) = due.last()
            && self.entombs_in_place()
        {
            rows.put(Space::Meta, SWEPT, &[last, &[0][..]].concat())?;
        }
        Ok(due.len() as u64)
    }

    /// Where a reader finds a settled record: the first row to look at.
    pub(crate) fn first_read(&self, item: &Item) -> (Space, Vec<u8>) {
        match self.layout.place {
            Place::Keyed { .. } | Place::Buckets => (Space::Records, self.layout.key.of(item)),
            Place::Arrival | Place::ByExpiry(_) => (Space::Index, self.layout.key.of(item)),
        }
    }

    /// The second row of a settled record, where its first is not all of it.
    pub(crate) fn second_read(&self, item: &Item, first: &[u8]) -> Option<(Space, Vec<u8>)> {
        match self.layout.place {
            Place::Keyed { inline_max } => self.body_apart(inline_max).then(|| (Space::Bodies, number(item))),
            Place::Arrival => Some((Space::Records, first.to_vec())),
            Place::ByExpiry(_) => Some((Space::Expiry, first.to_vec())),
            Place::Buckets => Some((self.bucket(item), self.layout.key.of(item))),
        }
    }

    fn expect_absent(&self, rows: &mut dyn Rows, item: &Item) -> anyhow::Result<()> {
        let key = self.layout.key.of(item);
        let (space, _) = self.first_read(item);
        ensure!(rows.get(space, &key)?.is_none(), "the id is not new");
        if self.unsettled_apart() {
            ensure!(rows.get(Space::Live, &key)?.is_none(), "the id is not new");
        }
        Ok(())
    }

    fn unsettled_place(&self, item: &Item) -> (Space, Vec<u8>) {
        match self.layout.place {
            _ if self.unsettled_apart() => (Space::Live, self.layout.key.of(item)),
            Place::Arrival => (Space::Records, number(item)),
            Place::Keyed { .. } | Place::Buckets | Place::ByExpiry(_) => (Space::Records, self.layout.key.of(item)),
        }
    }

    fn by_expiry(&self) -> bool {
        matches!(self.layout.place, Place::ByExpiry(_))
    }

    fn entombs_in_place(&self) -> bool {
        self.layout.place == Place::ByExpiry(Entombed::InPlace)
    }

    /// An unsettled record has no place in the order of expiry.
    fn unsettled_apart(&self) -> bool {
        self.layout.unsettled == Unsettled::Apart || self.by_expiry()
    }

    fn store_settled(&self, rows: &mut dyn Rows, item: &Item, write_index: bool) -> anyhow::Result<()> {
        let key = self.layout.key.of(item);
        match self.layout.place {
            Place::Keyed { inline_max } if self.body_apart(inline_max) => {
                rows.put(Space::Records, &key, &encode(item, 0))?;
                rows.put(Space::Bodies, &number(item), &self.body(item))?;
            }
            Place::Keyed { .. } => rows.put(Space::Records, &key, &encode(item, self.body_bytes))?,
            Place::Arrival => {
                if write_index {
                    rows.put(Space::Index, &key, &number(item))?;
                }
                rows.put(Space::Records, &number(item), &encode(item, self.body_bytes))?;
            }
            Place::ByExpiry(_) => {
                let due = deadline(CLASS_SETTLED, item.retained_until(), &number(item));
                rows.put(Space::Index, &key, &due)?;
                return rows.put(Space::Expiry, &due, &encode(item, self.body_bytes));
            }
            Place::Buckets => {
                rows.put(Space::Records, &key, &encode(item, 0))?;
                return rows.put(self.bucket(item), &key, &self.body(item));
            }
        }
        rows.put(Space::Expiry, &deadline(CLASS_SETTLED, item.retained_until(), &self.tail(item)), &[])
    }

    fn expire(&self, rows: &mut dyn Rows, due: &[u8], value: &[u8], becomes: Expired) -> anyhow::Result<()> {
        if self.entombs_in_place() && becomes == Expired::Tombstone {
            return entomb_in_place(rows, due, &decode(value)?);
        }
        rows.remove(Space::Expiry, due)?;
        let tail = due.get(9..).context("a deadline row is too short")?;
        let item = if self.by_expiry() {
            decode(value)?
        } else {
            decode(&rows.get(Space::Records, tail)?.context("a deadline row names no record")?)?
        };
        if let Place::Keyed { inline_max } = self.layout.place
            && self.body_apart(inline_max)
        {
            rows.remove(Space::Bodies, &number(&item))?;
        }
        match becomes {
            Expired::Tombstone => self.entomb(rows, &item, tail),
            Expired::Nothing => self.erase(rows, &item, tail),
        }
    }

    fn entomb(&self, rows: &mut dyn Rows, item: &Item, tail: &[u8]) -> anyhow::Result<()> {
        let due = deadline(CLASS_TOMBSTONE, item.gone_at(), tail);
        if self.by_expiry() {
            rows.put(Space::Index, &self.layout.key.of(item), &due)?;
            return rows.put(Space::Expiry, &due, &encode_tombstone(item));
        }
        rows.put(Space::Records, tail, &encode_tombstone(item))?;
        rows.put(Space::Expiry, &due, &[])
    }

    fn erase(&self, rows: &mut dyn Rows, item: &Item, tail: &[u8]) -> anyhow::Result<()> {
        match self.layout.place {
            Place::ByExpiry(_) => rows.remove(Space::Index, &self.layout.key.of(item)),
            Place::Arrival => {
                rows.remove(Space::Index, &self.layout.key.of(item))?;
                rows.remove(Space::Records, tail)
            }
            Place::Keyed { .. } | Place::Buckets => rows.remove(Space::Records, tail),
        }
    }

    /// Notes that the bucket of this record exists.
    pub(crate) fn note_bucket(&self, rows: &mut dyn Rows, item: &Item) -> anyhow::Result<()> {
        let Space::Bucket(number) = self.bucket(item) else { return Ok(()) };
        let name = [&b"bucket/"[..], &number.to_be_bytes()].concat();
        rows.put(Space::Meta, &name, &number.to_be_bytes())
    }

    fn bucket(&self, item: &Item) -> Space {
        Space::Bucket(item.retained_until() / self.bucket_ms)
    }

    fn lease_row(&self, item: &Item) -> Option<(Space, Vec<u8>)> {
        match self.layout.deadlines {
            Deadlines::One => Some((Space::Expiry, deadline(CLASS_LEASE, item.lease_end(), &self.tail(item)))),
            Deadlines::Two => {
                let due = item.lease_end().to_be_bytes();
                Some((Space::Unsettled, [&item.operation_mark()[..], &due, &self.tail(item)].concat()))
            }
            Deadlines::SettledOnly => None,
        }
    }

    fn tail(&self, item: &Item) -> Vec<u8> {
        match self.layout.place {
            Place::Arrival | Place::ByExpiry(_) => number(item),
            Place::Keyed { .. } | Place::Buckets => self.layout.key.of(item),
        }
    }

    fn body_apart(&self, inline_max: usize) -> bool {
        self.body_bytes > inline_max
    }

    fn body(&self, item: &Item) -> Vec<u8> {
        let mut body = Vec::new();
        fill(&mut body, self.body_bytes, item.sequence);
        body
    }
}

/// Rewrites the row that counts records by state.
pub(crate) fn rewrite_counters(rows: &mut dyn Rows, seed: u64) -> anyhow::Result<()> {
    let mut counters = Vec::new();
    fill(&mut counters, COUNTERS_BYTES, seed);
    rows.put(Space::Meta, b"counters", &counters)
}

fn entomb_in_place(rows: &mut dyn Rows, due: &[u8], item: &Item) -> anyhow::Result<()> {
    rows.put(Space::Expiry, due, &encode_tombstone(item))?;
    rows.put(Space::Expiry, &deadline(CLASS_TOMBSTONE, item.gone_at(), due), &[])
}

fn drop_bucket(rows: &mut dyn Rows) -> anyhow::Result<u64> {
    let oldest = rows.first(Space::Meta, b"bucket/", 1)?;
    let (name, number) = oldest.first().context("no bucket is left")?;
    let number = u64::from_be_bytes(number.as_slice().try_into()?);
    rows.remove(Space::Meta, name)?;
    rows.drop_space(Space::Bucket(number))
}

fn number(item: &Item) -> Vec<u8> {
    item.sequence.to_be_bytes().to_vec()
}

fn deadline(class: u8, at: u64, tail: &[u8]) -> Vec<u8> {
    [&[class][..], &at.to_be_bytes(), tail].concat()
}
