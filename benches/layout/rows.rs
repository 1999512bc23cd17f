//! Rows in named spaces, and the two ways to lay spaces out in redb: a table for each, or one table with a prefix.

use anyhow::bail;
use redb::{ReadableTable, Table, TableDefinition, TableError, WriteTransaction};
use std::borrow::Cow;
use std::collections::BTreeMap;

type Bytes = &'static [u8];
type Pair = (Vec<u8>, Vec<u8>);

/// A kind of row. The order of the fixed ones is their order in one prefixed table: those that grow by the end stand
/// together with the small busy ones, so that a commit finds them in few leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Space {
    Records,
    Index,
    Bodies,
    Expiry,
    Meta,
    Live,
    Unsettled,
    /// The bodies that expire in one stretch of time.
    Bucket(u64),
}

impl Space {
    fn table_name(self) -> Cow<'static, str> {
        match self {
            Space::Records => "records".into(),
            Space::Index => "index".into(),
            Space::Bodies => "bodies".into(),
            Space::Expiry => "expiry".into(),
            Space::Meta => "meta".into(),
            Space::Live => "live".into(),
            Space::Unsettled => "unsettled".into(),
            Space::Bucket(number) => format!("bucket-{number:020}").into(),
        }
    }

    fn prefix(self) -> u8 {
        match self {
            Space::Records => 1,
            Space::Index => 2,
            Space::Bodies => 3,
            Space::Expiry => 4,
            Space::Meta => 5,
            Space::Live => 6,
            Space::Unsettled => 7,
            Space::Bucket(_) => 8,
        }
    }
}

/// How a row's bytes get into a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    Insert,
    Reserve,
}

/// How spaces become tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tables {
    /// One redb table for each space.
    Split,
    /// One redb table for all, each key with its space's prefix.
    One,
    /// Two: what lies at random (records, index, bodies), and everything that each commit touches.
    RandomAndRest,
    /// Two: what grows with the ledger, and what is small (meta, live, unsettled).
    LargeAndSmall,
}

/// The rows of one write transaction.
pub(crate) trait Rows {
    fn get(&mut self, space: Space, key: &[u8]) -> anyhow::Result<Option<Vec<u8>>>;
    fn put(&mut self, space: Space, key: &[u8], value: &[u8]) -> anyhow::Result<()>;
    fn remove(&mut self, space: Space, key: &[u8]) -> anyhow::Result<()>;
    /// The first `limit` rows of a space whose keys begin with `start` or come after it.
    fn first(&mut self, space: Space, start: &[u8], limit: usize) -> anyhow::Result<Vec<Pair>>;
    /// Removes a space and all of its rows, and says how many it had.
    fn drop_space(&mut self, space: Space) -> anyhow::Result<u64>;
}

/// Opens the rows of a transaction; with `keep_open` false a table is opened anew for each call.
pub(crate) fn rows_of(txn: &WriteTransaction, tables: Tables, put: Put, keep_open: bool) -> Box<dyn Rows + '_> {
    let opened = Opened { txn, put, keep_open, tables: BTreeMap::new() };
    match tables {
        Tables::Split => Box::new(SplitRows(opened)),
        Tables::One | Tables::RandomAndRest | Tables::LargeAndSmall => Box::new(PrefixedRows { opened, tables }),
    }
}

/// The redb name and key of a row, for readers.
pub(crate) fn address(tables: Tables, space: Space, key: &[u8]) -> (Cow<'static, str>, Vec<u8>) {
    match tables {
        Tables::Split => (space.table_name(), key.to_vec()),
        Tables::One | Tables::RandomAndRest | Tables::LargeAndSmall => {
            (tables.shared_table(space).into(), prefixed(space, key))
        }
    }
}

impl Tables {
    /// The table of a space that shares one with others.
    fn shared_table(self, space: Space) -> &'static str {
        match (self, space) {
            (Tables::RandomAndRest, Space::Records | Space::Index | Space::Bodies)
            | (Tables::LargeAndSmall, Space::Records | Space::Index | Space::Bodies | Space::Expiry) => "large",
            _ => "rows",
        }
    }
}

struct Opened<'txn> {
    txn: &'txn WriteTransaction,
    put: Put,
    keep_open: bool,
    tables: BTreeMap<String, Table<'txn, Bytes, Bytes>>,
}

