//! Reading stored records, and what an open read costs the commits beside it.

use crate::bench::{Bench, Spent};
use crate::figures::Figures;
use crate::item::{Item, splitmix};
use crate::rows::address;
use anyhow::{Context, ensure};
use redb::{ReadOnlyTable, ReadTransaction, ReadableDatabase, TableDefinition};
use std::collections::BTreeMap;
use std::time::Instant;

type Bytes = &'static [u8];

const READS: u64 = 20_000;
const PAIRS: u64 = 200;

/// Point reads a second, by how much of the transaction is kept between them.
pub(crate) fn measure(benches: &mut [Bench], records: u64, rounds: u32, figures: &mut Figures) -> anyhow::Result<()> {
    for round in 0..rounds {
        // Other records for each way, or the first would warm the cache for the next.
        let [first, second, third] = [0, 1, 2].map(|way| stored_items(records, round * 3 + way));
        for bench in &mut *benches {
            let name = bench.label.clone();
            figures.add(&name, "tables kept, reads/s", read_speed(&first, kept_tables(bench)?)?);
            figures.add(&name, "transaction kept, reads/s", read_speed(&second, kept_transaction(bench)?)?);
            figures.add(&name, "nothing kept, reads/s", read_speed(&third, nothing_kept(bench))?);
        }
    }
    Ok(())
}

/// Pairs at one to a commit while a read is open: none, one over the latest commit, one over an old commit.
pub(crate) fn measure_held(benches: &mut [Bench], rounds: u32, figures: &mut Figures) -> anyhow::Result<()> {
    for _ in 0..rounds {
        for bench in &mut *benches {
            held(bench, "no read", figures, |_| Ok(None), |_, held| Ok(held))?;
            held(bench, "latest read", figures, open_read, |bench, _| open_read(bench))?;
            held(bench, "old read", figures, open_read, |_, held| Ok(held))?;
        }
    }
    Ok(())
}

fn stored_items(records: u64, seed: u32) -> Vec<Item> {
    (0..READS).map(|number| Item::numbered(splitmix(number ^ (u64::from(seed) << 32)) % records)).collect()
}

fn read_speed(items: &[Item], mut read: impl FnMut(&Item) -> anyhow::Result<usize>) -> anyhow::Result<f64> {
    let start = Instant::now();
    let mut bytes = 0;
    for item in items {
        bytes += read(item)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    ensure!(bytes > items.len() * 100, "what was read is too short to be records");
    Ok(items.len() as f64 / seconds)
}

fn nothing_kept(bench: &Bench) -> impl FnMut(&Item) -> anyhow::Result<usize> + '_ {
    |item| read_once(bench, item)
}

/// Reads one settled record in a transaction of its own, and says how many bytes its rows have.
pub(crate) fn read_once(bench: &Bench, item: &Item) -> anyhow::Result<usize> {
    read_in(bench, &bench.db.begin_read()?, item)
}

fn kept_transaction(bench: &Bench) -> anyhow::Result<impl FnMut(&Item) -> anyhow::Result<usize> + '_> {
    let txn = bench.db.begin_read()?;
    Ok(move |item: &Item| read_in(bench, &txn, item))
}

fn kept_tables(bench: &Bench) -> anyhow::Result<impl FnMut(&Item) -> anyhow::Result<usize> + '_> {
    let txn = bench.db.begin_read()?;
    let mut tables: BTreeMap<String, ReadOnlyTable<Bytes, Bytes>> = BTreeMap::new();
    Ok(move |item: &Item| {
        read_record(bench, item, |name, key| {
            if !tables.contains_key(name) {
                tables.insert(name.to_owned(), txn.open_table(TableDefinition::new(name))?);
            }
            let table = tables.get(name).context("a table that was just opened is missing")?;
            Ok(table.get(key)?.context("a stored row is missing")?.value().to_vec())
        })
    })
}

fn read_in(bench: &Bench, txn: &ReadTransaction, item: &Item) -> anyhow::Result<usize> {
    read_record(bench, item, |name, key| {
        let table = txn.open_table(TableDefinition::<Bytes, Bytes>::new(name))?;
        Ok(table.get(key)?.context("a stored row is missing")?.value().to_vec())
    })
}

fn read_record(
    bench: &Bench,
    item: &Item,
    mut get: impl FnMut(&str, &[u8]) -> anyhow::Result<Vec<u8>>,
) -> anyhow::Result<usize> {
    let ledger = bench.ledger();
    let (space, key) = ledger.first_read(item);
    let (name, key) = address(bench.layout.tables, space, &key);
    let first = get(&name, &key)?;
    let Some((space, key)) = ledger.second_read(item, &first) else { return Ok(first.len()) };
    let (name, key) = address(bench.layout.tables, space, &key);
    Ok(first.len() + get(&name, &key)?.len())
}

type Held = Option<ReadTransaction>;

fn open_read(bench: &Bench) -> anyhow::Result<Held> {
    Ok(Some(bench.db.begin_read()?))
}

fn held(
    bench: &mut Bench,
    work: &str,
    figures: &mut Figures,
    open: impl Fn(&Bench) -> anyhow::Result<Held>,
    after_commit: impl Fn(&Bench, Held) -> anyhow::Result<Held>,
) -> anyhow::Result<()> {
    let before = bench.file_bytes()?;
    let spent = bench.spend(|bench| {
        let mut held = open(bench)?;
        for _ in 0..PAIRS {
            let items = bench.take(1);
            bench.begin(&items)?;
            held = after_commit(bench, held)?;
            bench.complete(&items)?;
            held = after_commit(bench, held)?;
        }
        Ok(())
    })?;
    note(figures, &bench.label, work, spent);
    figures.add(&bench.label, &format!("{work}, file growth KB"), (bench.file_bytes()? - before) as f64 / 1e3);
    Ok(())
}

fn note(figures: &mut Figures, layout: &str, work: &str, spent: Spent) {
    let commits = spent.tally.syncs as f64;
    figures.add(layout, &format!("{work}, us/commit"), spent.seconds * 1e6 / commits);
    figures.add(layout, &format!("{work}, KB/commit"), spent.tally.written_bytes as f64 / commits / 1e3);
    figures.add(layout, &format!("{work}, writes/commit"), spent.tally.writes as f64 / commits);
}
