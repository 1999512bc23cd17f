//! What is sent, how many at once, in which order.

use std::time::Duration;

use keyledger::{DeliveryOutcome, EntryStateName, Lane, ManualClock};
use keyledger_harness::scripted::Answer;

use crate::stage::{Stage, a_moment, until};

fn retry() -> Answer {
    Answer::Tell(DeliveryOutcome::retry("timeout"))
}

#[test]
fn o1_what_is_enqueued_before_or_while_it_works_is_sent_once_with_its_key_and_bytes() {
    let stage = Stage::new();
    let before = stage.enqueue("before");
    let driver = stage.driver().start().unwrap();
    stage.answered(&before);
    a_moment();
    let after = stage.enqueue("after");
    stage.answered(&after);
    driver.stop().unwrap();
    assert_eq!(stage.sent(), ["before", "after"]);
    assert_eq!(stage.sends_of(&[before, after]), [1, 1]);
}

#[test]
fn as_many_are_in_flight_as_was_said_and_no_more() {
    let stage = Stage::new();
    let entries = stage.enqueue_all(20);
    stage.transport.block();
    let driver = stage.driver().in_flight(3).start().unwrap();
    stage.transport.wait_for_sends(3);
    a_moment();
    assert_eq!(stage.transport.in_flight(), 3);
    stage.transport.release();
    stage.all_answered(&entries);
    driver.stop().unwrap();
    assert_eq!(stage.transport.most_in_flight(), 3);
    assert_eq!(stage.sends_of(&entries), [1; 20]);
}

#[test]
fn o4_an_ordered_lane_has_one_in_flight_and_goes_in_order_while_the_others_go_on() {
    let stage = Stage::with(|outbox| outbox.lane(Lane::ordered("invoices")).backoff(Duration::ZERO, Duration::ZERO, 2));
    let invoices: Vec<_> = (0..6).map(|number| stage.enqueue_in("invoices", &format!("invoice {number}"))).collect();
    for invoice in [&invoices[0], &invoices[2]] {
        stage.transport.answer(invoice.key().as_str(), retry());
    }
    let others = stage.enqueue_all(6);
    let driver = stage.driver().in_flight(4).start().unwrap();
    stage.all_answered(invoices.iter().chain(&others));
    driver.stop().unwrap();
    assert_eq!(stage.transport.most_of_lane("invoices"), 1);
    let order: Vec<String> = stage.sent().into_iter().filter(|what| what.starts_with("invoice")).collect();
    let numbers: Vec<&str> = order.iter().filter_map(|what| what.split(' ').nth(1)).collect();
    assert_eq!(numbers, ["0", "0", "1", "2", "2", "3", "4", "5"]);
}

#[test]
fn o6_a_retry_waits_for_its_backoff_by_the_ledgers_clock() {
    let clock = ManualClock::new(1_000_000);
    let stage = Stage::by_clock(&clock, |outbox| {
        outbox.without_jitter().backoff(Duration::from_secs(10), Duration::from_mins(5), 2)
    });
    let entry = stage.enqueue("ten euros");
    stage.transport.answer(entry.key().as_str(), retry());
    let driver = stage.driver().start().unwrap();
    stage.transport.wait_for_sends(1);
    until("the try is settled", || stage.count(EntryStateName::Pending) == 1);
    clock.advance(Duration::from_millis(9_999));
    a_moment();
    assert_eq!(stage.sends_of(std::slice::from_ref(&entry)), [1]);
    clock.advance(Duration::from_millis(1));
    stage.answered(&entry);
    driver.stop().unwrap();
    assert_eq!(stage.sends_of(&[entry]), [2]);
}

