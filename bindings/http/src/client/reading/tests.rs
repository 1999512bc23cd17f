use super::{Ending, Meaning, RETRY_AFTER_MAX, Reading, Trace, Unanswered};
use crate::Answer;
use keyledger::KeyAdvice;
use std::time::Duration;

const NOW: u64 = 784_111_777_000; // Sun, 06 Nov 1994 08:49:37 GMT

fn read(answer: &Answer) -> (Meaning, Trace) {
    let reading = Reading::of(answer, NOW);
    (reading.meaning, reading.trace)
}

fn plain(status: u16) -> (Meaning, Trace) {
    read(&Answer::of_status(status))
}

fn problem(status: u16, members: &str) -> Answer {
    Answer::of_status(status).with_field("content-type", "Application/Problem+JSON; charset=utf-8").with_body(members)
}

#[test]
fn c3_o8_o9_each_status_means_what_the_contract_says() {
    for status in [200, 201, 204, 299] {
        assert_eq!(plain(status), (Meaning::Yes, Trace::Told), "{status}");
    }
    for status in [300, 301, 304, 400, 404, 409, 410, 422, 428, 451, 499] {
        assert_eq!(plain(status), (Meaning::No, Trace::Told), "{status}");
    }
    for status in [408, 500, 502, 503, 599] {
        assert_eq!(plain(status), (Meaning::Retry, Trace::Unknown), "{status}");
    }
    assert_eq!(plain(401), (Meaning::HoldLane, Trace::None));
    assert_eq!(plain(403), (Meaning::HoldEntry, Trace::None));
    assert_eq!(plain(425), (Meaning::Later, Trace::None));
    assert_eq!(plain(429), (Meaning::Retry, Trace::None));
}

