//! What a person does about entries (contract section 9).

use super::stage::Stage;
use keyledger::{DeliveryOutcome, Enqueue, Response, Scope};

/// A ledger with an entry in each of the states that a person meets; they are named by their purposes.
fn stage() -> Stage {
    let stage = Stage::empty();
    let ledger = stage.open();
    let outbox = ledger.outbox().open().expect("an outbox");
    let user = Scope::new("user-17").expect("a scope");
    let outcomes = [
        ("answered", DeliveryOutcome::yes(Response::text("charged"))),
        ("dead", DeliveryOutcome::dead("no such host")),
        ("unknown", DeliveryOutcome::unknown("the server does not know")),
        ("held", DeliveryOutcome::hold_entry("403")),
    ];
    for (purpose, outcome) in outcomes {
        let request = "POST /v1/charges HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{\"cents\":1999}";
        let pay = Enqueue::new(&user, "POST /v1/charges", "application/http", request).purpose(purpose);
        outbox.enqueue(&pay).expect("it is enqueued");
        let mut due = outbox.lease_due(&user, 1).expect("deliveries");
        due.pop().expect("it is due").settle(outcome).expect("it is settled");
    }
    outbox
        .enqueue(&Enqueue::new(&user, "POST /v1/charges", "text/plain", "later").purpose("pending"))
        .expect("one more");
    ledger.close().expect("it closes");
    stage
}

fn id(stage: &Stage, purpose: &str) -> String {
    let listed = stage.json(&["outbox", "list"]);
    let mut entries = listed["entries"].as_array().expect("entries").iter();
    entries.find(|entry| entry["purpose"] == purpose).expect("the entry")["id"].to_string()
}

#[test]
fn entries_are_listed_and_shown_with_what_is_needed_to_decide() {
    let stage = stage();
    let listed = stage.answer(&["outbox", "list"]);
    for needed in ["dead: no such host", "unknown: the server does not know", "held: 403", "answered: yes", "pending"] {
        assert!(listed.contains(needed), "{needed}: {listed}");
    }
    assert_eq!(stage.json(&["outbox", "list", "--state", "dead"])["entries"].as_array().expect("entries").len(), 1);
    let shown = stage.answer(&["outbox", "show", &id(&stage, "unknown")]);
    for needed in ["POST /v1/charges HTTP/1.1", "\"cents\": 1999", "a try may have taken effect"] {
        assert!(shown.contains(needed), "{needed}: {shown}");
    }
    assert_eq!(stage.run(&["outbox", "show", "4711"]).exit, Some(3));
    assert!(stage.answer(&["stats"]).contains("1 unknown, 1 held, 1 dead, 1 pending, 1 answered"));
}

#[test]
fn each_decision_is_taken_once_it_is_allowed_and_refused_where_it_is_not() {
    let stage = stage();
    let person = ["--who", "ann", "--note", "the bank has no such charge", "--yes"];
    let [dead, unknown, held, pending, answered] =
        ["dead", "unknown", "held", "pending", "answered"].map(|purpose| id(&stage, purpose));
    assert_eq!(stage.json(&["outbox", "requeue", &dead, "--yes"])["state"], "pending");
    assert_eq!(stage.json(&["outbox", "resume", &held, "--yes"])["state"], "pending");
    assert_eq!(stage.json(&["outbox", "resume", "--scope", "user-17", "--yes"])["lanes"], 0);
    assert_eq!(stage.json(&["outbox", "cancel", &pending, "--yes"])["cancelled"], true);
    assert_eq!(stage.run(&["outbox", "cancel", &answered, "--yes"]).exit, Some(1), "too late");
    let successor = stage.json(&[&["outbox", "resend", &unknown], &person[..]].concat());
    assert_eq!(successor["purpose"], "unknown");
    let old = stage.json(&["outbox", "show", &unknown]);
    assert_eq!((&old["state"], &old["successor"]), (&"dead".into(), &successor["id"]));
    assert_eq!(old["audit"][0]["who"], "ann");
    assert_eq!(stage.run(&[&["outbox", "dismiss", &answered], &person[..]].concat()).exit, Some(4));
    assert_eq!(stage.run(&["outbox", "requeue", &answered]).exit, Some(11), "it is not done unasked");
}

#[test]
fn what_is_held_with_its_lane_is_due_again_once_its_scope_is_resumed() {
    let stage = Stage::empty();
    let ledger = stage.open();
    let outbox = ledger.outbox().open().expect("an outbox");
    let scopes = ["user-17", "user-18"].map(|scope| Scope::new(scope).expect("a scope"));
    for scope in &scopes {
        outbox.enqueue(&Enqueue::new(scope, "pay", "text/plain", "1999").purpose(scope.as_str())).expect("enqueued");
        let mut due = outbox.lease_due(scope, 1).expect("deliveries");
        due.pop().expect("it is due").settle(DeliveryOutcome::hold_lane("401")).expect("it is settled");
    }
    ledger.close().expect("it closes");
    let held = id(&stage, "user-17");
    assert!(stage.answer(&["outbox", "show", &held]).contains("with its lane: resume --scope"));
    assert_eq!(stage.run(&["outbox", "resume", "--scope", "user-17"]).exit, Some(11), "it is not done unasked");
    let resumed = stage.json(&["outbox", "resume", "--scope", "user-17", "--yes"]);
    assert_eq!((&resumed["lanes"], &resumed["entries"]), (&1.into(), &1.into()));
    assert_eq!(stage.json(&["outbox", "show", &held])["state"], "pending");
    let other = id(&stage, "user-18");
    assert_eq!(stage.json(&["outbox", "show", &other])["state"], "held", "another's stays held");
}

#[test]
fn a_dead_entry_is_given_up_by_a_person() {
    let stage = stage();
    let dead = id(&stage, "dead");
    stage.answer(&["outbox", "dismiss", &dead, "--who", "ann", "--note", "the host is gone", "--yes"]);
    assert_eq!(stage.json(&["outbox", "show", &dead])["reason"], "dismissed");
    assert_eq!(stage.answer(&["export"]).lines().count(), 5);
}
