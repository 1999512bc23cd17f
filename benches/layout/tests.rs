//! That what is measured is done: every layout finds what it stored, and a sweep leaves what it should.

use crate::backend::Growth;
use crate::bench::{Bench, Setting};
use crate::choice::{LAYOUTS, Layout, Place, VARIANTS};
use crate::item::Item;
use crate::ops::Expired;
use crate::reads::read_once;

const SETTING: Setting = Setting { records: 300, body_bytes: 700, cache_bytes: 1 << 20, growth: Growth::Hole };

fn with_each_layout(test: impl Fn(Bench)) {
    for layout in LAYOUTS.iter().chain(VARIANTS) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut bench = Bench::open(*layout, &folder.path().join("ledger"), SETTING, 0).expect("a new file");
        bench.in_ledger(SETTING.records, 100).expect("records settled at once");
        bench.pairs(40, 20).expect("records begun and completed");
        test(bench);
    }
}

fn found(bench: &Bench, number: u64) -> Option<usize> {
    read_once(bench, &Item::numbered(number)).ok()
}

fn keeps_tombstones(layout: Layout) -> bool {
    layout.place != Place::Buckets
}

#[test]
fn every_layout_finds_each_record_with_its_body() {
    with_each_layout(|bench| {
        for number in [0, 150, SETTING.records - 1, SETTING.records, SETTING.records + 39] {
            let bytes = found(&bench, number);
            assert!(
                bytes.is_some_and(|bytes| bytes > SETTING.body_bytes),
                "{}: {number}: {bytes:?}",
                bench.layout.name
            );
        }
        assert_eq!(found(&bench, SETTING.records + 40), None, "{}", bench.layout.name);
    });
}

#[test]
fn an_id_is_begun_once() {
    with_each_layout(|bench| {
        let stored = [Item::numbered(7)];
        assert!(bench.begin(&stored).is_err(), "{}", bench.layout.name);
    });
}

#[test]
fn a_sweep_to_nothing_removes_the_oldest_and_no_other() {
    with_each_layout(|mut bench| {
        let Ok((_, moved)) = bench.sweep(10, Expired::Nothing) else { panic!("{}: no sweep", bench.layout.name) };
        if keeps_tombstones(bench.layout) {
            assert_eq!(moved, 10, "{}", bench.layout.name);
            assert_eq!(found(&bench, 9), None, "{}", bench.layout.name);
        }
        assert!(found(&bench, 10).is_some(), "{}", bench.layout.name);
    });
}

#[test]
fn a_sweep_to_tombstones_keeps_the_id_taken() {
    with_each_layout(|mut bench| {
        bench.sweep(10, Expired::Tombstone).expect("a sweep");
        let swept = [Item::numbered(0)];
        assert!(bench.begin(&swept).is_err(), "{}", bench.layout.name);
    });
}
