//! A file that a live process holds: through its admin socket, or with a word about who holds it (P2).

use super::stage::{CHARGE, MAIL, Stage, claim};
use keyledger::{DeliveryOutcome, Enqueue, Ledger, Response, Scope};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::time::Duration;

fn open(stage: &Stage) -> Ledger {
    Ledger::builder().admin_socket().open(&stage.file).expect("a ledger")
}

#[test]
fn the_same_commands_work_on_a_live_ledger() {
    let stage = Stage::filled();
    let ledger = open(&stage);
    assert!(stage.answer(&["stats"]).contains("through the process that has it open"));
    assert_eq!(stage.json(&["list"])["records"][0]["needs_decision"], true);
    // Dropped here and now, its lease goes on by the clock: only the process that dropped it can tell (S2).
    drop(claim(&ledger, &keyledger::Operation::at_most_once("letter"), "user-17", "dropped"));
    assert_eq!(stage.json(&["list", "--limit", "1"])["records"][0]["key"], "dropped");
    let person = ["--who", "ann", "--note", "asked", "--yes"];
    let resolve = [&["resolve", "user-17", "letter", "dropped", "--not-done"], &person[..]].concat();
    assert_eq!(stage.json(&resolve)["state"], "released");
    assert_eq!(stage.json(&["check"])["fault_count"], 0);
    assert_eq!(stage.answer(&["export"]).lines().count(), 7);
    stage.answer(&["snapshot", "copy.kl"]);
    assert!(super::stage::is_well(&stage.beside("copy.kl")));
    stage.answer(&["sweep", "--yes"]);
    stage.answer(&["compact", "--even-with-claims", "--yes"]);
    assert_eq!(stage.run(&["show", "nobody", "letter", "x"]).exit, Some(3));
    assert_eq!(stage.run(&["restore", "copy.kl", "--yes"]).exit, Some(6), "a live file is not replaced");
    claim(&ledger, &CHARGE, "user-17", "after all").complete(Response::text("done")).expect("the program goes on");
}

#[test]
fn the_socket_is_its_owners_alone_and_goes_with_the_ledger() {
    let stage = Stage::empty();
    let socket = stage.beside("payments.kl.admin");
    for _ in 0..2 {
        let ledger = open(&stage);
        let metadata = socket.symlink_metadata().expect("a socket");
        assert!(metadata.file_type().is_socket());
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        ledger.suspend().expect("it is suspended");
        assert!(!socket.exists());
        ledger.resume().expect("it is back");
        assert!(stage.answer(&["stats"]).contains("through the process"));
        ledger.close().expect("it closes");
        assert!(!socket.exists());
    }
    drop(open(&stage));
    assert!(!socket.exists());
    drop(Ledger::open(&stage.file).expect("without one"));
    assert!(!socket.exists(), "nobody has a socket unasked");
}

#[test]
fn a_socket_that_was_left_is_replaced_and_what_is_no_socket_is_not() {
    let stage = Stage::empty();
    let socket = stage.beside("payments.kl.admin");
    drop(UnixListener::bind(&socket).expect("a socket"));
    let ledger = open(&stage);
    assert!(stage.answer(&["stats"]).contains("through the process"));
    ledger.close().expect("it closes");
    std::fs::write(&socket, "a letter").expect("a file");
    let refused = Ledger::builder().admin_socket().open(&stage.file).expect_err("it is not ours");
    assert_eq!(refused.code().as_str(), "unavailable");
    assert_eq!(std::fs::read_to_string(&socket).expect("it is there"), "a letter");
}

#[test]
fn a_socket_elsewhere_is_found_by_its_sign() {
    let (stage, elsewhere) = (Stage::empty(), tempfile::tempdir().expect("a folder"));
    let ledger = Ledger::builder().admin_socket_at(elsewhere.path().join("s")).open(&stage.file).expect("a ledger");
    assert!(stage.answer(&["stats"]).contains("through the process"));
    ledger.close().expect("it closes");
    assert!(stage.beside("payments.kl.admin").symlink_metadata().is_err());
}

