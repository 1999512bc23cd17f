//! P2 under kills: four processes on one ledger, one of them killed again and again.

use super::diary::{self, Event};
use super::worker::{DIARY, SEED as WORKER_SEED, open};
use super::{judge, start};
use keyledger::Ledger;
use keyledger_harness::settings;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const WORKERS: usize = 4;
const KILL_EVERY: Duration = Duration::from_millis(200);

/// What repeats a run, as far as kills can be repeated.
const SEED: &str = "KEYLEDGER_SEED";
/// How long; `cargo xtask soak` says a minute.
const SECONDS: &str = "KEYLEDGER_KILL_SECONDS";

struct Crowd {
    folder: PathBuf,
    workers: Vec<Child>,
    started: u64,
}

impl Crowd {
    fn file(&self) -> PathBuf {
        self.folder.join("ledger")
    }

    fn start_worker(&mut self, seed: u64) -> Child {
        self.started += 1;
        let diary = self.folder.join(format!("diary-{}", self.started));
        let orders = [(WORKER_SEED, (seed + self.started).to_string().into()), (DIARY, diary.into())];
        start("worker", &self.file(), &orders, Stdio::null())
    }

    fn kill(&mut self, at: usize) {
        let worker = &mut self.workers[at];
        if let Some(status) = worker.try_wait().expect("a worker can be asked") {
            panic!("a worker ended by itself: {status}");
        }
        worker.kill().expect("a worker can be killed");
        worker.wait().expect("a killed worker ends");
    }

    fn events(&self) -> Vec<Event> {
        (1..=self.started).flat_map(|number| diary::read(&self.folder.join(format!("diary-{number}")))).collect()
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}

#[test]
fn p2_of_four_processes_that_are_killed_again_and_again_nothing_is_lost_or_done_twice() {
    let seconds = settings::number(SECONDS).unwrap_or(5);
    let seed = settings::number(SEED).unwrap_or_else(|| fastrand::u64(..1 << 40));
    println!("{SEED}={seed} {SECONDS}={seconds}");
    let folder = tempfile::tempdir().expect("a folder");
    let mut crowd = Crowd { folder: folder.path().to_owned(), workers: Vec::new(), started: 0 };
    for _ in 0..WORKERS {
        let worker = crowd.start_worker(seed);
        crowd.workers.push(worker);
    }
    let mut random = fastrand::Rng::with_seed(seed);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut kills = 0;
    while Instant::now() < end {
        std::thread::sleep(KILL_EVERY);
        let at = random.usize(..WORKERS);
        crowd.kill(at);
        kills += 1;
        if kills % 10 == 0 {
            check_beside(&crowd.file());
        }
        crowd.workers[at] = crowd.start_worker(seed);
    }
    (0..WORKERS).for_each(|at| crowd.kill(at));
    check_alone(&crowd.file());
    let events = crowd.events();
    let claims = judge::one_claim_at_a_time(&events);
    let completed = judge::nothing_is_lost(&open(&crowd.file()), &events);
    println!("{kills} kills, {claims} claims, {completed} keys completed");
    assert!(claims > 2 * kills && completed > 0, "{kills} kills, {claims} claims, {completed} completed");
}

/// A process that joins the others, checks the file, and leaves again.
fn check_beside(file: &Path) {
    check(&open(file));
}

/// Whoever opens it for itself finds it whole.
fn check_alone(file: &Path) {
    check(&Ledger::open(file).expect("the ledger opens"));
}

fn check(ledger: &Ledger) {
    let found = ledger.check().expect("the whole file is read");
    assert!(found.is_well(), "{found:?}");
    ledger.close().expect("the ledger closes");
}