#[test]
fn o6_a_pause_of_the_lane_holds_the_others_back_too() {
    let clock = ManualClock::new(1_000_000);
    let stage = Stage::by_clock(&clock, |outbox| outbox);
    let (first, second) = (stage.enqueue("first"), stage.enqueue("second"));
    let busy = DeliveryOutcome::retry("503").not_before(Duration::from_mins(1)).pausing_lane();
    stage.transport.answer(first.key().as_str(), Answer::Tell(busy));
    let driver = stage.driver().in_flight(1).start().unwrap();
    until("the first is back", || stage.outbox.stats().unwrap().lanes.len() == 1);
    a_moment();
    assert_eq!(stage.sent(), ["first"]);
    clock.advance(Duration::from_mins(1));
    stage.answered(&first);
    stage.answered(&second);
    driver.stop().unwrap();
}

#[test]
fn o5_a_transport_that_panics_counts_as_a_retry_whose_outcome_is_unknown() {
    let stage = Stage::with(|outbox| outbox.backoff(Duration::from_millis(1), Duration::from_millis(1), 2));
    let (broken, sound) = (stage.enqueue("broken"), stage.enqueue("sound"));
    stage.transport.answer(broken.key().as_str(), Answer::Panic);
    stage.transport.answer(broken.key().as_str(), Answer::Tell(DeliveryOutcome::dead("404")));
    let driver = stage.driver().in_flight(1).start().unwrap();
    stage.answered(&sound);
    until("it is unknown", || stage.count(EntryStateName::Unknown) == 1);
    driver.stop().unwrap();
    let broken = stage.outbox.get(broken.id()).unwrap().unwrap();
    assert_eq!(broken.errors()[0].error, "the transport panicked");
    assert_eq!(stage.sends_of(&[broken]), [2]);
}

#[test]
fn o8_a_held_lane_is_resumed_as_soon_as_there_are_other_credentials() {
    let clock = ManualClock::new(1_000_000);
    let stage = Stage::by_clock(&clock, |outbox| outbox);
    let (first, second) = (stage.enqueue("first"), stage.enqueue("second"));
    stage.transport.answer(first.key().as_str(), Answer::Tell(DeliveryOutcome::hold_lane("401")));
    let driver = stage.driver().in_flight(1).start().unwrap();
    until("the lane is held", || stage.outbox.stats().unwrap().held_lanes() == 1);
    a_moment();
    assert_eq!(stage.sent(), ["first"]);
    assert_eq!(stage.transport.times_asked(), 1, "whoever has to fetch credentials is not asked at every look");
    stage.transport.set_other_credentials(true);
    clock.advance(Duration::from_secs(5));
    stage.answered(&first);
    stage.answered(&second);
    driver.stop().unwrap();
    assert_eq!(stage.outbox.stats().unwrap().held_lanes(), 0);
}

#[test]
fn o4_entries_of_another_scope_stay_put_and_nobody_is_asked_about_credentials_without_need() {
    let stage = Stage::new();
    let others = Stage { scope: keyledger::Scope::new("bob").unwrap(), ..Stage::of(stage.ledger.clone(), |it| it) };
    let (mine, theirs) = (stage.enqueue("mine"), others.enqueue("theirs"));
    let driver = stage.driver().start().unwrap();
    stage.answered(&mine);
    a_moment();
    driver.stop().unwrap();
    assert_eq!(stage.sends_of(&[mine, theirs]), [1, 0]);
    assert_eq!(stage.transport.times_asked(), 0);
}

#[test]
fn o5_an_answer_that_cannot_be_stored_keeps_nothing_else_from_being_settled() {
    let stage = Stage::new();
    let (odd, sound) = (stage.enqueue("odd"), stage.enqueue("sound"));
    let response = keyledger::Response::new("x".repeat(300), "yes");
    stage.transport.answer(odd.key().as_str(), Answer::Tell(DeliveryOutcome::yes(response)));
    let driver = stage.driver().in_flight(1).start().unwrap();
    stage.answered(&sound);
    driver.stop().unwrap();
    let odd = stage.outbox.get(odd.id()).unwrap().unwrap();
    assert_eq!(odd.state(), EntryStateName::Unknown);
}