#[test]
fn c3_o8_a_409_and_a_410_go_by_what_they_say() {
    let ours = |case: &str| format!(r#"{{"type":"{}#{case}"}}"#, crate::TYPES);
    assert_eq!(read(&problem(409, &ours("in-progress"))), (Meaning::Later, Trace::Unknown));
    assert_eq!(read(&problem(409, r#"{"key_advice":"reuse"}"#)), (Meaning::Later, Trace::Unknown));
    assert_eq!(read(&Answer::of_status(409).with_field("retry-after", "3")), (Meaning::Later, Trace::Unknown));
    let parked = problem(409, &ours("parked")).with_field("Retry-After", "3");
    assert_eq!(read(&parked), (Meaning::Unknown, Trace::Unknown));
    assert_eq!(read(&problem(410, &ours("gone"))).0, Meaning::Unknown);
    assert_eq!(read(&problem(409, r#"{"key_advice":"rotate"}"#)).0, Meaning::No);
    assert_eq!(read(&problem(409, "no json")).0, Meaning::No);
    let another_type = Answer::of_status(409).with_body(ours("in-progress"));
    assert_eq!(read(&another_type).0, Meaning::No);
}

#[test]
fn c3_h4_our_own_problems_are_told_by_their_type_whatever_status_a_server_gives_them() {
    let read = |status, case: crate::Case| read(&problem(status, &format!(r#"{{"type":"{}"}}"#, case.type_uri())));
    for status in [400, 403, 422, 423, 429, 503] {
        assert_eq!(read(status, crate::Case::Parked), (Meaning::Unknown, Trace::Unknown), "{status}");
        assert_eq!(read(status, crate::Case::Gone), (Meaning::Unknown, Trace::Unknown), "{status}");
        assert_eq!(read(status, crate::Case::InProgress), (Meaning::Later, Trace::Unknown), "{status}");
        assert_eq!(read(status, crate::Case::NotAvailable), (Meaning::Retry, Trace::Unknown), "{status}");
        assert_eq!(read(status, crate::Case::HandlerFailed), (Meaning::Retry, Trace::Unknown), "{status}");
    }
    assert_eq!(read(400, crate::Case::Mismatch), (Meaning::No, Trace::Told));
    assert_eq!(read(403, crate::Case::NoPrincipal), (Meaning::HoldEntry, Trace::None));
}

#[test]
fn o9_a_no_beside_an_unknown_try_is_unknown_unless_it_is_a_replay() {
    let no = Reading::of(&Answer::of_status(422), NOW);
    assert_eq!((no.ending(true), no.ending(false)), (Ending::Unknown, Ending::AsMeant));
    let replayed = Reading::of(&Answer::of_status(422).with_field("idempotent-replayed", "true"), NOW);
    assert_eq!(replayed.ending(true), Ending::AsMeant);
    assert_eq!(Reading::of(&Answer::of_status(200), NOW).ending(true), Ending::AsMeant);
}

#[test]
fn o9_c4_silence_before_connecting_leaves_nothing_and_later_it_may() {
    assert_eq!(Reading::of_silence(Unanswered::BeforeConnecting).trace, Trace::None);
    let maybe = Reading::of_silence(Unanswered::MaybeSent);
    assert_eq!((maybe.meaning, maybe.trace), (Meaning::Retry, Trace::Unknown));
}

#[test]
fn o6_retry_after_is_digits_or_a_date_against_the_answers_own() {
    let after = |fields: &[(&str, &str)]| {
        let empty = Answer::of_status(503);
        let answer = fields.iter().fold(empty, |answer, (name, value)| answer.with_field(name, *value));
        Reading::of(&answer, NOW).retry_after
    };
    assert_eq!(after(&[("Retry-After", "120")]), Some(Duration::from_mins(2)));
    assert_eq!(after(&[("Retry-After", "99999999999999999999999")]), Some(RETRY_AFTER_MAX));
    let date = "Sun, 06 Nov 1994 08:50:37 GMT";
    assert_eq!(after(&[("Retry-After", date)]), Some(Duration::from_mins(1)));
    let own = ("Date", "Sun, 06 Nov 1994 08:50:07 GMT");
    assert_eq!(after(&[("Retry-After", date), own]), Some(Duration::from_secs(30)));
    assert_eq!(after(&[("Retry-After", "Sun, 06 Nov 1994 08:00:00 GMT")]), Some(Duration::ZERO));
    for value in ["", "-1", "1.5", "soon"] {
        assert_eq!(after(&[("Retry-After", value)]), None, "{value}");
    }
}

#[test]
fn c3_advice_expiry_and_pause_are_read() {
    let answer = problem(503, r#"{"key_advice":"reuse"}"#)
        .with_field("Retry-After", "1")
        .with_field("Idempotency-Key-Expires", "Sun, 06 Nov 1994 08:49:37 GMT");
    let reading = Reading::of(&answer, 0);
    assert_eq!(reading.key_advice, Some(KeyAdvice::Reuse));
    assert_eq!(reading.key_expires_at_ms, Some(NOW));
    assert!(reading.pauses_lane && !reading.is_replay);
}

#[test]
fn c3_of_a_problem_two_texts_count_whatever_else_it_says() {
    let meaning = |members: &str| read(&problem(409, members)).0;
    let more = r#"{ "n": [1, {"key_advice":"rotate"}], "t\u0079pe": 5 , "s":"}\",", "x": -1e999, "key_advice" : "re\u0075se" }"#;
    assert_eq!(meaning(more), Meaning::Later);
    assert_eq!(meaning(r#"{"key_advice":"rotate","key_advice":"reuse"}"#), Meaning::Later);
    assert_eq!(meaning(r#"{"key_advice":"reuse","key_advice":null}"#), Meaning::No);
    for broken in [
        r#"{"key_advice":"reuse""#,
        r#"{"key_advice":"reuse"} 1"#,
        r#"["key_advice","reuse"]"#,
        r#"{"key_advice" "reuse"}"#,
    ] {
        assert_eq!(meaning(broken), Meaning::No, "{broken}");
    }
}
