//! Restarts, clocks, lanes that are declared otherwise, sweeps.

use std::time::Duration;

use keyledger::{Clock, DeliveryOutcome, Enqueue, EntryStateName, Error, Lane, Response};

use crate::stage::{START_MS, Stage};

#[test]
fn o2_key_and_request_are_the_same_bytes_on_every_try_and_after_a_restart() {
    let stage = Stage::new();
    let request: Vec<u8> = (0..=255).collect();
    let key = {
        let enqueue = Enqueue::new(&stage.scope, "pay", "application/octet-stream", request.clone());
        stage.outbox.enqueue(&enqueue).unwrap().entry.key().clone()
    };
    let mut stage = stage;
    for _ in 0..3 {
        let delivery = stage.lease_one();
        assert_eq!((delivery.key(), delivery.request()), (&key, request.as_slice()));
        delivery.settle(DeliveryOutcome::retry("timeout")).unwrap();
        stage.pass(Duration::from_mins(10));
        stage = Stage::on(keyledger_harness::disk::FakeDisk::of(stage.disk.shown()), stage.clock.clone());
    }
}

#[test]
fn a_dropped_delivery_is_due_after_its_backoff_and_counts_as_in_doubt() {
    let stage = Stage::new();
    let id = stage.outbox.enqueue(&stage.request("pay")).unwrap().entry.id();
    drop(stage.lease_one());
    // Whoever asks is told to come at once, for the drop is not on disk yet.
    assert_eq!(stage.outbox.next_wakeup(&stage.scope).unwrap(), Some(START_MS));
    assert!(stage.outbox.lease_due(&stage.scope, 1).unwrap().is_empty());
    let entry = stage.outbox.get(id).unwrap().unwrap();
    assert_eq!((entry.state(), entry.may_have_taken_effect(), entry.tries()), (EntryStateName::Pending, true, 1));
    assert!(entry.due_at_ms().unwrap() <= START_MS + 1000, "the backoff of the first try, not the lease");
    assert!(!stage.outbox.cancel(id).unwrap().is_cancelled());
}

#[test]
fn o6_the_wall_clock_moves_no_due_time_while_the_process_runs() {
    for jump_ms in [-86_400_000, 86_400_000] {
        let stage = Stage::new();
        stage.outbox.enqueue(&stage.request("pay")).unwrap();
        stage.lease_one().settle(DeliveryOutcome::retry("timeout").not_before(Duration::from_secs(100))).unwrap();
        stage.clock.jump_wall(jump_ms);
        let now = stage.clock.wall_ms();
        assert_eq!(stage.outbox.next_wakeup(&stage.scope).unwrap(), Some(now + 100_000), "{jump_ms}");
        assert!(stage.outbox.lease_due(&stage.scope, 1).unwrap().is_empty(), "no burst after {jump_ms}");
        stage.pass(Duration::from_secs(100));
        assert_eq!(stage.outbox.lease_due(&stage.scope, 1).unwrap().len(), 1, "no stall after {jump_ms}");
    }
}

#[test]
fn o4_a_lane_that_is_declared_otherwise_takes_its_entries_along() {
    let stage = Stage::new();
    let unordered = stage.ledger.outbox().lane(Lane::unordered("transfers")).open().unwrap();
    for purpose in ["one", "two", "three"] {
        unordered.enqueue(&stage.request(purpose).lane("transfers")).unwrap();
    }
    let ordered = stage.ledger.outbox().lane(Lane::ordered("transfers")).open().unwrap();
    assert!(stage.ledger.check().unwrap().is_well());
    let due = ordered.lease_due(&stage.scope, 10).unwrap();
    assert_eq!(due.len(), 1, "one in flight");
    assert_eq!(due[0].entry().purpose(), Some("one"));
    drop(due);
    // Whoever declares nothing finds what was declared before.
    let later = stage.ledger.outbox().open().unwrap();
    assert!(later.enqueue(&stage.request("four").lane("transfers")).unwrap().created);
    let refused = later.enqueue(&stage.request("five").lane("elsewhere"));
    assert!(matches!(refused, Err(Error::InvalidArgument(_))), "{refused:?}");
}

#[test]
fn o13_a_sweep_removes_what_has_stayed_long_enough_and_nothing_else() {
    let stage = Stage::new();
    for purpose in ["answered", "pending"] {
        stage.outbox.enqueue(&stage.request(purpose)).unwrap();
    }
    stage.lease_one().settle(DeliveryOutcome::yes(Response::text("done"))).unwrap();
    stage.pass(Duration::from_hours(7 * 24) - Duration::from_millis(1));
    assert_eq!(stage.ledger.sweep(100).unwrap().entries_removed, 0);
    stage.pass(Duration::from_millis(1));
    assert_eq!(stage.ledger.sweep(100).unwrap().entries_removed, 1);
    assert!(stage.outbox.find(&stage.scope, "default", "answered").unwrap().is_none());
    assert!(stage.outbox.find(&stage.scope, "default", "pending").unwrap().is_some());
    assert!(stage.ledger.check().unwrap().is_well());
}

