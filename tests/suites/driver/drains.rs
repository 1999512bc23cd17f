//! O15: draining.

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use keyledger::{DeliveryOutcome, DrainProgress, EntryStateName, ManualClock, Scope, Stop};
use keyledger_harness::scripted::Answer;

use crate::stage::{Stage, a_moment, until};

const NOW: Duration = Duration::ZERO;

#[test]
fn o15_a_drain_sends_what_is_due_tells_how_far_it_is_and_counts_by_state() {
    let stage = Stage::new();
    let entries = stage.enqueue_all(30);
    let gone = Answer::Tell(DeliveryOutcome::dead("404"));
    let odd = Answer::Tell(DeliveryOutcome::unknown("parked"));
    stage.transport.answer(entries[3].key().as_str(), gone);
    stage.transport.answer(entries[7].key().as_str(), odd);
    let mut told: Vec<DrainProgress> = Vec::new();
    let drained = stage.driver().drain(NOW, |now| told.push(*now)).unwrap();
    assert_eq!((drained.sent, drained.settled, drained.unsettled()), (30, 29, 1));
    let states = [EntryStateName::Answered, EntryStateName::Dead, EntryStateName::Unknown, EntryStateName::Pending];
    assert_eq!(states.map(|state| drained.count(state)), [28, 1, 1, 0]);
    assert_eq!(told[0], DrainProgress { sent: 0, settled: 0, remaining: 30 });
    assert_eq!(told.last(), Some(&DrainProgress { sent: 30, settled: 29, remaining: 1 }));
    assert!(told.is_sorted_by_key(|now| (now.sent, now.settled)));
    assert!(told.iter().all(|now| now.settled + now.remaining == 30));
    assert_eq!(stage.sends_of(&entries), [1; 30]);
}

#[test]
fn o15_what_is_due_later_is_waited_for_up_to_the_end_and_no_longer() {
    let clock = ManualClock::new(1_000_000);
    let stage = Stage::by_clock(&clock, |outbox| {
        outbox.without_jitter().backoff(Duration::from_secs(10), Duration::from_mins(5), 3)
    });
    let entry = stage.enqueue("ten euros");
    stage.transport.always(Answer::Tell(DeliveryOutcome::retry("503")));
    let drained = stage.driver().drain(Duration::from_millis(9_999), |_| {}).unwrap();
    assert_eq!((drained.sent, drained.count(EntryStateName::Pending)), (1, 1));
    thread::scope(|scope| {
        let drain = scope.spawn(|| stage.driver().drain(Duration::from_secs(10), |_| {}).unwrap());
        a_moment();
        assert!(!drain.is_finished());
        clock.advance(Duration::from_secs(10));
        assert_eq!(drain.join().unwrap().sent, 1);
    });
    assert_eq!(stage.sends_of(&[entry]), [2]);
}

#[test]
fn o15_a_backlog_that_was_due_is_sent_though_the_end_has_passed_meanwhile() {
    let clock = ManualClock::new(1_000_000);
    let stage = Stage::by_clock(&clock, |outbox| outbox);
    let entries = stage.enqueue_all(40);
    clock.advance(Duration::from_secs(5));
    let tick = |_: &DrainProgress| clock.advance(Duration::from_millis(100));
    let drained = stage.driver().in_flight(2).drain(NOW, tick).unwrap();
    assert_eq!((drained.sent, drained.unsettled()), (40, 0));
    assert_eq!(stage.sends_of(&entries), [1; 40]);
}

#[test]
fn o15_entries_that_keep_coming_do_not_keep_a_drain_from_ending() {
    let clock = ManualClock::new(1_000_000);
    let stage = Stage::by_clock(&clock, |outbox| outbox);
    stage.enqueue("the first");
    let mut came = 0;
    let drained = stage.driver().in_flight(1).drain(NOW, |_| {
        clock.advance(Duration::from_millis(1));
        came += 1;
        assert!(came < 100, "it never ends");
        stage.enqueue(&format!("and another, {came}"));
    });
    let drained = drained.unwrap();
    assert_eq!(drained.count(EntryStateName::Answered), drained.settled);
    assert!(drained.settled >= 1 && drained.unsettled() >= 1, "{drained:?}");
}

#[test]
fn o15_entries_that_come_while_it_drains_are_sent_if_they_are_due_in_time() {
    let stage = Stage::new();
    let mut entries = stage.enqueue_all(2);
    let late = Mutex::new(Vec::new());
    let drained = stage.driver().in_flight(1).drain(Duration::from_millis(300), |now| {
        if now.sent == 1 && late.lock().unwrap().is_empty() {
            late.lock().unwrap().push(stage.enqueue("late"));
        }
    });
    let drained = drained.unwrap();
    entries.extend(late.into_inner().unwrap());
    assert_eq!((drained.sent, drained.settled, drained.unsettled()), (3, 3, 0));
    assert_eq!(stage.sends_of(&entries), [1, 1, 1]);
}

