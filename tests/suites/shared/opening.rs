//! P2, P4, P5: who may open what beside whom, and who waits for whom across processes.

use super::start;
use super::worker::{key_of, open, operation, scope};
use keyledger::{Begin, Decision, Error, Fingerprint, KeyId, Ledger, Response};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const KEY: u64 = 1;

fn fingerprint() -> Fingerprint {
    Fingerprint::of_bytes(&[b"the same"])
}

/// Opens the file, claims a key of its own number, and says what became of it.
pub(crate) fn open_and_say(file: &Path) {
    let ledger = open(file);
    let number = u64::from(std::process::id()) * 3 + 1;
    match ledger.begin(&operation(number), &scope(), &key_of(number), fingerprint()).expect("a decision") {
        Decision::Acquired(claim) => claim.complete(Response::text("done")).expect("it completes"),
        other => panic!("{other:?}"),
    }
    println!("opened {number}");
    ledger.close().expect("the ledger closes");
}

/// Waits for the answer of a key that another process has claimed.
pub(crate) fn wait_for_answer(file: &Path) {
    let ledger = open(file);
    println!("waiting");
    std::io::stdout().flush().expect("stdout is read");
    let (scope, key, operation) = (scope(), key_of(KEY), operation(KEY));
    let begin = Begin::new(&operation, &scope, &key, fingerprint()).wait(Duration::from_secs(20));
    match ledger.begin_with(&begin).expect("a decision") {
        Decision::Replay(replay) => {
            println!("replayed {}", String::from_utf8_lossy(replay.response.stored_bytes().expect("it is short")));
        }
        other => println!("{other:?}"),
    }
}

#[test]
fn p5_twelve_processes_that_create_the_same_file_make_one_ledger() {
    for _ in 0..3 {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("ledger");
        let openers: Vec<_> = (0..12).map(|_| start("opener", &file, &[], Stdio::piped())).collect();
        let mut numbers = Vec::new();
        for opener in openers {
            let output = opener.wait_with_output().expect("an opener ends");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{text}");
            let said = text.lines().find_map(|line| line.split_once("opened ")).expect("an opener says its number");
            numbers.push(said.1.trim().parse::<u64>().expect("a number"));
        }
        let ledger = Ledger::open(&file).expect("the ledger opens");
        for number in numbers {
            let id = KeyId::new(scope(), operation(number).name(), key_of(number)).expect("a key id");
            assert!(ledger.inspect(&id).expect("it is read").is_some(), "what one of them stored is gone");
        }
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}

#[test]
fn p2_a_file_is_opened_in_one_way_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ledger");
    let mut waiting = shared_elsewhere(&file);
    assert!(matches!(Ledger::open(&file), Err(Error::AlreadyOpen)));
    waiting.kill().expect("it can be killed");
    waiting.wait().expect("it ends");
    let ledger = Ledger::open(&file).expect("nobody has it any more");
    let opener = start("opener", &file, &[], Stdio::piped()).wait_with_output().expect("it ends");
    assert!(!opener.status.success(), "somebody else shares what is mine alone");
    ledger.close().expect("it closes");
}

/// A process that has the file open, and has said so.
fn shared_elsewhere(file: &Path) -> std::process::Child {
    let ledger = open(file);
    let claim = match ledger.begin(&operation(KEY), &scope(), &key_of(KEY), fingerprint()).expect("a decision") {
        Decision::Acquired(claim) => claim,
        other => panic!("{other:?}"),
    };
    let mut child = start("duplicate", file, &[], Stdio::piped());
    let mut line = String::new();
    let mut lines = BufReader::new(child.stdout.as_mut().expect("it has one"));
    while !line.contains("waiting") {
        line.clear();
        assert!(lines.read_line(&mut line).expect("it speaks") > 0, "it ended before it opened");
    }
    drop(claim);
    ledger.close().expect("it closes");
    child
}

#[test]
fn p4_a_duplicate_in_another_process_is_told_soon_after_the_owner_settles() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ledger");
    let ledger = open(&file);
    // Not to end before its owner has its turn, however busy the machine is.
    let charge = operation(KEY).lease(Duration::from_secs(30));
    let claim = match ledger.begin(&charge, &scope(), &key_of(KEY), fingerprint()).expect("a decision") {
        Decision::Acquired(claim) => claim,
        other => panic!("{other:?}"),
    };
    let mut child = start("duplicate", &file, &[], Stdio::piped());
    let mut lines = BufReader::new(child.stdout.take().expect("it has one"));
    let mut line = String::new();
    while !line.contains("waiting") {
        line.clear();
        assert!(lines.read_line(&mut line).expect("it speaks") > 0, "it ended before it waited");
    }
    for _ in 0..4 {
        std::thread::sleep(Duration::from_millis(100));
        claim.heartbeat().expect("the claim goes on, and others see it");
    }
    claim.complete(Response::text("settled")).expect("it completes");
    let settled = Instant::now();
    let mut rest = String::new();
    lines.read_to_string(&mut rest).expect("it speaks");
    assert!(rest.contains("replayed settled"), "{rest}");
    assert!(settled.elapsed() < Duration::from_secs(5), "{:?}", settled.elapsed());
    child.wait().expect("it ends");
}
