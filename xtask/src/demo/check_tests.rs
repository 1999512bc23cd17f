//! The comparison is fed with what went wrong on purpose: each fault must be found.

use super::{Counts, Findings, compare};
use crate::demo::client::{Answer, Reading};
use crate::demo::evidence::{Balance, Evidence};
use crate::demo::plan::{Name, Names, Operation, Request};
use serde_json::json;

fn name(operation: Operation) -> Name {
    Name { operation, user: "ada".to_owned(), key: "k".to_owned() }
}

fn done(id: &str, replayed: bool) -> Answer {
    Answer::Done { body: json!({ "id": id }).to_string().into_bytes(), replayed }
}

/// One request, the answers to it, and the ids of the effects that are found.
fn findings(operation: Operation, answers: &[Answer], effects: &[&str]) -> Findings {
    let requests = [Request { name: name(operation), body: json!({}), client: 0 }];
    let readings: Vec<Reading> = answers.iter().map(|answer| Reading { request: 0, answer: answer.clone() }).collect();
    let ids = effects.iter().map(|id| (*id).to_owned()).collect();
    let effects = [(name(operation), ids)].into();
    let names = [(name(operation), 0)].into();
    compare(&requests, &names, &readings, &Evidence { effects, ..Evidence::default() })
}

#[test]
fn a_run_without_fault_has_no_complaint() {
    for operation in Operation::ALL {
        let answers = [done("a", false), Answer::InProgress, done("a", true), Answer::Mismatch];
        let findings = findings(operation, &answers, &["a"]);
        let counts = Counts { requests: 1, replays: 1, in_progress: 1, mismatches: 1, ..Counts::default() };
        assert_eq!(findings.total(), counts);
        assert_eq!(findings.complaints, [""; 0]);
    }
}

#[test]
fn a_double_charge_is_found() {
    for operation in Operation::ALL {
        let findings = findings(operation, &[done("a", false)], &["a", "b", "c"]);
        assert_eq!((findings.total().charged_twice, findings.total().lost), (2, 0));
        assert_eq!(findings.complaints.len(), 1);
    }
}

#[test]
fn a_double_charge_under_two_keys_is_found() {
    let other = Name { key: "other".to_owned(), ..name(Operation::Charge) };
    let requests = [Request { name: name(Operation::Charge), body: json!({}), client: 0 }];
    let names = [(name(Operation::Charge), 0), (other.clone(), 0)].into();
    let effects = [(name(Operation::Charge), vec!["a".to_owned()]), (other, vec!["b".to_owned()])].into();
    let readings = [Reading { request: 0, answer: done("b", false) }];
    let findings = compare(&requests, &names, &readings, &Evidence { effects, ..Evidence::default() });
    assert_eq!((findings.total().charged_twice, findings.total().lost), (1, 0));
}

#[test]
fn a_lost_effect_is_found() {
    let findings = findings(Operation::Charge, &[done("a", false)], &[]);
    assert_eq!((findings.total().charged_twice, findings.total().lost), (0, 1));
}

#[test]
fn an_effect_other_than_the_one_told_is_a_loss() {
    let findings = findings(Operation::TopUp, &[done("a", false), done("a", true)], &["b"]);
    assert_eq!((findings.total().charged_twice, findings.total().lost), (0, 1));
}

#[test]
fn a_replay_that_differs_by_a_byte_is_found() {
    let padded = Answer::Done { body: br#"{"id":"a"} "#.to_vec(), replayed: true };
    let findings = findings(Operation::Charge, &[done("a", false), padded], &["a"]);
    assert_eq!((findings.total().charged_twice, findings.total().lost), (0, 1));
}

#[test]
fn parked_is_counted_once_for_a_request() {
    let answers = [Answer::Parked, Answer::Parked, done("a", true)];
    let findings = findings(Operation::Receipt, &answers, &["a"]);
    assert_eq!((findings.total().parked, findings.complaints.len()), (1, 0));
}

#[test]
fn a_request_without_an_outcome_is_a_complaint() {
    let findings = findings(Operation::Receipt, &[Answer::Parked], &[]);
    assert_eq!((findings.total().lost, findings.complaints.len()), (0, 1));
}

#[test]
fn an_effect_under_the_wrong_name_is_a_complaint() {
    let effects = [(name(Operation::Charge), vec!["a".to_owned()])].into();
    let findings = compare(&[], &Names::new(), &[], &Evidence { effects, ..Evidence::default() });
    assert_eq!(findings.complaints.len(), 1);
}

#[test]
fn a_balance_that_is_not_the_sum_of_its_rows_is_a_complaint() {
    let balances = [("ada".to_owned(), Balance { rows: 7, stored: 5 })].into();
    let findings = compare(&[], &Names::new(), &[], &Evidence { balances, ..Evidence::default() });
    assert_eq!(findings.complaints.len(), 1);
}
