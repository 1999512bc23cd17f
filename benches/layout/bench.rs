//! One layout on one file.

use crate::backend::{CountingBackend, Counts, Growth, Tally};
use crate::choice::Layout;
use crate::figures::Figures;
use crate::item::Item;
use crate::ops::{Expired, Ledger, rewrite_counters};
use crate::rows::{Rows, rows_of};
use redb::{Builder, Database, Durability};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// A layout with its database and what it has been asked to store so far.
pub(crate) struct Bench {
    /// What its figures are called.
    pub(crate) label: String,
    pub(crate) layout: Layout,
    pub(crate) path: PathBuf,
    pub(crate) db: Database,
    counts: Arc<Counts>,
    bucket_ms: u64,
    body_bytes: usize,
    next: u64,
    mode: Mode,
}

/// How transactions are committed.
#[derive(Clone, Copy, Debug)]
struct Mode {
    durability: Durability,
    quick_repair: bool,
}

/// What is the same for every layout of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) records: u64,
    pub(crate) body_bytes: usize,
    pub(crate) cache_bytes: usize,
    pub(crate) growth: Growth,
}

/// Opens and preloads a file for each layout, and notes how large they are.
pub(crate) fn preloaded(
    layouts: &[Layout],
    folder: &Path,
    setting: Setting,
    figures: &mut Figures,
) -> anyhow::Result<Vec<Bench>> {
    let mut benches = Vec::new();
    for (number, layout) in layouts.iter().enumerate() {
        let path = data_file(folder, number);
        let roomy = Setting { cache_bytes: PRELOAD_CACHE_BYTES, ..setting };
        let spent = Bench::open(*layout, &path, roomy, 0)?.preload(setting.records)?;
        eprintln!("preloaded {} in {:.1} s", layout.name, spent.seconds);
        let bench = Bench::open(*layout, &path, setting, setting.records)?;
        note_size(&bench, "preloaded", setting.records, figures)?;
        benches.push(bench);
    }
    for bench in &benches {
        warm(&bench.path)?;
    }
    Ok(benches)
}

/// Reads a whole file, so that the system's page cache holds it: else the layout that was preloaded last would win.
pub(crate) fn warm(path: &Path) -> anyhow::Result<()> {
    std::io::copy(&mut File::open(path)?, &mut std::io::sink())?;
    Ok(())
}

/// Notes the bytes of the file for each of so many records: its length, its blocks on the disk, its pages in use.
pub(crate) fn note_size(bench: &Bench, when: &str, records: u64, figures: &mut Figures) -> anyhow::Result<()> {
    let (name, records) = (&bench.label, records as f64);
    let file = std::fs::metadata(&bench.path)?;
    figures.add(name, &format!("{when}, file B/record"), file.len() as f64 / records);
    figures.add(name, &format!("{when}, disk B/record"), (file.blocks() * 512) as f64 / records);
    figures.add(name, &format!("{when}, used B/record"), bench.used_bytes()? as f64 / records);
    Ok(())
}

/// The file of the layout of that number in a run.
pub(crate) fn data_file(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{number}.redb"))
}

/// Time and disk traffic of a piece of work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    pub(crate) seconds: f64,
    pub(crate) tally: Tally,
}

/// Records to a commit while preloading.
const PRELOAD_BATCH: u64 = 2_000;
/// Enough cache to preload without going to the disk for every leaf.
const PRELOAD_CACHE_BYTES: usize = 4 << 30;
/// A day and a week in hourly tables, whatever the number of records.
const BUCKETS: u64 = 192;

impl Bench {
    /// Opens the file, new or not; `next` is the first record that is not in it.
    pub(crate) fn open(layout: Layout, path: &Path, setting: Setting, next: u64) -> anyhow::Result<Self> {
        let counts = Arc::new(Counts::default());
        let backend = CountingBackend::open(path, Arc::clone(&counts), setting.growth)?;
        let db = Builder::new().set_cache_size(setting.cache_bytes).create_with_backend(backend)?;
        Ok(Self {
            label: layout.name.to_owned(),
            layout,
            path: path.to_owned(),
            db,
            counts,
            bucket_ms: (setting.records / BUCKETS).max(1),
            body_bytes: setting.body_bytes,
            next,
            mode: Mode { durability: Durability::Immediate, quick_repair: false },
        })
    }

