//! An operator's walk: a handler dies, somebody finds out what happened, and says so (contract section 4).

use super::stage::{MAIL, Stage, begin, claim};
use keyledger::{Decision, Ledger, Response};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CHILD: &str = "KEYLEDGER_CLI_TEST_HANDLER";

/// The process that dies: this program once more, with a claim in its hands.
#[test]
fn a_handler_that_waits_to_be_killed() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let ledger = Ledger::open(&path).expect("a ledger");
    claim(&ledger, &super::stage::CHARGE, "user-1", "other").complete(Response::text("done")).expect("it completes");
    std::mem::forget(claim(&ledger, &MAIL, "user-17", "welcome"));
    std::fs::write(std::path::Path::new(&path).with_extension("began"), "").expect("a mark");
    std::thread::sleep(Duration::from_mins(1));
}

/// Leaves a ledger behind as a handler that was killed does.
fn killed_in_its_handler(stage: &Stage) {
    let mut handler = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "walk::a_handler_that_waits_to_be_killed"])
        .env(CHILD, &stage.file)
        .stdout(Stdio::null())
        .spawn()
        .expect("a process");
    let (mark, start) = (stage.file.with_extension("began"), Instant::now());
    while !mark.exists() {
        assert!(start.elapsed() < Duration::from_mins(1), "the handler did not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    handler.kill().expect("it is killed");
    handler.wait().expect("it is over");
    std::thread::sleep(Duration::from_millis(5));
}

#[test]
fn a_lost_mail_is_seen_first_decided_by_a_person_and_sent_by_the_next_that_asks() {
    let stage = Stage::empty();
    killed_in_its_handler(&stage);
    let id = ["user-17", "mail", "welcome"];

    let listed = stage.json(&["list"]);
    assert_eq!(listed["records"][0]["key"], "welcome");
    assert_eq!(listed["records"][0]["needs_decision"], true);

    let shown = stage.answer(&["show", id[0], id[1], id[2]]);
    for needed in ["owner lost", "at most once", "order 1034", "lease ended", "--not-done"] {
        assert!(shown.contains(needed), "{needed}: {shown}");
    }
    let fence = stage.json(&["show", id[0], id[1], id[2]])["fence"].to_string();

    let person = ["--who", "ann@example.com", "--note", "the mail server's log has no such mail"];
    let resolve = [&["resolve", id[0], id[1], id[2], "--not-done", "--fence", &fence, "--yes"], &person[..]].concat();
    assert_eq!(stage.json(&resolve)["state"], "released");
    let unseen = [&["resolve", id[0], id[1], id[2], "--not-done", "--fence", "1", "--yes"], &person[..]].concat();
    assert_eq!(stage.run(&unseen).exit, Some(4), "another fence was not looked at");

    let ledger = stage.open();
    match begin(&ledger, &MAIL, id[0], id[2]) {
        Decision::Acquired(claim) => claim.complete(Response::text("sent")).expect("it completes"),
        other => panic!("the next one runs it: {other:?}"),
    }
    ledger.close().expect("it closes");
    let audit = stage.json(&["show", id[0], id[1], id[2]])["audit"].clone();
    assert_eq!(audit[0]["who"], "ann@example.com");
    assert_eq!(audit[0]["note"], "the mail server's log has no such mail");
    assert_eq!(audit[0]["outcome"], "not_done");
}

#[test]
fn what_happened_after_all_is_told_to_everyone_who_asks_again() {
    let stage = Stage::empty();
    killed_in_its_handler(&stage);
    let answer = stage.write("answer.json", br#"{"sent":true}"#);
    stage.answer(&[
        "resolve",
        "user-17",
        "mail",
        "welcome",
        "--completed",
        &answer,
        "--who",
        "ann",
        "--note",
        "in the log",
        "--yes",
    ]);
    match begin(&stage.open(), &MAIL, "user-17", "welcome") {
        Decision::Replay(replay) => {
            assert_eq!(replay.response.stored_bytes(), Some(&br#"{"sent":true}"#[..]));
            assert_eq!(replay.response.media_type(), "application/json");
        }
        other => panic!("it is answered: {other:?}"),
    }
}

#[test]
fn a_final_no_is_told_to_everyone_who_asks_again() {
    let stage = Stage::empty();
    killed_in_its_handler(&stage);
    let answer = stage.write("no.http", b"HTTP/1.1 410 \r\nContent-Type: text/plain\r\n\r\nthe address is gone");
    let person = ["--who", "ann", "--note", "the address is gone", "--yes"];
    let resolve = [&["resolve", "user-17", "mail", "welcome", "--failed", &answer], &person[..]].concat();
    assert_eq!(stage.json(&resolve)["state"], "failed");
    assert_eq!(stage.json(&resolve)["state"], "failed", "the same once more is ok");
    let completed = [&["resolve", "user-17", "mail", "welcome", "--completed", &answer], &person[..]].concat();
    assert_eq!(stage.run(&completed).exit, Some(4), "it is decided");
    let missing = [&["resolve", "user-17", "mail", "welcome", "--failed", "nowhere"], &person[..]].concat();
    assert_eq!(stage.run(&missing).exit, Some(3));
    let shown = stage.answer(&["show", "user-17", "mail", "welcome"]);
    assert!(shown.contains("the address is gone") && shown.contains("410"), "{shown}");
    match begin(&stage.open(), &MAIL, "user-17", "welcome") {
        Decision::Replay(replay) => {
            assert_eq!(replay.outcome, keyledger::Outcome::Failed);
            assert_eq!(replay.response.media_type(), "application/http");
        }
        other => panic!("it is answered: {other:?}"),
    }
}

#[test]
fn all_that_a_filter_lets_through_are_shown_and_resolved() {
    let stage = Stage::empty();
    let ledger = stage.open();
    for key in ["a", "b", "c"] {
        std::mem::forget(claim(&ledger, &MAIL, "user-17", key));
    }
    std::mem::forget(claim(&ledger, &MAIL, "user-18", "d"));
    std::thread::sleep(Duration::from_millis(5));
    ledger.close().expect("it closes");
    let resolve = ["resolve", "--all", "--scope", "user-17", "--not-done", "--who", "ann", "--note", "an outage"];
    let asked = stage.run(&resolve);
    assert_eq!(asked.exit, Some(11));
    assert!(asked.err.contains("3 records") && asked.out.contains("user-17"), "{asked:?}");
    assert_eq!(stage.json(&[&resolve[..], &["--yes"]].concat())["resolved"], 3);
    assert_eq!(stage.json(&["stats"])["records"]["parked"], 1);
}
