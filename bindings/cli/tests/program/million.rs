//! A million records: a page in under a second, in memory that does not grow; an export that streams.

use super::stage::Stage;
use keyledger::{Begin, Claim, Decision, Error, Fingerprint, Key, Ledger, Operation, Response, Scope};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

static CHARGE: Operation = Operation::in_ledger("charge");
static MAIL: Operation = Operation::at_most_once("mail").lease(Duration::from_millis(1));

const RECORDS: usize = 1_000_000;
const BATCH: usize = 20_000;
/// What a process may have in memory at its height. The pages' cache alone is 64 MiB.
const MEMORY_KIB_MAX: u64 = 256 * 1024;

fn claims(ledger: &Ledger, operation: &Operation, numbers: std::ops::Range<usize>) -> Vec<Claim> {
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

/// A million completed records, and one whose owner is lost.
fn filled() -> Stage {
    let stage = Stage::empty();
    let ledger = stage.open();
    std::mem::forget(claims(&ledger, &MAIL, 0..1));
    for start in (1..RECORDS).step_by(BATCH) {
        let claims = claims(&ledger, &CHARGE, start..(start + BATCH).min(RECORDS));
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

#[test]
fn a_million_records_are_listed_in_a_second_and_exported_in_a_stream() {
    let began = Instant::now();
    let stage = filled();
    println!("{RECORDS} records in {:.1?}", began.elapsed());

    // The first opening moves what is in the log.
    stage.answer(&["stats"]);
    let began = Instant::now();
    let page = stage.json(&["list", "--limit", "50"]);
    let took = began.elapsed();
    println!("list: {took:.1?}");
    assert_eq!(page["records"][0]["operation"], "mail", "what waits for a person comes first");
    assert_eq!(page["records"].as_array().expect("records").len(), 50);
    assert!(took < Duration::from_secs(1), "{took:?}");

    let mut export = stage.command(&["export"]).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(export.stdout.take().expect("a pipe"));
    let (mut line, mut count, mut most) = (String::new(), 0_usize, 0);
    while lines.read_line(&mut line).expect("a line") > 0 {
        count += 1;
        if count.is_multiple_of(RECORDS / 10) {
            most = memory_kib(export.id()).unwrap_or_default().max(most);
        }
        line.clear();
    }
    assert!(export.wait().expect("it ends").success());
    assert_eq!(count, RECORDS);
    println!("export: at most {most} KiB in memory");
    assert!(most < MEMORY_KIB_MAX, "{most} KiB");
}
