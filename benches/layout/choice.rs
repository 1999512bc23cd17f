//! The layouts under test: each is one choice on every question, and has a name.

use crate::item::Item;
use crate::rows::{Put, Tables};
use anyhow::Context;

/// What a record is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyForm {
    /// The whole length-framed id.
    Full,
    /// So many bytes of its SHA-256.
    Hash(usize),
    /// Eight bytes of the scope's SHA-256, then so many of the id's: a scope stays together.
    ScopedHash(usize),
}

/// Where a settled record and its body lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The record holds the body up to so many bytes; a longer one lies apart, in order of arrival.
    Keyed { inline_max: usize },
    /// Records in order of arrival, found through an index.
    Arrival,
    /// Records in order of expiry, found through an index; there is no other expiry index.
    ByExpiry(Entombed),
    /// The record keyed, its body in the table of its stretch of time, which is dropped whole.
    Buckets,
}

/// What a sweep does with a record that lies in order of expiry and becomes a tombstone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entombed {
    /// It moves to where its own time ends, and the index is told.
    Moved,
    /// It stays; the sweep notes how far it has come, and a row says when the tombstone ends.
    InPlace,
}

/// Where an unsettled record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsettled {
    /// Where it will lie when it is settled.
    AmongSettled,
    /// In a small space of its own.
    Apart,
}

/// Which deadlines have rows, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadlines {
    /// One index: leases and expiry in one space, told apart by a class byte.
    One,
    /// Two: unsettled ones by operation, settled ones by time.
    Two,
    /// Settled ones alone; unsettled ones have no row.
    SettledOnly,
}

/// One way to store the ledger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) name: &'static str,
    pub(crate) tables: Tables,
    pub(crate) key: KeyForm,
    pub(crate) place: Place,
    pub(crate) unsettled: Unsettled,
    pub(crate) deadlines: Deadlines,
    pub(crate) put: Put,
    /// Items of a batch are written in the order of their keys.
    pub(crate) sorted: bool,
    /// A table stays open for the whole transaction.
    pub(crate) keep_open: bool,
    /// `complete` reads the record before it replaces it.
    pub(crate) reads_before_complete: bool,
}

const A: Layout = Layout {
    name: "A split, full id, inline",
    tables: Tables::Split,
    key: KeyForm::Full,
    place: Place::Keyed { inline_max: usize::MAX },
    unsettled: Unsettled::AmongSettled,
    deadlines: Deadlines::One,
    put: Put::Insert,
    sorted: true,
    keep_open: true,
    reads_before_complete: true,
};

const HASHED: Layout = Layout { name: "E split, hash 16, inline", key: KeyForm::Hash(16), ..A };

const ONE_HASHED: Layout = Layout { name: "E1 one, hash 16, inline", tables: Tables::One, ..HASHED };

const LIVE: Layout =
    Layout { name: "G one, hash 16, live apart", unsettled: Unsettled::Apart, deadlines: Deadlines::Two, ..ONE_HASHED };

const BY_EXPIRY: Layout =
    Layout { name: "H one, live apart, by expiry", place: Place::ByExpiry(Entombed::Moved), ..LIVE };

/// The layouts that answer the question.
pub(crate) const LAYOUTS: &[Layout] = &[
    A,
    Layout { name: "B one, full id, inline", tables: Tables::One, ..A },
    Layout { name: "C split, full id, bodies apart", place: Place::Keyed { inline_max: 0 }, ..A },
    Layout { name: "D split, arrival + index", place: Place::Arrival, ..HASHED },
    HASHED,
    ONE_HASHED,
    Layout { name: "F one, hash 16, apart > 512", place: Place::Keyed { inline_max: 512 }, ..ONE_HASHED },
    LIVE,
    Layout { name: "G2 split, hash 16, live apart", tables: Tables::Split, ..LIVE },
    BY_EXPIRY,
    Layout { name: "I split, buckets of bodies", place: Place::Buckets, ..HASHED },
    Layout { name: "J one, live apart, arrival", place: Place::Arrival, ..LIVE },
    Layout { name: "M one, as H, tombstones stay", place: Place::ByExpiry(Entombed::InPlace), ..LIVE },
    Layout { name: "K two, live apart, expiry busy", tables: Tables::RandomAndRest, ..LIVE },
    Layout { name: "L two, live apart, expiry large", tables: Tables::LargeAndSmall, ..LIVE },
];

/// What one choice alone changes.
pub(crate) const VARIANTS: &[Layout] = &[
    ONE_HASHED,
    Layout { name: "E1 two indexes", deadlines: Deadlines::Two, ..ONE_HASHED },
    Layout { name: "E1 settled index only", deadlines: Deadlines::SettledOnly, ..ONE_HASHED },
    Layout { name: "E1 hash 32", key: KeyForm::Hash(32), ..ONE_HASHED },
    Layout { name: "E1 unsorted", sorted: false, ..ONE_HASHED },
    Layout { name: "E1 insert_reserve", put: Put::Reserve, ..ONE_HASHED },
    Layout { name: "E1 reopened tables", keep_open: false, ..ONE_HASHED },
    Layout { name: "E1 complete does not read", reads_before_complete: false, ..ONE_HASHED },
    LIVE,
    Layout { name: "G one index", deadlines: Deadlines::One, ..LIVE },
    Layout { name: "G settled index only", deadlines: Deadlines::SettledOnly, ..LIVE },
    Layout { name: "G scope 8 + hash 16", key: KeyForm::ScopedHash(16), ..LIVE },
    Layout { name: "G full id", key: KeyForm::Full, ..LIVE },
    Layout { name: "G apart > 512", place: Place::Keyed { inline_max: 512 }, ..LIVE },
    Layout { name: "G complete does not read", reads_before_complete: false, ..LIVE },
];

/// The layout of that name.
pub(crate) fn by_name(name: &str) -> anyhow::Result<Layout> {
    let found = LAYOUTS.iter().chain(VARIANTS).find(|layout| layout.name == name);
    found.copied().with_context(|| format!("no layout is called {name}"))
}

impl KeyForm {
    /// The bytes that find a record.
    pub(crate) fn of(self, item: &Item) -> Vec<u8> {
        match self {
            KeyForm::Full => item.id.clone(),
            KeyForm::Hash(bytes) => item.hash[..bytes].to_vec(),
            KeyForm::ScopedHash(bytes) => [&item.scope_mark()[..], &item.hash[..bytes]].concat(),
        }
    }
}
