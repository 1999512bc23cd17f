//! The outbox's rules at their boundary milliseconds.

use std::time::Duration;

use super::backoff::Backoff;
use super::classify::DeliveryOutcome;
use super::deliver::{Delivered, settle};
use super::enqueue::{SendBy, Wanted, create};
use super::entry::{Entry, EntryTerms, Order, Sent, ended, shortened};
use super::lease::{dropped, lease};
use super::person::{cancel, requeue};
use super::record::Stamp;
use super::standing::{DeadReason, EntryState, EntryStateName, UnknownReason};
use super::timeline::Moment;
use crate::fingerprint::Fingerprint;
use crate::key::{Key, LaneName, OperationName, Scope};
use crate::response::Response;

const TERMS: EntryTerms = EntryTerms {
    backoff: Backoff { base_ms: 1_000, cap_ms: 8_000, multiplier: 2, jitter: false },
    lease_ms: 300,
    max_tries: 3,
    max_age_ms: Some(100_000),
    resend_window_ms: 10_000,
    purpose_retention_ms: 50,
    retention_ms: 20,
    retry_after_max_ms: 5_000,
};

fn at(at: u64) -> Moment {
    Moment { at, stamp: Stamp { wall_ms: 1_000_000 + at, mono_ms: at, opening: 1 } }
}

fn entry() -> Entry {
    let wanted = Wanted {
        scope: Scope::single(),
        lane: LaneName::DEFAULT,
        operation: OperationName::new("pay").unwrap(),
        key: None,
        purpose: None,
        fingerprint: Fingerprint::Unchecked,
        request_bytes: 3,
        send_by: SendBy::Never,
        even_if_answered: false,
    };
    create(&wanted, 1, Key::new("k").unwrap(), Order::None, at(0))
}

/// Leased at that instant, without luck.
fn leased(entry: Entry, fence: u64, now: u64) -> Entry {
    lease(entry, fence, 0, at(now), &TERMS)
}

#[expect(clippy::needless_pass_by_value, reason = "outcomes are made where they are told")]
fn told(entry: &Entry, fence: u64, outcome: DeliveryOutcome, now: u64) -> Entry {
    match settle(entry, fence, &outcome, at(now), &TERMS) {
        Delivered::Becomes(entry) => *entry,
        other => panic!("{other:?}"),
    }
}

fn retry() -> DeliveryOutcome {
    DeliveryOutcome::retry("timeout")
}

#[test]
fn o7_the_window_is_over_at_its_last_millisecond_and_not_before() {
    let entry = told(&leased(entry(), 1, 500), 1, retry(), 600);
    assert_eq!(entry.first_unknown.map(|sent| sent.at), Some(500), "it counts from the send");
    assert_eq!(ended(&entry, at(10_499), &TERMS), None);
    let over = ended(&entry, at(10_500), &TERMS).unwrap();
    assert_eq!(over.state, EntryState::Unknown(UnknownReason::WindowOver));
}

#[test]
fn o7_no_lease_reaches_past_the_window_nor_past_what_the_server_told() {
    let once = told(&leased(entry(), 1, 0), 1, retry(), 100);
    assert_eq!(leased(once.clone(), 2, 9_900).state, EntryState::Sending { lease_end: 10_000 });
    let expires = retry().key_expires_after(Duration::from_millis(400));
    let twice = told(&leased(once, 2, 2_000), 2, expires, 2_100);
    assert_eq!(leased(twice, 3, 2_400).state, EntryState::Sending { lease_end: 2_500 });
}

#[test]
fn o7_a_window_of_another_opening_is_over_where_the_clock_shows_less_than_at_the_send() {
    let mut entry = told(&leased(entry(), 1, 500), 1, retry(), 600);
    let before = Stamp { wall_ms: 9_000_000, mono_ms: 0, opening: 7 };
    entry.first_unknown = Some(Sent { at: 500, stamp: before });
    assert!(ended(&entry, at(700), &TERMS).is_some());
    entry.first_unknown = Some(Sent { at: 500, stamp: Stamp { opening: 1, ..before } });
    assert_eq!(ended(&entry, at(700), &TERMS), None, "in this opening the wall clock tells nothing");
}

#[test]
fn o9_a_try_that_was_turned_away_starts_no_window() {
    let entry = told(&leased(entry(), 1, 500), 1, retry().not_taken(), 600);
    assert_eq!((entry.in_doubt, entry.first_unknown, entry.window_end(&TERMS)), (false, None, None));
    let again = leased(entry, 2, 20_000);
    assert_eq!(again.first_unknown.map(|sent| sent.at), Some(20_000));
}

#[test]
fn o10_the_lease_of_an_entry_that_cannot_have_arrived_ends_with_send_by() {
    let in_time = Entry { send_by: Some(1_000), ..entry() };
    assert_eq!(ended(&in_time, at(999), &TERMS), None);
    assert_eq!(leased(in_time.clone(), 1, 900).state, EntryState::Sending { lease_end: 1_000 });
    let late = ended(&in_time, at(1_000), &TERMS).unwrap();
    assert_eq!(late.state, EntryState::Cancelled { in_time: false });
    let in_doubt = told(&leased(in_time, 1, 900), 1, retry(), 950);
    assert_eq!(ended(&in_doubt, at(1_000), &TERMS), None, "it may have arrived: it is sent until somebody knows");
    assert_eq!(leased(in_doubt, 2, 2_000).state, EntryState::Sending { lease_end: 2_300 });
}

