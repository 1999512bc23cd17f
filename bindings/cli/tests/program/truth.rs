//! What is said about a decision is true, and no note is lost in silence (contract sections 4 and 9).

use super::stage::{MAIL, Stage, claim};
use keyledger::{DeliveryOutcome, Enqueue, Lane, Scope};
use std::time::Duration;

const NEWSLETTER: [&str; 3] = ["user-18", "mail", "newsletter"];

pub(super) fn resolve<'a>(id: &[&'a str], how: &[&'a str], who: &'a str, note: &'a str) -> Vec<&'a str> {
    [&["resolve"], id, how, &["--who", who, "--note", note]].concat()
}

#[test]
fn a_second_person_is_told_that_it_is_decided_and_is_not_asked() {
    let stage = Stage::filled();
    stage.answer(&[&resolve(&NEWSLETTER, &["--not-done"], "ann", "not in the log")[..], &["--yes"]].concat());
    let again = [&resolve(&NEWSLETTER, &["--not-done"], "ann", "not in the log")[..], &["--yes"]].concat();
    assert_eq!(stage.json(&again)["state"], "released", "her own call once more is ok");
    for (who, note) in [("bob", "not in the log"), ("ann", "I looked again")] {
        let said = stage.run(&resolve(&NEWSLETTER, &["--not-done"], who, note));
        assert_eq!(said.exit, Some(4), "{said:?}");
        for needed in ["released since", "ann decided (not done: not in the log)", "nor your note"] {
            assert!(said.err.contains(needed), "{needed}: {said:?}");
        }
        assert!(!said.err.contains("RUNS IT AGAIN"), "{said:?}");
    }
    let audit = stage.json(&["show", "user-18", "mail", "newsletter"])["audit"].clone();
    assert_eq!(audit.as_array().expect("a trail").len(), 1, "{audit}");
}

#[test]
fn what_was_never_parked_is_told_as_what_it_is() {
    let stage = Stage::filled();
    let id = ["user-17", "POST /v1/charges", "done"];
    let said = stage.run(&resolve(&id, &["--not-done"], "ann", "why"));
    assert_eq!(said.exit, Some(4), "{said:?}");
    assert!(said.err.contains("it is completed since") && !said.err.contains("fence"), "{said:?}");
    let said = stage.run(&resolve(&["user-17", "POST /v1/charges", "running"], &["--not-done"], "ann", "why"));
    assert!(said.err.contains("it is in progress, not parked"), "{said:?}");
}

#[test]
fn a_released_record_is_not_said_to_be_answered() {
    let shown = Stage::filled().answer(&["show", "user-17", "POST /v1/charges", "put-off"]);
    assert!(shown.contains("the next one that asks runs it") && shown.contains("\nreleased  "), "{shown}");
    assert!(!shown.contains("answered until") && !shown.contains("settled"), "{shown}");
}

#[test]
fn nothing_to_resolve_is_no_table_and_no_tale() {
    let stage = Stage::filled();
    let said = stage.answer(&resolve(&["--all", "--scope", "nobody"], &["--not-done"], "ann", "why"));
    assert_eq!(said, "nothing is parked that this filter lets through\n");
    let all = [&resolve(&["--all"], &["--not-done"], "ann", "why")[..], &["--yes"]].concat();
    assert!(stage.answer(&all).ends_with("\n2 resolved\n"));
}

#[test]
fn what_show_gives_can_be_pasted_whatever_the_names_are() {
    let stage = Stage::empty();
    let ledger = stage.open();
    let names = ["welcome", "-dash", "it's $HOME", "ann\u{202e}nna", "\"both\" 'quotes'", "!bang \\"];
    for key in names {
        std::mem::forget(claim(&ledger, &MAIL, "user 17", key));
    }
    std::thread::sleep(Duration::from_millis(5));
    ledger.close().expect("it closes");
    for key in names {
        let shown = stage.answer(&["show", "--", "user 17", "mail", key]);
        let line = shown.lines().find(|line| line.contains("--not-done")).expect("a line to paste");
        let program = env!("CARGO_BIN_EXE_keyledger");
        let line = line.replacen("keyledger ", &format!("'{program}' "), 1).replace("--not-done", "--not-done --yes");
        let Some(mut bash) = keyledger_needs::program("bash", "bash") else { return };
        bash.args(["-c", &line]).current_dir(stage.folder.path()).env("LC_ALL", "C.UTF-8");
        let output = bash.output().expect("it runs");
        assert!(output.status.success(), "{key:?}: {line}: {output:?}");
        let now = stage.answer(&["show", "--", "user 17", "mail", key]);
        assert!(now.contains("the next one that asks runs it"), "{key:?}: {now}");
    }
}

#[test]
fn a_name_cannot_begin_another_line_or_turn_one_around() {
    let stage = Stage::empty();
    let ledger = stage.open();
    claim(&ledger, &MAIL, "user-17", "a\u{202e}b").park("no\ncompleted  user-17  mail  c").expect("it is parked");
    ledger.close().expect("it closes");
    let listed = stage.answer(&["list"]);
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.contains("a\\u{202e}b") && !listed.contains('\u{202e}'), "{listed}");
}