#[test]
fn p6_a_suspended_outbox_refuses_and_goes_on_after_resume() {
    let stage = Stage::new();
    stage.outbox.enqueue(&stage.request("pay")).unwrap();
    let delivery = stage.lease_one();
    stage.ledger.suspend().unwrap();
    let refused = delivery.settle(DeliveryOutcome::yes(Response::text("done"))).unwrap_err();
    assert!(matches!(refused.source, Error::Suspended));
    stage.ledger.resume().unwrap();
    refused.delivery.settle(DeliveryOutcome::yes(Response::text("done"))).unwrap();
}

#[test]
fn a_dropped_delivery_is_taken_back_though_the_first_commit_fails() {
    let stage = Stage::new();
    let id = stage.outbox.enqueue(&stage.request("pay")).unwrap().entry.id();
    drop(stage.lease_one());
    stage.disk.stop_at_sync(1);
    assert!(stage.outbox.lease_due(&stage.scope, 1).is_err());
    stage.disk.heal();
    stage.ledger.reopen().unwrap();
    stage.outbox.lease_due(&stage.scope, 1).unwrap();
    let entry = stage.outbox.get(id).unwrap().unwrap();
    assert_eq!(entry.state(), EntryStateName::Pending, "not only when its lease is over");
}

/// O6: what waits after so many tries without an answer, and for how long.
fn waiting_long(stage: &Stage, purpose: &str, outcome: &DeliveryOutcome) -> keyledger::EntryId {
    let id = stage.outbox.enqueue(&stage.request(purpose)).unwrap().entry.id();
    while stage.outbox.get(id).unwrap().unwrap().due_at_ms().is_none_or(|at| at < stage.now_ms() + 30_000) {
        stage.pass(Duration::from_mins(6));
        stage.lease_one().settle(outcome.clone()).unwrap();
        assert!(stage.outbox.get(id).unwrap().unwrap().tries() < 19, "its backoff never grew");
    }
    id
}

fn due_in_ms(stage: &Stage, id: keyledger::EntryId) -> u64 {
    stage.outbox.get(id).unwrap().unwrap().due_at_ms().unwrap().saturating_sub(stage.now_ms())
}

#[test]
fn o6_what_got_no_answer_is_tried_soon_when_the_network_is_back() {
    let stage = Stage::new();
    let id = waiting_long(&stage, "pay", &DeliveryOutcome::retry("no answer").unanswered());
    let others = keyledger::Scope::new("bob").unwrap();
    assert_eq!(stage.outbox.online(&others).unwrap(), 0);
    assert_eq!(stage.outbox.online(&stage.scope).unwrap(), 1);
    assert!(due_in_ms(&stage, id) <= 1000, "within the wait after a first try");
    assert_eq!(stage.outbox.next_wakeup(&stage.scope).unwrap(), Some(stage.now_ms() + due_in_ms(&stage, id)));
    stage.pass(Duration::from_secs(1));
    stage.lease_one().settle(DeliveryOutcome::yes(Response::text("done"))).unwrap();
    assert_eq!(stage.outbox.online(&stage.scope).unwrap(), 0);
}

#[test]
fn o6_what_a_server_has_answered_waits_whether_or_not_the_network_is_back() {
    let answers = [
        DeliveryOutcome::retry("the server answered 503"),
        DeliveryOutcome::retry("busy").unanswered().not_before(Duration::from_secs(100)),
    ];
    for answer in answers {
        let stage = Stage::new();
        let id = waiting_long(&stage, "pay", &answer);
        let before = due_in_ms(&stage, id);
        assert_eq!(stage.outbox.online(&stage.scope).unwrap(), 0);
        assert_eq!(due_in_ms(&stage, id), before);
    }
}

#[test]
fn o6_a_network_that_comes_and_goes_uses_up_no_tries() {
    let no_answer = DeliveryOutcome::retry("no answer").unanswered();
    // Brought forward once, and without an answer again. Its next wait is drawn from minutes: a long one comes.
    let (stage, id) = loop {
        let stage = Stage::new();
        let id = waiting_long(&stage, "pay", &no_answer);
        assert_eq!(stage.outbox.online(&stage.scope).unwrap(), 1);
        stage.pass(Duration::from_secs(1));
        stage.lease_one().settle(no_answer.clone()).unwrap();
        if due_in_ms(&stage, id) > 20_000 {
            break (stage, id);
        }
    };
    let tries = || stage.outbox.get(id).unwrap().unwrap().tries();
    let before = tries();
    for _ in 0..10 {
        assert_eq!(stage.outbox.online(&stage.scope).unwrap(), 0);
        stage.pass(Duration::from_secs(1));
        assert!(stage.outbox.lease_due(&stage.scope, 1).unwrap().is_empty());
    }
    assert_eq!(tries(), before);
}
