//! Histories that are explained, and wrong ones that are not.

use super::{Act, Answer, Call, How, Recorder, check, read};
use crate::model::Id;

const LEASE_MS: u64 = 10;

fn id() -> Id {
    Id::new("shop", "charge", "k")
}

/// A call that took from `from` to `to`; the ledger's clock shows the same numbers.
fn act(thread: u32, (from, to): (u64, u64), call: Call, answer: Answer) -> Act {
    Act { by: (0, thread), id: id(), call, answer: Some(answer), span: (from, to), clock: (from, to) }
}

fn begin() -> Call {
    Call::Begin { effect: "repeatable".into(), lease_ms: LEASE_MS, max_attempts: 20, asks: 1 }
}

fn begun(thread: u32, span: (u64, u64), answer: Answer) -> Act {
    act(thread, span, begin(), answer)
}

fn completed(thread: u32, span: (u64, u64), fence: u64, body: &str, answer: Answer) -> Act {
    act(thread, span, Call::Settle { fence, how: How::Complete(body.into()) }, answer)
}

fn acquired(fence: u64, attempt: u32) -> Answer {
    Answer::Acquired { fence, attempt }
}

fn is_explained(acts: &[Act]) -> bool {
    check(acts, 0).is_ok()
}

#[test]
fn two_grants_at_once_are_refused() {
    assert!(!is_explained(&[begun(1, (0, 5), acquired(7, 1)), begun(2, (1, 6), acquired(8, 1))]));
    assert!(!is_explained(&[begun(1, (0, 5), acquired(7, 1)), begun(2, (1, 6), acquired(8, 2))]), "within the lease");
    assert!(is_explained(&[begun(1, (0, 5), acquired(7, 1)), begun(2, (1, 6), Answer::InProgress)]));
}

#[test]
fn a_lease_may_be_over_only_after_its_length() {
    let taken_over = |at: u64| is_explained(&[begun(1, (0, 5), acquired(7, 1)), begun(2, (6, at), acquired(8, 2))]);
    assert!(taken_over(10) && !taken_over(9), "granted at 0 at the earliest, it ends at 10");
    let held = |at: u64| is_explained(&[begun(1, (0, 5), acquired(7, 1)), begun(2, (at, 30), Answer::InProgress)]);
    assert!(held(14) && !held(15), "granted at 5 at the latest, it ends at 15");
}

#[test]
fn what_one_call_shows_of_a_leases_end_binds_the_next() {
    let grant = begun(1, (0, 5), acquired(7, 1));
    let held_at_13 = begun(2, (13, 13), Answer::InProgress);
    let over_at = |at: u64| begun(3, (at, at), acquired(8, 2));
    assert!(is_explained(&[grant.clone(), over_at(12)]) && is_explained(&[grant.clone(), held_at_13.clone()]));
    assert!(is_explained(&[grant.clone(), held_at_13.clone(), over_at(14)]));
    // Judged by an earlier instant, although it came later: its call was long.
    let over_too_early = Act { span: (14, 15), clock: (6, 13), ..over_at(14) };
    assert!(!is_explained(&[grant, held_at_13, over_too_early]));
}

#[test]
fn another_outcome_than_the_stored_one_is_refused() {
    let told = |body: &str| {
        let replay = begun(2, (8, 9), Answer::Completed(body.into()));
        is_explained(&[begun(1, (0, 1), acquired(7, 1)), completed(1, (2, 3), 7, "yes", Answer::Done), replay])
    };
    assert!(told("yes") && !told("no"));
}

#[test]
fn an_owner_whose_claim_was_taken_over_settles_nothing() {
    let late = |answer: Answer| {
        let grants = [begun(1, (0, 1), acquired(7, 1)), begun(2, (12, 13), acquired(8, 2))];
        is_explained(&[&grants[..], &[completed(1, (14, 15), 7, "late", answer)]].concat())
    };
    assert!(late(Answer::ClaimLost) && !late(Answer::Done));
    let nobody_came = [begun(1, (0, 1), acquired(7, 1)), completed(1, (14, 15), 7, "late", Answer::Done)];
    assert!(is_explained(&nobody_came), "S1");
}

#[test]
fn fences_that_fall_are_refused() {
    let again = |fence: u64| {
        let release = act(1, (2, 3), Call::Settle { fence: 7, how: How::Release }, Answer::Done);
        is_explained(&[begun(1, (0, 1), acquired(7, 1)), release, begun(2, (4, 5), acquired(fence, 2))])
    };
    assert!(again(8) && !again(7) && !again(6), "I5");
}

#[test]
fn a_call_that_was_never_answered_may_have_taken_effect_at_any_time_or_never() {
    let grant = begun(1, (0, 1), acquired(7, 1));
    let unheard = completed(1, (2, 3), 7, "yes", Answer::Done);
    let unheard = Act { answer: None, span: (2, u64::MAX), clock: (2, u64::MAX), ..unheard };
    let later = |answer: Answer| is_explained(&[grant.clone(), unheard.clone(), begun(2, (5, 6), answer)]);
    assert!(later(Answer::InProgress) && later(Answer::Completed("yes".into())));
    assert!(!later(Answer::Completed("no".into())) && !later(acquired(8, 2)));
}

#[test]
fn a_call_cannot_take_effect_before_it_was_made() {
    let replay = begun(2, (2, 3), Answer::Completed("yes".into()));
    let complete = |from: u64| completed(1, (from, 9), 7, "yes", Answer::Done);
    assert!(is_explained(&[begun(1, (0, 1), acquired(7, 1)), replay.clone(), complete(3)]), "they meet");
    assert!(!is_explained(&[begun(1, (0, 1), acquired(7, 1)), replay, complete(4)]));
}

#[test]
fn histories_of_several_processes_are_read_from_their_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = [1, 2].map(|process| folder.path().join(format!("{process}.jsonl")));
    let mut kept = Vec::new();
    for (process, path) in (1..).zip(&paths) {
        let recorder = Recorder::to_file(process, keyledger::SystemClock, path).expect("a file");
        let mut scribe = recorder.scribe(3);
        let answer = if process == 1 { acquired(7, 1) } else { Answer::InProgress };
        scribe.record(&id(), begin(), || ((), answer));
        kept.extend(scribe.acts());
    }
    assert_eq!(read(&paths).expect("histories"), kept);
    assert!(kept[0].span.1 <= kept[1].span.0, "one clock for all");
    // A process was killed in the middle of a call, and one in the middle of a line.
    let text = std::fs::read_to_string(&paths[1]).expect("lines");
    let called = text.lines().next().expect("a line");
    std::fs::write(&paths[1], format!("{called}\n{}", &called[..called.len() / 2])).expect("written");
    let read = read(&paths).expect("histories");
    assert_eq!((read.len(), &read[1].answer, read[1].span.1), (2, &None, u64::MAX));
}