#[test]
fn without_a_socket_the_error_tells_who_holds_the_file() {
    let stage = Stage::empty();
    let ledger = stage.open();
    let said = stage.run(&["stats"]);
    assert_eq!(said.exit, Some(6), "{said:?}");
    assert!(said.err.contains("admin_socket()"), "{said:?}");
    if cfg!(target_os = "linux") {
        assert!(said.err.contains(&format!("(process {})", std::process::id())), "{said:?}");
    }
    ledger.close().expect("it closes");
}

#[test]
fn entries_go_by_the_terms_that_the_program_opened_its_outbox_with() {
    let stage = Stage::empty();
    let ledger = open(&stage);
    let outbox = ledger.outbox().resend_window(Duration::from_millis(1)).open().expect("an outbox");
    let user = Scope::new("user-17").expect("a scope");
    outbox.enqueue(&Enqueue::new(&user, "pay", "text/plain", "1999")).expect("it is enqueued");
    let mut due = outbox.lease_due(&user, 1).expect("deliveries");
    due.pop().expect("it is due").settle(DeliveryOutcome::retry("nobody answered")).expect("it is settled");
    std::thread::sleep(Duration::from_millis(5));
    // By the defaults it could be sent again for 23 hours, and would not be for a person (O7).
    let dismissed = stage.json(&["outbox", "dismiss", "1", "--who", "ann", "--note", "too late", "--yes"]);
    assert_eq!(dismissed["state"], "dead", "{dismissed}");
}

/// In the place of a program's own socket: one that says so much of an answer and is gone.
fn dies_after(stage: &Stage, said: &'static str) -> std::thread::JoinHandle<()> {
    let listener = UnixListener::bind(stage.beside("payments.kl.admin")).expect("a socket");
    std::thread::spawn(move || {
        // The first only looks whether somebody is there.
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().expect("somebody asks");
            BufReader::new(&stream).read_line(&mut String::new()).expect("a line");
            let _ = stream.write_all(said.as_bytes());
        }
    })
}

#[test]
fn a_program_that_dies_in_mid_answer_is_told_and_whether_it_was_done_is_open() {
    let whole = "{\"ok\":{\"kind\":\"forgotten\",\"settled\":1";
    for (said, told) in [("", "it went away"), (whole, "in mid-answer"), ("what?\n", "did not answer")] {
        let stage = Stage::filled();
        let _ledger = stage.open();
        let gone = dies_after(&stage, said);
        let said = stage.run(&["forget", "user-17", "POST /v1/charges", "done", "--yes"]);
        assert_eq!(said.exit, Some(12), "{said:?}");
        assert!(said.err.contains(told) && said.err.contains("look before you ask again"), "{said:?}");
        assert!(said.out.is_empty(), "{said:?}");
        gone.join().expect("it is gone");
    }
}

#[test]
fn a_shared_ledger_is_opened_as_well() {
    let stage = Stage::filled();
    let ledger = Ledger::builder().shared().open(&stage.file).expect("a ledger");
    assert_eq!(stage.json(&["stats"])["records"]["completed"], 1);
    std::mem::forget(claim(&ledger, &MAIL, "user-17", "shared"));
    assert_eq!(stage.json(&["show", "user-17", "mail", "shared"])["attempt"], 1);
    let refused = Ledger::builder().shared().admin_socket().open(stage.beside("other.kl")).expect_err("no need");
    assert_eq!(refused.code().as_str(), "invalid_argument");
}

#[test]
fn watch_lets_a_file_go_between_looks_and_tells_rates() {
    let stage = Stage::filled();
    let looks = stage.answer(&["watch", "--every", "50ms", "--times", "3", "--json"]);
    let looks: Vec<serde_json::Value> = looks.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(looks.len(), 3);
    assert!(looks[0]["per_second"].is_null() && looks[2]["per_second"]["completed"] == 0.0, "{looks:?}");
}
