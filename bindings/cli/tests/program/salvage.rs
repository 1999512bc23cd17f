//! Damage in a part of a file does not hide the rest: what can be read is shown, and what cannot is told (I9).

use std::fs;

use keyledger::{Enqueue, Response, Scope};
use serde_json::Value;

use super::stage::{CHARGE, Said, Stage, claim};

const PAGE: usize = 4096;
const RECORDS: usize = 150;
const DAMAGED: i32 = 9;

/// A ledger of records with an answer each and two parked ones, and of entries; compacted. And its bytes.
fn ledger() -> (Stage, Vec<u8>) {
    let stage = Stage::empty();
    let ledger = stage.open();
    for number in 0..RECORDS {
        let claim = claim(&ledger, &CHARGE, "user-17", &format!("key {number}"));
        claim.complete(Response::text(format!("the answer {number:>300}"))).expect("it completes");
    }
    for number in 0..2 {
        claim(&ledger, &CHARGE, "user-18", &format!("parked {number}")).park("nobody knows").expect("it is parked");
    }
    let outbox = ledger.outbox().open().expect("an outbox");
    for number in 0..5 {
        let (scope, request) = (Scope::new("user-17").expect("a scope"), format!("request {number:>200}"));
        outbox.enqueue(&Enqueue::new(&scope, "send", "text/plain", request)).expect("it is enqueued");
    }
    ledger.close().expect("it closes");
    stage.answer(&["compact", "--yes"]);
    let bytes = fs::read(&stage.file).expect("the file");
    (stage, bytes)
}

/// Where `text` stands last.
fn place_of(bytes: &[u8], text: &str) -> usize {
    let found = bytes.windows(text.len()).rposition(|window| window == text.as_bytes());
    found.unwrap_or_else(|| panic!("{text} is in the file"))
}

fn damage(stage: &Stage, mut bytes: Vec<u8>, at: usize) {
    bytes[at] ^= 1;
    fs::write(&stage.file, bytes).expect("it is damaged");
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// How many lines there are of a kind.
fn count(lines: &[Value], kind: &str) -> usize {
    lines.iter().filter(|line| line["kind"] == kind).count()
}

fn ends_damaged(said: &Said) {
    assert_eq!(said.exit, Some(DAMAGED), "{said:?}");
    assert!(said.err.contains("restore a snapshot"), "it says what to do: {said:?}");
}

#[test]
fn one_damaged_answer_hides_no_other_record() {
    let (stage, bytes) = ledger();
    let at = place_of(&bytes, &format!("the answer {:>300}", 77));
    damage(&stage, bytes, at + 4);

    let said = stage.run(&["export"]);
    ends_damaged(&said);
    let exported = lines(&said.out);
    assert_eq!((count(&exported, "record"), count(&exported, "entry")), (RECORDS + 1, 5));
    assert!(said.err.contains("the record of user-17 / POST /v1/charges / key 77"), "{said:?}");
    assert!(said.err.contains("1 place ") && said.err.contains("151 of 152 records"), "{said:?}");

    let said = stage.run(&["export", "--json"]);
    let told = lines(&said.err);
    assert_eq!(told[0]["unreadable"]["id"]["key"], "key 77", "{told:?}");
    assert_eq!(told[1]["error"]["code"], "corrupt", "{told:?}");

    let said = stage.run(&["list", "--all"]);
    ends_damaged(&said);
    let shown = said.out.lines().filter(|line| line.contains("user-1")).count();
    assert_eq!(shown, RECORDS + 1, "{said:?}");
    assert!(said.err.contains("key 77"), "{said:?}");

    let said = stage.run(&["list", "--state", "parked", "--json"]);
    assert_eq!((said.exit, lines(&said.out)[0]["records"].as_array().map(Vec::len)), (Some(0), Some(2)), "{said:?}");
    assert_eq!(stage.run(&["show", "user-17", "POST /v1/charges", "key 77"]).exit, Some(9));
    assert_eq!(stage.run(&["show", "user-17", "POST /v1/charges", "key 78"]).exit, Some(0));
}

#[test]
fn a_check_counts_what_it_could_read_and_names_the_place() {
    let (stage, bytes) = ledger();
    let at = place_of(&bytes, &format!("the answer {:>300}", 77));
    damage(&stage, bytes, at + 4);
    let said = stage.run(&["check"]);
    assert_eq!(said.exit, Some(1), "{said:?}");
    assert!(said.out.starts_with("151 records, 0 rows of the program's own, 5 entries of the outbox could be read\n"));
    assert!(said.out.contains("the record of user-17 / POST /v1/charges / key 77 cannot be read"), "{said:?}");
    assert!(said.out.contains("151 of 152 records could be read"), "{said:?}");
    let told = lines(&stage.run(&["check", "--json"]).out);
    assert_eq!((&told[0]["records"], &told[0]["entries"]), (&151.into(), &5.into()), "{told:?}");
    assert!(told[0]["faults"][0].as_str().is_some_and(|fault| fault.contains("key 77")), "{told:?}");
}

#[test]
fn a_damaged_request_and_a_damaged_entry_hide_no_other_entry() {
    let (stage, bytes) = ledger();
    let at = place_of(&bytes, &format!("request {:>200}", 3));
    damage(&stage, bytes, at + 100);
    let said = stage.run(&["export"]);
    ends_damaged(&said);
    let exported = lines(&said.out);
    assert_eq!(
        (count(&exported, "record"), count(&exported, "entry")),
        (RECORDS + 2, 5),
        "an entry without its request"
    );
    assert!(said.err.contains("the request of entry 4"), "{said:?}");
    assert_eq!(stage.run(&["outbox", "list", "--all"]).exit, Some(0), "a list shows no requests");
}

/// Where in the file the rows of a page of records are that lie at its end: several of them.
fn rows_of_a_page(bytes: &[u8]) -> std::ops::Range<usize> {
    let answers = |at: &usize| bytes[*at..*at + PAGE].windows(10).filter(|window| *window == b"the answer").count();
    let mut pages = (PAGE + (2 << 20) + PAGE..bytes.len() - PAGE).step_by(PAGE).filter(|at| answers(at) > 6);
    let at = pages.nth(3).expect("a page of records");
    let end = bytes[at..at + PAGE].windows(10).rposition(|window| window == b"the answer").expect("an answer");
    at + end - 1200..at + end
}

#[test]
fn records_whose_names_are_gone_too_are_told_by_their_places() {
    let (stage, mut bytes) = ledger();
    let gone = rows_of_a_page(&bytes);
    bytes[gone].fill(0xAA);
    fs::write(&stage.file, &bytes).expect("it is damaged");
    let said = stage.run(&["export"]);
    ends_damaged(&said);
    let exported = count(&lines(&said.out), "record");
    assert!((RECORDS - 4..RECORDS + 1).contains(&exported), "{exported}: {}", said.err);
    assert!(said.err.contains("settled records: row ") && !said.err.contains('\u{fffd}'), "{said:?}");
    assert!(said.err.contains(&format!("{} places ", RECORDS + 2 - exported)), "{said:?}");
    let said = stage.run(&["check"]);
    assert!(said.out.starts_with(&format!("{exported} records")), "{said:?}");
    assert!(said.out.contains(&format!("{exported} of 152 records could be read")), "{said:?}");
}