#[test]
fn a_record_is_found_by_its_key_alone_and_by_its_age() {
    let stage = Stage::filled();
    let count = |arguments: &[&str]| stage.json(&[&["list"], arguments].concat())["records"].as_array().map(Vec::len);
    assert_eq!(count(&["--key", "newsletter"]), Some(1));
    assert_eq!(count(&["--key", "nothing"]), Some(0));
    assert_eq!(count(&["--newer-than", "1h"]), Some(6));
    assert_eq!(count(&["--newer-than", "1ms"]), Some(0));
    assert_eq!(count(&["--older-than", "1h"]), Some(0));
}

#[test]
fn who_forgets_sees_by_the_exit_whether_it_is_forgotten() {
    let stage = Stage::filled();
    assert_eq!(stage.run(&["forget", "user-17", "mail", "nothing", "--yes"]).exit, Some(3));
    let said = stage.run(&["forget", "user-18", "mail", "newsletter", "--yes"]);
    assert_eq!(said.exit, Some(4), "{said:?}");
    assert!(said.err.contains("1 kept"), "{said:?}");
    assert_eq!(stage.run(&["forget-scope", "nobody", "--yes"]).exit, Some(3));
    assert_eq!(stage.run(&["forget-scope", "user-17", "--yes"]).exit, Some(4), "some are in progress");
    stage.answer(&["forget-scope", "user-17", "--even-if-unknown", "--yes"]);
    assert_eq!(stage.json(&["list", "--scope", "user-17"])["records"].as_array().map(Vec::len), Some(0));
}

#[test]
fn an_answer_that_nobody_would_be_told_is_refused_before_anything_is_asked() {
    let stage = Stage::filled();
    let long = stage.write("long.txt", &vec![b'a'; 2 << 20]);
    for answer in [long.as_str(), "/dev/zero"] {
        let said = stage.run(&resolve(&NEWSLETTER, &["--completed", answer], "ann", "why"));
        assert_eq!(said.exit, Some(5), "{said:?}");
    }
}

#[test]
fn a_record_whose_owner_is_lost_is_parked_in_every_look() {
    let stage = Stage::filled();
    let records = &stage.json(&["stats"])["records"];
    assert_eq!((&records["parked"], &records["in_progress"]), (&2.into(), &1.into()));
    let export = stage.answer(&["export"]);
    let export: Vec<serde_json::Value> = export.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for (state, keys) in [("parked", &["asked-the-bank", "newsletter"][..]), ("in_progress", &["running"])] {
        let listed = stage.json(&["list", "--state", state]);
        let of = |records: &mut dyn Iterator<Item = &serde_json::Value>| {
            let mut keys: Vec<String> =
                records.filter_map(|record| record["key"].as_str().map(str::to_owned)).collect();
            keys.sort();
            keys
        };
        let shown = listed["records"].as_array().expect("records");
        assert!(shown.iter().all(|record| record["state"] == state), "{shown:?}");
        assert_eq!(of(&mut shown.iter()), keys);
        assert_eq!(of(&mut export.iter().filter(|record| record["state"] == state)), keys);
    }
    let shown = stage.json(&[&["show"][..], &NEWSLETTER].concat());
    assert_eq!((&shown["state"], &shown["lapsed"]), (&"parked".into(), &true.into()), "{shown}");
    assert_eq!(
        (&shown["parked"]["reason"], &shown["parked"]["since_ms"]),
        (&"owner lost".into(), &shown["lease_end_ms"])
    );
    assert_eq!(stage.answer(&["list"]).matches("parked: owner lost ").count(), 1);
}

