//! What broke once: small stories that stay mended.

use std::time::Duration;

use keyledger::{
    Delivery, DeliveryOutcome, Enqueue, EntryFilter, EntryId, EntryResolution, EntryStateName, Error, Key, Lane,
    OnStuckHead, Outbox, Response,
};

use crate::stage::{START_MS, Stage};

const MINUTE: Duration = Duration::from_mins(1);

fn ordered(stage: &Stage, on_stuck_head: OnStuckHead) -> Outbox {
    stage.ledger.outbox().lane(Lane::ordered("line").on_stuck_head(on_stuck_head)).open().unwrap()
}

fn put(stage: &Stage, outbox: &Outbox, purpose: &str) -> EntryId {
    outbox.enqueue(&stage.request(purpose).lane("line")).unwrap().entry.id()
}

fn take(stage: &Stage, outbox: &Outbox) -> Delivery {
    outbox.lease_due(&stage.scope, 1).unwrap().pop().expect("something is due")
}

/// Nothing is due, and the next look is later than now.
fn nothing_is_due(stage: &Stage, outbox: &Outbox) {
    assert!(outbox.lease_due(&stage.scope, 9).unwrap().is_empty());
    assert!(outbox.next_wakeup(&stage.scope).unwrap().expect("something waits") > stage.now_ms(), "O11: it spins");
}

/// The lane has one that went by; `comes_back` puts the first before it again.
fn one_in_flight(first: DeliveryOutcome, comes_back: impl FnOnce(&Outbox, EntryId)) {
    let stage = Stage::new();
    let outbox = ordered(&stage, OnStuckHead::Skip);
    let (one, two) = (put(&stage, &outbox, "one"), put(&stage, &outbox, "two"));
    take(&stage, &outbox).settle(first).unwrap();
    let second = take(&stage, &outbox);
    assert_eq!(second.id(), two);
    comes_back(&outbox, one);
    nothing_is_due(&stage, &outbox);
    second.settle(DeliveryOutcome::yes(Response::text("two"))).unwrap();
    drop(take(&stage, &outbox));
    assert!(stage.ledger.check().unwrap().faults.is_empty());
}

#[test]
fn o4_an_entry_that_comes_back_to_its_place_waits_for_the_one_in_flight() {
    one_in_flight(DeliveryOutcome::dead("no such account"), |outbox, one| drop(outbox.requeue(one).unwrap()));
    one_in_flight(DeliveryOutcome::hold_entry("403"), |outbox, one| drop(outbox.resume_entry(one).unwrap()));
    one_in_flight(DeliveryOutcome::unknown("parked"), |outbox, one| {
        outbox.resolve(one, EntryResolution::Resend, "ada", "").unwrap();
    });
}

#[test]
fn o4_a_lane_that_is_declared_ordered_hands_out_its_first_when_what_is_out_is_back() {
    let stage = Stage::new();
    let outbox = stage.ledger.outbox().lane(Lane::unordered("line")).open().unwrap();
    let first = put(&stage, &outbox, "one");
    put(&stage, &outbox, "two");
    let (one, two) = (take(&stage, &outbox), take(&stage, &outbox));
    one.settle(DeliveryOutcome::retry("429").not_taken()).unwrap();
    stage.pass(Duration::from_secs(2));
    let outbox = ordered(&stage, OnStuckHead::Block);
    nothing_is_due(&stage, &outbox);
    two.settle(DeliveryOutcome::yes(Response::text("two"))).unwrap();
    assert_eq!(take(&stage, &outbox).id(), first);
}

#[test]
fn o4_a_handle_that_was_opened_before_a_lane_was_declared_otherwise_enqueues_as_it_is_declared_now() {
    let stage = Stage::new();
    let old = stage.ledger.outbox().lane(Lane::unordered("line")).open().unwrap();
    let new = ordered(&stage, OnStuckHead::Block);
    let first = put(&stage, &old, "one");
    put(&stage, &new, "two");
    put(&stage, &old, "three");
    let due = new.lease_due(&stage.scope, 9).unwrap();
    assert_eq!(due.iter().map(Delivery::id).collect::<Vec<_>>(), [first], "one in flight, first in first");
}

#[test]
fn o3_an_answer_speaks_for_its_purpose_though_a_newer_entry_was_cancelled() {
    let stage = Stage::new();
    let paid = stage.outbox.enqueue(&stage.request("pay")).unwrap().entry.id();
    stage.lease_one().settle(DeliveryOutcome::yes(Response::text("paid"))).unwrap();
    let again = stage.outbox.enqueue(&stage.request("pay").even_if_answered()).unwrap();
    assert!(again.created && stage.outbox.cancel(again.entry.id()).unwrap().is_cancelled());
    let pressed = stage.outbox.enqueue(&stage.request("pay")).unwrap();
    assert_eq!((pressed.created, pressed.entry.id()), (false, paid));
    assert_eq!(stage.outbox.find(&stage.scope, "default", "pay").unwrap().unwrap().id(), paid);
}

