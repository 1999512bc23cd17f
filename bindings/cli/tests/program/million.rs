//! A million records: a page in under a second, in memory that does not grow; an export that streams.

use super::stage::Stage;
use keyledger::{Begin, Claim, Decision, Error, Fingerprint, Key, Ledger, Operation, Response, Scope};
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::process::Stdio;
use std::time::{Duration, Instant};

static CHARGE: Operation = Operation::in_ledger("charge");
static TRANSFER: Operation = Operation::repeatable("transfer").lease(Duration::from_hours(1));
static MAIL: Operation = Operation::at_most_once("mail").lease(Duration::from_millis(1));

const RECORDS: usize = 1_000_000;
/// So many of them are in progress under leases that go on, of an opener that is gone.
const RUNNING: usize = RECORDS / 2;
const BATCH: usize = 100_000;
/// What a process may have in memory at its height. The pages' cache alone is 64 MiB.
const MEMORY_KIB_MAX: u64 = 160 * 1024;

fn claims(ledger: &Ledger, operation: &Operation, numbers: Range<usize>) -> Vec<Claim> {
    let ask = |number| {
        let key = Key::new(format!("key {number}")).expect("a key");
        Begin::new(operation, &Scope::single(), &key, Fingerprint::unchecked())
    };
    let asked: Vec<Begin> = numbers.map(ask).collect();
    let acquired = |decision| match decision {
        Decision::Acquired(claim) => claim,
        other => panic!("not granted: {other:?}"),
    };
    ledger.begin_many(&asked).expect("decisions").into_iter().map(acquired).collect()
}

fn in_batches(numbers: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    numbers.clone().step_by(BATCH).map(move |start| start..(start + BATCH).min(numbers.end))
}

/// A million records: one whose owner is lost, those in progress, and completed ones.
fn filled() -> Stage {
    let stage = Stage::empty();
    let ledger = stage.open();
    std::mem::forget(claims(&ledger, &MAIL, 0..1));
    for numbers in in_batches(1..RUNNING) {
        std::mem::forget(claims(&ledger, &TRANSFER, numbers));
    }
    for numbers in in_batches(RUNNING..RECORDS) {
        let claims = claims(&ledger, &CHARGE, numbers);
        let completed = ledger.transaction(|tx| {
            claims.iter().try_for_each(|claim| tx.complete(claim.key_id(), claim.fence(), Response::text("done")))
        });
        completed.unwrap_or_else(|error: Error| panic!("{error}"));
    }
    ledger.close().expect("it closes");
    stage
}

/// The most that a process that goes on has had in memory so far.
#[cfg(target_os = "linux")]
fn memory_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse().ok())
}

#[cfg(not(target_os = "linux"))]
fn memory_kib(_: u32) -> Option<u64> {
    None
}

/// A page that is full at once, and one that is full only behind half a million leases that go on.
fn lists_in_a_second(stage: &Stage) {
    for (arguments, first) in [(&["list", "--limit", "50"][..], "mail"), (&["list", "--state", "completed"], "charge")]
    {
        let began = Instant::now();
        let page = stage.json(arguments);
        let took = began.elapsed();
        println!("{arguments:?}: {took:.1?}");
        assert_eq!(page["records"][0]["operation"], first, "what waits for a person comes first");
        assert!(page["records"].as_array().expect("records").len() >= 50);
        assert!(took < Duration::from_secs(1), "{arguments:?}: {took:?}");
    }
}

/// How many lines a command writes, and what it had in memory at the most, in KiB.
fn streams(stage: &Stage, arguments: &[&str]) -> (usize, u64) {
    let mut running = stage.command(arguments).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(running.stdout.take().expect("a pipe"));
    let (mut line, mut count, mut most) = (Vec::new(), 0_usize, 0);
    while lines.read_until(b'\n', &mut line).expect("a line") > 0 {
        count += 1;
        if count.is_multiple_of(RECORDS / 100) {
            most = memory_kib(running.id()).unwrap_or_default().max(most);
        }
        line.clear();
    }
    assert!(running.wait().expect("it ends").success());
    (count, most)
}

#[test]
fn a_million_records_are_listed_in_a_second_and_exported_in_a_stream() {
    let began = Instant::now();
    let stage = filled();
    println!("{RECORDS} records in {:.1?}", began.elapsed());
    let began = Instant::now();
    // The first opening moves what is in the log.
    stage.answer(&["stats"]);
    println!("stats: {:.1?}", began.elapsed());
    lists_in_a_second(&stage);
    let began = Instant::now();
    let (count, most) = streams(&stage, &["export"]);
    println!("export: {:.1?}, at most {most} KiB in memory", began.elapsed());
    assert_eq!(count, RECORDS);
    assert!(most < MEMORY_KIB_MAX, "{most} KiB");
}