#[test]
fn o15_two_drains_at_once_send_each_entry_once_and_both_end() {
    let stage = Stage::new();
    let entries = stage.enqueue_all(200);
    // Longer than a lease: each waits for what the other has in flight.
    let until = Duration::from_mins(1);
    let drains: Vec<_> = thread::scope(|scope| {
        let drain = || scope.spawn(|| stage.driver().in_flight(3).drain(until, |_| {}).unwrap());
        let drains = [drain(), drain()];
        drains.map(|drain| drain.join().unwrap()).into()
    });
    assert_eq!(drains.iter().map(|drained| drained.sent).sum::<u64>(), 200);
    assert!(drains.iter().all(|drained| drained.unsettled() == 0), "{drains:?}");
    assert_eq!(stage.sends_of(&entries), [1; 200]);
    assert!(stage.transport.most_in_flight() <= 6);
}

#[test]
fn o15_it_counts_its_own_scope_alone_and_what_was_settled_before() {
    let stage = Stage::new();
    stage.enqueue_all(3);
    stage.driver().drain(NOW, |_| {}).unwrap();
    let others = Stage { scope: Scope::new("bob").unwrap(), ..Stage::of(stage.ledger.clone(), |outbox| outbox) };
    others.enqueue_all(5);
    stage.enqueue("one more");
    let drained = stage.driver().drain(NOW, |now| assert!(now.remaining <= 1)).unwrap();
    assert_eq!((drained.sent, drained.settled, drained.unsettled()), (1, 1, 0));
    assert_eq!(drained.count(EntryStateName::Answered), 4);
}

#[test]
fn o15_a_held_lane_does_not_keep_it_waiting_and_other_credentials_let_it_go_on() {
    let stage = Stage::new();
    let entries = stage.enqueue_all(3);
    stage.transport.always(Answer::Tell(DeliveryOutcome::hold_lane("401")));
    let drained = stage.driver().in_flight(1).drain(Duration::from_mins(1), |_| {}).unwrap();
    assert_eq!((drained.count(EntryStateName::Held), drained.count(EntryStateName::Pending)), (1, 2));
    stage.transport.always(Answer::Tell(DeliveryOutcome::yes(keyledger::Response::text("done"))));
    stage.transport.set_other_credentials(true);
    let drained = stage.driver().in_flight(1).drain(NOW, |_| {}).unwrap();
    assert_eq!(drained.count(EntryStateName::Answered), 3);
    assert_eq!(stage.sends_of(&entries), [2, 1, 1]);
}

#[test]
fn o15_a_drain_says_whether_it_was_stopped() {
    let (stage, stop) = (Stage::new(), Stop::new());
    stage.enqueue_all(2);
    assert!(!stage.driver().stop_on(&stop).drain(NOW, |_| {}).unwrap().was_stopped);
    stop.stop();
    stage.enqueue_all(3);
    let drained = stage.driver().stop_on(&stop).drain(NOW, |_| {}).unwrap();
    assert!(drained.was_stopped && drained.unsettled() > 0);
}

#[test]
fn o15_a_drain_can_be_stopped_and_finishes_what_is_in_flight() {
    let (stage, stop) = (Stage::new(), Stop::new());
    let entries = stage.enqueue_all(10);
    stage.transport.block();
    let drained = thread::scope(|scope| {
        let drain = scope.spawn(|| stage.driver().in_flight(2).stop_on(&stop).drain(NOW, |_| {}).unwrap());
        stage.transport.wait_for_sends(2);
        stop.stop();
        a_moment();
        stage.transport.release();
        drain.join().unwrap()
    });
    assert_eq!((drained.sent, drained.count(EntryStateName::Answered)), (2, 2));
    assert_eq!(stage.sends_of(&entries).into_iter().sum::<usize>(), 2);
    until("nothing is out", || stage.count(EntryStateName::Sending) == 0);
}

#[test]
fn o15_a_drain_ends_though_a_send_never_comes_back() {
    let stage = Stage::with(|outbox| outbox.lease(Duration::from_millis(200)));
    let entries = stage.enqueue_all(3);
    stage.transport.block();
    for in_flight in [8, 1] {
        let drained = stage.driver().in_flight(in_flight).drain(NOW, |_| {}).unwrap();
        assert!(drained.unsettled() > 0, "{drained:?}");
    }
    stage.transport.release();
    stage.all_answered(&entries);
}