#[test]
fn o3_a_late_yes_of_a_superseded_entry_speaks_for_its_purpose_and_o7_its_successor_is_told_again() {
    let stage = Stage::new();
    let id = stage.outbox.enqueue(&stage.request("pay")).unwrap().entry.id();
    let late = stage.lease_one();
    stage.pass(Duration::from_hours(24));
    assert!(stage.outbox.lease_due(&stage.scope, 1).unwrap().is_empty());
    let successor = stage.outbox.resolve(id, EntryResolution::Resend, "ada", "").unwrap();
    late.settle(DeliveryOutcome::yes(Response::text("paid"))).unwrap();
    let again = stage.outbox.resolve(id, EntryResolution::Resend, "ada", "").unwrap();
    assert_eq!(again.id(), successor.id());
    assert!(stage.outbox.cancel(successor.id()).unwrap().is_cancelled());
    let pressed = stage.outbox.enqueue(&stage.request("pay")).unwrap();
    assert_eq!((pressed.created, pressed.entry.id()), (false, id), "it is paid");
}

#[test]
fn o3_a_press_after_send_by_makes_a_new_entry_though_nobody_has_looked_meanwhile() {
    let stage = Stage::new();
    let first = stage.outbox.enqueue(&stage.request("pay").send_by_ms(START_MS + 1000)).unwrap().entry;
    stage.pass(MINUTE);
    let pressed = stage.outbox.enqueue(&stage.request("pay")).unwrap();
    assert!(pressed.created, "what will certainly not be sent answers no purpose");
    assert_eq!(stage.outbox.get(first.id()).unwrap().unwrap().state(), EntryStateName::Cancelled);
    assert_eq!(stage.lease_one().id(), pressed.entry.id());
}

#[test]
fn o1_many_are_stored_together_or_not_at_all_and_a_swallowed_refusal_takes_nothing_along() {
    let stage = Stage::new();
    let key = Key::new("k").unwrap();
    let other = Enqueue::new(&stage.scope, "pay", "text/plain", "other").key(&key);
    let many = [stage.request("one").key(&key), stage.request("two"), other.clone()];
    assert!(stage.outbox.enqueue_many(&many).is_err());
    assert_eq!(stage.outbox.stats().unwrap().last_change, 0);
    stage
        .ledger
        .transaction(|tx| {
            tx.enqueue(&stage.outbox, &many[0])?;
            assert!(tx.enqueue(&stage.outbox, &other).is_err());
            tx.enqueue(&stage.outbox, &many[1]).map(drop)
        })
        .unwrap();
    assert_eq!(stage.outbox.list(&EntryFilter::all()).unwrap().entries.len(), 2);
    assert!(stage.ledger.check().unwrap().faults.is_empty());
}

#[test]
fn o11_a_budget_that_refills_at_once_is_never_empty() {
    let stage = Stage::new();
    let outbox = stage.ledger.outbox().retry_budget(1, Duration::ZERO).backoff(MINUTE, MINUTE, 1).open().unwrap();
    outbox.enqueue_many(&["one", "two", "three"].map(|purpose| stage.request(purpose))).unwrap();
    for delivery in outbox.lease_due(&stage.scope, 3).unwrap() {
        delivery.settle(DeliveryOutcome::retry("503")).unwrap();
    }
    stage.pass(MINUTE);
    let due = outbox.lease_due(&stage.scope, 9).unwrap();
    assert_eq!(due.len(), 3);
    nothing_is_due(&stage, &outbox);
}

#[test]
fn o7_a_window_in_which_nothing_can_be_sent_is_refused() {
    let stage = Stage::new();
    let refused = stage.ledger.outbox().resend_window(Duration::ZERO).open();
    assert!(matches!(refused, Err(Error::InvalidArgument(_))));
}

#[test]
fn o6_spans_at_their_extremes_overflow_nothing() {
    for vast in [Duration::MAX, Duration::from_millis(u64::MAX), Duration::from_millis(u64::MAX - START_MS)] {
        let stage = Stage::new();
        let settings = stage.ledger.outbox().backoff(vast, vast, u32::MAX).resend_window(vast).max_age(vast);
        let settings = settings.retention(vast).purpose_retention(vast).retry_after_max(vast);
        let outbox =
            settings.retry_budget(u32::MAX, vast).bounds(u64::MAX, u64::MAX).max_tries(u32::MAX).open().unwrap();
        for (number, send_by) in [0, 1, START_MS, START_MS + 1, u64::MAX - 1, u64::MAX].into_iter().enumerate() {
            outbox.enqueue(&stage.request(&number.to_string()).send_by_ms(send_by)).unwrap();
        }
        for outcome in [
            DeliveryOutcome::retry("503").not_before(vast).pausing_lane().key_expires_after(vast),
            DeliveryOutcome::retry("409").not_counted().key_expires_after(Duration::ZERO),
            DeliveryOutcome::yes(Response::text("done")).key_expires_after(vast),
        ] {
            for delivery in outbox.lease_due(&stage.scope, 1).unwrap() {
                delivery.settle(outcome.clone()).unwrap();
            }
            outbox.next_wakeup(&stage.scope).unwrap();
            outbox.stats().unwrap();
        }
        stage.clock.jump_wall(i64::MAX);
        stage.clock.jump_wall(i64::MAX);
        stage.clock.jump_wall(i64::MAX);
        outbox.next_wakeup(&stage.scope).unwrap();
        let stage = Stage::on(stage.disk.clone(), stage.clock.clone());
        drop(stage.outbox.lease_due(&stage.scope, 9).unwrap());
        stage.outbox.next_wakeup(&stage.scope).unwrap();
        assert!(stage.ledger.check().unwrap().faults.is_empty());
    }
}
