//! A sweep and `stats` cost the same on a small ledger and on a large one (T2, T4).
//!
//! Both are filled and measured in one run, turn by turn, and only the ratio of the medians counts. A machine that is busy with
//! other things is given three rounds. The large one has a million records, which a debug build fills in a minute;
//! `KEYLEDGER_SCALE_RECORDS` in the environment makes it smaller for whoever cannot wait.

use std::path::Path;
use std::time::{Duration, Instant};

use keyledger::{Begin, Claim, Decision, Error, Fingerprint, Key, Ledger, ManualClock, Operation, Response, Scope};

const SMALL: usize = 10_000;
const LARGE: usize = 1_000_000;

/// How many records a sweep takes, and how many are completed in the same millisecond.
const SWEEP: usize = 1_000;

/// Measurements in each round. Three rounds of sweeps leave records in the small ledger.
const ROUNDS: usize = 3;
const SWEEPS: usize = 3;
const STATS: usize = 15;

const RATIO_MAX: f64 = 2.0;
const RETENTION: Duration = Duration::from_hours(1);

static TOP_UP: Operation = Operation::in_ledger("top-up").retention(RETENTION);

/// A ledger with so many completed records, all of which are due. What is due first lies all over the file.
fn filled(folder: &Path, records: usize) -> Ledger {
    let began = Instant::now();
    let clock = ManualClock::new(1_800_000_000_000);
    let path = folder.join(format!("{records}.kl"));
    let ledger = Ledger::builder().clock(clock.clone()).open(path).expect("a ledger");
    for start in (0..records).step_by(SWEEP) {
        complete(&ledger, start..start + SWEEP);
        clock.advance(Duration::from_millis(1));
    }
    clock.advance(RETENTION);
    println!("{records} records completed in {:.1?}", began.elapsed());
    ledger
}

/// Claims in memory, then their completions in one transaction: two calls for all of them.
fn complete(ledger: &Ledger, records: std::ops::Range<usize>) {
    let asked: Vec<Begin> = records.map(ask).collect();
    let claims: Vec<Claim> = ledger.begin_many(&asked).expect("decisions").into_iter().map(acquired).collect();
    let completed = ledger.transaction(|tx| {
        claims.iter().try_for_each(|claim| tx.complete(claim.key_id(), claim.fence(), Response::bytes([7; 100])))
    });
    completed.unwrap_or_else(|error: Error| panic!("{error}"));
    // They were settled by their ids; dropping them leaves nothing in memory, or the figures below would grow with it.
    drop(claims);
}

fn ask(number: usize) -> Begin {
    let key = Key::new(format!("top-up {number}")).expect("a key");
    Begin::new(&TOP_UP, &Scope::single(), &key, Fingerprint::of_bytes(&[b"20"]))
}

fn acquired(decision: Decision) -> Claim {
    match decision {
        Decision::Acquired(claim) => claim,
        other => panic!("not granted: {other:?}"),
    }
}

/// What the same call took on the two ledgers.
#[derive(Default)]
struct Pair {
    small: Vec<Duration>,
    large: Vec<Duration>,
}

impl Pair {
    /// Does it on both, one after the other, so that whatever else goes on in the machine meets both.
    fn measure(&mut self, ledgers: [&Ledger; 2], times: usize, call: impl Fn(&Ledger)) {
        for _ in 0..times {
            for (ledger, took) in ledgers.into_iter().zip([&mut self.small, &mut self.large]) {
                let began = Instant::now();
                call(ledger);
                took.push(began.elapsed());
            }
        }
    }

    /// How much more it took on the large one.
    fn ratio(&self, what: &str) -> f64 {
        let (small, large) = (median(&self.small), median(&self.large));
        let ratio = large.as_secs_f64() / small.as_secs_f64();
        println!("{what}: {small:.1?} on the small ledger, {large:.1?} on the large one, ratio {ratio:.2}");
        ratio
    }
}

fn median(took: &[Duration]) -> Duration {
    let mut took = took.to_vec();
    took.sort_unstable();
    took[took.len() / 2]
}

fn sweep(ledger: &Ledger) {
    assert_eq!(ledger.sweep(SWEEP).expect("a sweep").tombstoned, SWEEP as u64);
}

fn stats(ledger: &Ledger) {
    assert!(ledger.stats().expect("stats").completed > 0);
}

#[test]
fn t2_t4_a_sweep_of_1000_and_stats_take_the_same_on_10_000_and_on_a_million_records() {
    let asked = std::env::var("KEYLEDGER_SCALE_RECORDS").ok();
    let large = asked.map_or(LARGE, |records| records.parse().expect("a number of records"));
    let folder = tempfile::tempdir().expect("a folder");
    let ledgers = [&filled(folder.path(), SMALL), &filled(folder.path(), large)];
    let (mut sweeps, mut counts) = (Pair::default(), Pair::default());
    for _ in 0..ROUNDS {
        counts.measure(ledgers, STATS, stats);
        sweeps.measure(ledgers, SWEEPS, sweep);
        if sweeps.ratio("sweep") <= RATIO_MAX && counts.ratio("stats") <= RATIO_MAX {
            return;
        }
    }
    panic!("on {large} records they take more than {RATIO_MAX} times what they take on {SMALL}");
}