    /// Stores settled records until there are so many. Only the last commit is synced.
    fn preload(&mut self, records: u64) -> anyhow::Result<Spent> {
        self.spend(|bench| {
            bench.mode.durability = Durability::None;
            while bench.next < records {
                let batch = bench.take(PRELOAD_BATCH.min(records - bench.next));
                bench.settled_at_once(&batch)?;
            }
            bench.mode.durability = Durability::Immediate;
            bench.commit(|_, _| Ok(()))
        })
    }

    /// So many pairs of begin and complete, `batch` of them to a commit.
    pub(crate) fn pairs(&mut self, pairs: u64, batch: u64) -> anyhow::Result<Spent> {
        self.spend(|bench| {
            for _ in 0..pairs / batch {
                let items = bench.take(batch);
                bench.begin(&items)?;
                bench.complete(&items)?;
            }
            Ok(())
        })
    }

    /// So many operations, each settled in the one commit that also began it.
    pub(crate) fn in_ledger(&mut self, operations: u64, batch: u64) -> anyhow::Result<Spent> {
        self.spend(|bench| {
            for _ in 0..operations / batch {
                let items = bench.take(batch);
                bench.settled_at_once(&items)?;
            }
            Ok(())
        })
    }

    /// One sweep; says how many records it moved.
    pub(crate) fn sweep(&mut self, limit: usize, becomes: Expired) -> anyhow::Result<(Spent, u64)> {
        let mut moved = 0;
        let spent = self.spend(|bench| {
            moved = bench.commit(|ledger, rows| ledger.sweep(rows, limit, becomes))?;
            Ok(())
        })?;
        Ok((spent, moved))
    }

    /// Commits the beginning of these.
    pub(crate) fn begin(&self, items: &[Item]) -> anyhow::Result<()> {
        self.commit(|ledger, rows| items.iter().try_for_each(|item| ledger.begin(rows, item)))
    }

    /// From now on each commit stores the allocator's state too.
    pub(crate) fn set_quick_repair(&mut self) {
        self.mode.quick_repair = true;
    }

    /// Commits the completion of these.
    pub(crate) fn complete(&self, items: &[Item]) -> anyhow::Result<()> {
        self.commit(|ledger, rows| {
            items.iter().try_for_each(|item| {
                ledger.note_bucket(rows, item)?;
                ledger.complete(rows, item)
            })
        })
    }

    /// Items not stored yet, in the order in which the layout wants them.
    pub(crate) fn take(&mut self, count: u64) -> Vec<Item> {
        let mut items: Vec<Item> = (self.next..self.next + count).map(Item::numbered).collect();
        self.next += count;
        if self.layout.sorted {
            items.sort_by_cached_key(|item| self.layout.key.of(item));
        }
        items
    }

    /// The layout's rules, for readers.
    pub(crate) fn ledger(&self) -> Ledger<'_> {
        Ledger { layout: &self.layout, bucket_ms: self.bucket_ms, body_bytes: self.body_bytes }
    }

    /// Records stored so far, swept ones among them.
    pub(crate) fn stored(&self) -> u64 {
        self.next
    }

    /// Bytes of the file.
    pub(crate) fn file_bytes(&self) -> anyhow::Result<u64> {
        Ok(std::fs::metadata(&self.path)?.len())
    }

    /// Bytes of the file's pages that are in use.
    fn used_bytes(&self) -> anyhow::Result<u64> {
        let stats = self.db.begin_write()?.stats()?;
        Ok(stats.allocated_pages() * stats.page_size() as u64)
    }

    /// Measures a piece of work.
    pub(crate) fn spend(&mut self, work: impl FnOnce(&mut Self) -> anyhow::Result<()>) -> anyhow::Result<Spent> {
        let before = self.counts.tally();
        let start = Instant::now();
        work(self)?;
        Ok(Spent { seconds: start.elapsed().as_secs_f64(), tally: self.counts.tally() - before })
    }

    fn settled_at_once(&self, items: &[Item]) -> anyhow::Result<()> {
        self.commit(|ledger, rows| {
            items.iter().try_for_each(|item| {
                ledger.note_bucket(rows, item)?;
                ledger.begin_completed(rows, item)
            })
        })
    }

    fn commit<T>(&self, work: impl FnOnce(&Ledger<'_>, &mut dyn Rows) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let mut txn = self.db.begin_write()?;
        txn.set_durability(self.mode.durability)?;
        txn.set_quick_repair(self.mode.quick_repair);
        let ledger = self.ledger();
        let mut rows = rows_of(&txn, self.layout.tables, self.layout.put, self.layout.keep_open);
        let answer = work(&ledger, &mut *rows)?;
        rewrite_counters(&mut *rows, self.next)?;
        drop(rows);
        txn.commit()?;
        Ok(answer)
    }
}