#[test]
fn o6_the_wait_doubles_a_floor_holds_and_the_last_try_is_the_last() {
    let first = told(&leased(entry(), 1, 0), 1, retry().not_taken(), 100);
    assert_eq!((first.tries, first.ready_at), (1, 1_100));
    let floor = retry().not_taken().not_before(Duration::from_secs(4));
    let second = told(&leased(first, 2, 1_100), 2, floor, 1_200);
    assert_eq!((second.tries, second.ready_at), (2, 5_200));
    let long = retry().not_taken().not_before(Duration::from_hours(9));
    let third = told(&leased(second.clone(), 3, 6_000), 3, long, 6_100);
    assert_eq!(third.state, EntryState::Dead(DeadReason::OutOfTries));
    let third = told(&leased(second, 3, 6_000), 3, retry(), 6_100);
    assert_eq!(third.state, EntryState::Unknown(UnknownReason::OutOfTries));
}

#[test]
fn o6_a_hundred_tries_may_be_given_back_and_their_waits_grow_all_the_same() {
    let mut entry = entry();
    let mut now = 0;
    for fence in 1..=99 {
        entry = told(&leased(entry, fence, now), fence, retry().not_taken().not_counted(), now);
        assert_eq!((entry.tries, entry.state_name()), (0, EntryStateName::Pending), "{fence}");
        assert_eq!(entry.ready_at - now, TERMS.backoff.ceiling_ms(u32::try_from(fence).unwrap()), "{fence}");
        now += 100;
    }
    let last = told(&leased(entry, 100, now), 100, retry().not_taken().not_counted(), now);
    assert_eq!(last.state, EntryState::Dead(DeadReason::OutOfTries));
}

#[test]
fn o5_only_a_yes_counts_from_a_delivery_that_was_this_entrys_and_is_no_more() {
    let entry = leased(told(&leased(entry(), 1, 0), 1, retry(), 100), 5, 2_000);
    let (yes, no) = (DeliveryOutcome::yes(Response::text("y")), DeliveryOutcome::no(Response::text("n")));
    assert_eq!(settle(&entry, 1, &no, at(2_001), &TERMS), Delivered::Lost);
    assert_eq!(settle(&entry, 1, &retry(), at(2_001), &TERMS), Delivered::Lost);
    for never in [0, 6] {
        assert_eq!(settle(&entry, never, &yes, at(2_001), &TERMS), Delivered::Lost, "no delivery had fence {never}");
    }
    let answered = told(&entry, 1, yes.clone(), 2_001);
    assert_eq!(settle(&answered, 5, &yes, at(2_002), &TERMS), Delivered::Already);
    assert_eq!(settle(&answered, 5, &no, at(2_002), &TERMS), Delivered::Lost);
    assert_eq!(told(&entry, 1, no.clone().replayed(), 2_001).state_name(), EntryStateName::Answered);
    assert_eq!(told(&entry, 5, no, 2_001).state, EntryState::Unknown(UnknownReason::Contradicted));
}

#[test]
fn a_dropped_delivery_waits_for_the_backoff_of_its_try_alone() {
    let out = leased(entry(), 1, 1_000);
    assert_eq!(out.ready_at, 2_300, "a lapsed one: its lease, then its backoff");
    assert_eq!(dropped(out.clone(), 2, 1_010), None, "another delivery of it");
    let back = dropped(out, 1, 1_010).unwrap();
    assert_eq!((back.ready_at, back.in_doubt), (2_010, true));
}

#[test]
fn o13_a_settled_entry_stays_as_long_as_its_purpose_is_answered() {
    let entry = told(&leased(entry(), 1, 0), 1, DeliveryOutcome::yes(Response::empty()), 100);
    assert_eq!(entry.removed_at(), Some(150), "purpose_retention is longer than retention here");
    assert!(entry.answers_purpose(at(149)) && !entry.answers_purpose(at(150)));
}

#[test]
fn o10_and_o3_what_is_dead_can_be_cancelled_or_sent_again_with_its_key() {
    let dead = told(&leased(entry(), 1, 0), 1, DeliveryOutcome::dead("no such host"), 100);
    assert_eq!(cancel(&dead, at(200), &TERMS).map(|entry| entry.state_name()), Some(EntryStateName::Cancelled));
    let again = requeue(&dead, at(200)).unwrap();
    assert_eq!((again.tries, again.ready_at, again.key.as_str()), (0, 200, "k"));
    assert_eq!(requeue(&again, at(200)), None);
}

#[test]
fn the_last_sixteen_errors_are_kept_and_their_words_are_cut() {
    let mut entry = entry();
    (0..20).for_each(|number| entry.note_error(number, &format!("error {number}")));
    assert_eq!((entry.errors.len(), entry.errors[0].at_ms), (16, 4));
    assert_eq!(shortened(&"\u{20ac}".repeat(100)).len(), 255, "at a character's end");
}