/// A ledger with dead entries of two lanes, and one whose outcome is unknown.
fn with_entries() -> Stage {
    let stage = Stage::empty();
    let ledger = stage.open();
    let lanes = ["bank", "post", "ask"].into_iter();
    let outbox = lanes.fold(ledger.outbox(), |outbox, lane| outbox.lane(Lane::unordered(lane)));
    let outbox = outbox.open().expect("an outbox");
    let user = Scope::new("user-17").expect("a scope");
    for (lane, outcome) in [
        ("bank", DeliveryOutcome::dead("no such host")),
        ("bank", DeliveryOutcome::dead("no such host")),
        ("post", DeliveryOutcome::dead("no such host")),
        ("ask", DeliveryOutcome::unknown("the server does not know")),
    ] {
        outbox.enqueue(&Enqueue::new(&user, "pay", "text/plain", "1999").lane(lane)).expect("it is enqueued");
        let mut due = outbox.lease_due(&user, 1).expect("deliveries");
        due.pop().expect("it is due").settle(outcome).expect("it is settled");
    }
    ledger.close().expect("it closes");
    stage
}

#[test]
fn many_entries_are_shown_and_changed_by_a_filter() {
    let stage = with_entries();
    let count = |state: &str| stage.json(&["stats"])["outbox"]["entries"][state].as_u64();
    let said = stage.run(&["outbox", "requeue", "--all", "--lane", "bank"]);
    assert_eq!(said.exit, Some(11), "{said:?}");
    assert!(said.err.contains("2 entries will be sent again") && said.out.contains("dead: no such host"), "{said:?}");
    let changed = stage.json(&["outbox", "requeue", "--all", "--lane", "bank", "--yes"]);
    assert_eq!((&changed["changed"], count("pending"), count("dead")), (&2.into(), Some(2), Some(1)));
    let cancelled = stage.json(&["outbox", "cancel", "--all", "--operation", "pay", "--yes"]);
    assert_eq!((&cancelled["changed"], count("cancelled"), count("unknown")), (&3.into(), Some(3), Some(1)));
    let dismiss = ["outbox", "dismiss", "--all", "--who", "ann", "--note", "the account is closed", "--yes"];
    assert_eq!(stage.json(&dismiss)["changed"], 1);
    let nothing = stage.answer(&dismiss);
    assert!(nothing.contains("there is no entry"), "{nothing}");
    assert_eq!(stage.json(&["outbox", "list", "--older-than", "1h"])["entries"].as_array().map(Vec::len), Some(0));
}

#[test]
fn an_entry_is_resent_by_one_person_and_the_next_is_told_of_it() {
    let stage = with_entries();
    let unknown = stage.json(&["outbox", "list", "--state", "unknown"])["entries"][0]["id"].to_string();
    let shown = stage.answer(&["outbox", "show", &unknown]);
    assert!(shown.contains(&format!("outbox resend {unknown} --who YOU")) && shown.contains("dismiss"), "{shown}");
    let by = |who| ["outbox", "resend", &*unknown, "--who", who, "--note", "the bank has no such charge", "--yes"];
    assert!(stage.answer(&by("ann")).contains(&format!("is in the place of entry {unknown}:")));
    let successor = stage.json(&["outbox", "show", &unknown])["successor"].to_string();
    assert_eq!(stage.json(&by("ann"))["id"].to_string(), successor, "her own call once more is ok");
    let said = stage.run(&by("bob"));
    assert_eq!(said.exit, Some(4), "{said:?}");
    assert!(
        said.err.contains("as ann decided") && said.err.contains(&format!("entry {successor} has its place")),
        "{said:?}"
    );
}