impl<'txn> Opened<'txn> {
    fn with<T>(
        &mut self,
        name: &str,
        use_table: impl FnOnce(&mut Table<'txn, Bytes, Bytes>) -> Result<T, redb::StorageError>,
    ) -> anyhow::Result<T> {
        if let Some(table) = self.tables.get_mut(name) {
            return Ok(use_table(table)?);
        }
        let mut table = self.open(name)?;
        let answer = use_table(&mut table)?;
        if self.keep_open {
            self.tables.insert(name.to_owned(), table);
        }
        Ok(answer)
    }

    fn open(&self, name: &str) -> Result<Table<'txn, Bytes, Bytes>, TableError> {
        self.txn.open_table(TableDefinition::new(name))
    }

    fn get(&mut self, name: &str, key: &[u8]) -> anyhow::Result<Option<Vec<u8>>> {
        self.with(name, |table| Ok(table.get(key)?.map(|value| value.value().to_vec())))
    }

    fn put(&mut self, name: &str, key: &[u8], value: &[u8]) -> anyhow::Result<()> {
        let put = self.put;
        self.with(name, |table| {
            match put {
                Put::Insert => drop(table.insert(key, value)?),
                Put::Reserve => table.insert_reserve(key, value.len())?.as_mut().copy_from_slice(value),
            }
            Ok(())
        })
    }

    fn remove(&mut self, name: &str, key: &[u8]) -> anyhow::Result<()> {
        self.with(name, |table| table.remove(key).map(drop))
    }

    fn first(&mut self, name: &str, start: &[u8], limit: usize) -> anyhow::Result<Vec<Pair>> {
        self.with(name, |table| {
            let range = table.range(start..)?.take(limit);
            range.map(|row| row.map(|(key, value)| (key.value().to_vec(), value.value().to_vec()))).collect()
        })
    }
}

struct SplitRows<'txn>(Opened<'txn>);

impl Rows for SplitRows<'_> {
    fn get(&mut self, space: Space, key: &[u8]) -> anyhow::Result<Option<Vec<u8>>> {
        self.0.get(&space.table_name(), key)
    }

    fn put(&mut self, space: Space, key: &[u8], value: &[u8]) -> anyhow::Result<()> {
        self.0.put(&space.table_name(), key, value)
    }

    fn remove(&mut self, space: Space, key: &[u8]) -> anyhow::Result<()> {
        self.0.remove(&space.table_name(), key)
    }

    fn first(&mut self, space: Space, start: &[u8], limit: usize) -> anyhow::Result<Vec<Pair>> {
        self.0.first(&space.table_name(), start, limit)
    }

    fn drop_space(&mut self, space: Space) -> anyhow::Result<u64> {
        use redb::ReadableTableMetadata;
        let name = space.table_name();
        let rows = self.0.with(&name, |table| table.len())?;
        self.0.tables.remove(name.as_ref());
        self.0.txn.delete_table(TableDefinition::<Bytes, Bytes>::new(&name))?;
        Ok(rows)
    }
}

struct PrefixedRows<'txn> {
    opened: Opened<'txn>,
    tables: Tables,
}

fn prefixed(space: Space, key: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1 + key.len());
    bytes.push(space.prefix());
    bytes.extend_from_slice(key);
    bytes
}

impl Rows for PrefixedRows<'_> {
    fn get(&mut self, space: Space, key: &[u8]) -> anyhow::Result<Option<Vec<u8>>> {
        self.opened.get(self.tables.shared_table(space), &prefixed(space, key))
    }

    fn put(&mut self, space: Space, key: &[u8], value: &[u8]) -> anyhow::Result<()> {
        self.opened.put(self.tables.shared_table(space), &prefixed(space, key), value)
    }

    fn remove(&mut self, space: Space, key: &[u8]) -> anyhow::Result<()> {
        self.opened.remove(self.tables.shared_table(space), &prefixed(space, key))
    }

    fn first(&mut self, space: Space, start: &[u8], limit: usize) -> anyhow::Result<Vec<Pair>> {
        let mut rows = self.opened.first(self.tables.shared_table(space), &prefixed(space, start), limit)?;
        rows.retain(|(key, _)| key.first() == Some(&space.prefix()));
        for (key, _) in &mut rows {
            key.remove(0);
        }
        Ok(rows)
    }

    fn drop_space(&mut self, space: Space) -> anyhow::Result<u64> {
        bail!("{space:?} is no table of its own and cannot be dropped whole")
    }
}
