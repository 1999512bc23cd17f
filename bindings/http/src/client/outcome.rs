//! What the outbox is told: an answer, or its absence, as the outcome of a delivery (O8, O9).

use keyledger::DeliveryOutcome;

use super::reading::{Meaning, Reading, Trace};
use crate::message::Stored;

/// What came of a delivery that was answered with `answer`, which means what `reading` says.
///
/// A final answer is stored as `application/http` in at most `bytes_max` bytes: any process can read it later, with
/// [`Stored::of_response`].
pub fn outcome_of(reading: &Reading, answer: &Stored, bytes_max: usize) -> DeliveryOutcome {
    let outcome = with_meaning(reading, answer, bytes_max);
    let outcome = if reading.is_replay { outcome.replayed() } else { outcome };
    let outcome = match reading.trace {
        Trace::None => outcome.not_taken(),
        Trace::Told | Trace::Unknown => outcome,
    };
    let outcome = reading.retry_after.into_iter().fold(outcome, DeliveryOutcome::not_before);
    let outcome = reading.key_expires_after.into_iter().fold(outcome, DeliveryOutcome::key_expires_after);
    if reading.pauses_lane { outcome.pausing_lane() } else { outcome }
}

fn with_meaning(reading: &Reading, answer: &Stored, bytes_max: usize) -> DeliveryOutcome {
    let said = format!("the server answered {}", answer.status);
    match reading.meaning {
        Meaning::Yes => DeliveryOutcome::yes(answer.to_response_within(bytes_max)),
        Meaning::No => DeliveryOutcome::no(answer.to_response_within(bytes_max)),
        Meaning::Later => DeliveryOutcome::retry(said).not_counted(),
        Meaning::Retry => DeliveryOutcome::retry(said),
        Meaning::Unknown => DeliveryOutcome::unknown(said),
        Meaning::HoldLane => DeliveryOutcome::hold_lane(said),
        Meaning::HoldEntry => DeliveryOutcome::hold_entry(said),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use keyledger::DeliveryOutcome;

    use super::outcome_of;
    use crate::client::Reading;
    use crate::{Answer, Case};

    const NOW_MS: u64 = 784_111_777_000;
    const BYTES_MAX: usize = 1 << 20;

    fn of(answer: &Answer) -> DeliveryOutcome {
        outcome_of(&Reading::of(answer, NOW_MS), &answer.kept(), BYTES_MAX)
    }

    fn problem(case: Case) -> Answer {
        let document = format!(r#"{{"type":"{}"}}"#, case.type_uri());
        Answer::of_status(409).with_field("Content-Type", "application/problem+json").with_body(document)
    }

    #[test]
    fn o8_o9_each_status_says_whether_to_settle_wait_hold_or_doubt() {
        let retry = |status: u16| DeliveryOutcome::retry(format!("the server answered {status}"));
        for (statuses, expected) in [
            (&[401][..], DeliveryOutcome::hold_lane("the server answered 401")),
            (&[403], DeliveryOutcome::hold_entry("the server answered 403")),
            (&[425], retry(425).not_counted().not_taken()),
            (&[429], retry(429).not_taken()),
            (&[408], retry(408)),
            (&[500], retry(500)),
            (&[503], retry(503)),
            (&[520], retry(520)),
            (&[599], retry(599)),
        ] {
            for &status in statuses {
                assert_eq!(of(&Answer::of_status(status)), expected, "{status}");
            }
        }
        for status in [200, 201, 202, 204, 299] {
            let answer = Answer::of_status(status).with_body("done");
            assert_eq!(of(&answer), DeliveryOutcome::yes(answer.to_stored()), "{status}");
        }
        for status in [300, 302, 304, 308, 400, 402, 404, 405, 407, 409, 410, 422, 451, 499] {
            let answer = Answer::of_status(status).with_field("X", "1").with_body("no");
            assert_eq!(of(&answer), DeliveryOutcome::no(answer.to_stored()), "{status}");
        }
    }

    #[test]
    fn o8_our_own_problems_say_more_than_their_status() {
        let said = "the server answered 409";
        assert_eq!(of(&problem(Case::InProgress)), DeliveryOutcome::retry(said).not_counted());
        assert_eq!(of(&problem(Case::NotAvailable)), DeliveryOutcome::retry(said));
        assert_eq!(of(&problem(Case::Parked)), DeliveryOutcome::unknown(said));
        assert_eq!(of(&problem(Case::Gone)), DeliveryOutcome::unknown(said));
        assert_eq!(of(&problem(Case::Unsendable)), DeliveryOutcome::unknown(said));
        assert_eq!(of(&problem(Case::Mismatch)).as_str(), "no");
    }

    #[test]
    fn o9_a_replay_is_told_as_one() {
        let answer = Answer::of_status(404).with_field("Idempotent-Replayed", "true");
        assert_eq!(of(&answer), DeliveryOutcome::no(answer.to_stored()).replayed());
    }

    #[test]
    fn o6_a_wait_is_a_floor_and_pauses_the_lane_with_429_and_503() {
        let asked = |status| of(&Answer::of_status(status).with_field("Retry-After", "120"));
        let wait = Duration::from_mins(2);
        let retry = |status: u16| DeliveryOutcome::retry(format!("the server answered {status}")).not_before(wait);
        assert_eq!(asked(429), retry(429).not_taken().pausing_lane());
        assert_eq!(asked(503), retry(503).pausing_lane());
        assert_eq!(asked(500), retry(500));
        assert_eq!(asked(409), retry(409).not_counted());
    }

    #[test]
    fn o7_when_the_key_ends_is_told_as_a_span_by_the_servers_own_clock() {
        let expires = "Sun, 06 Nov 1994 08:50:37 GMT";
        let answer = Answer::of_status(503).with_field("Idempotency-Key-Expires", expires);
        let retry = DeliveryOutcome::retry("the server answered 503");
        assert_eq!(of(&answer), retry.clone().key_expires_after(Duration::from_mins(1)));
        let skewed = answer.with_field("Date", "Sun, 06 Nov 1994 08:50:07 GMT");
        assert_eq!(of(&skewed), retry.key_expires_after(Duration::from_secs(30)));
    }

    #[test]
    fn s4_of_an_answer_that_is_too_long_the_status_is_kept() {
        let answer = Answer::of_status(201).with_body("x".repeat(100));
        let outcome = outcome_of(&Reading::of(&answer, NOW_MS), &answer.kept(), 64);
        assert_eq!(outcome, DeliveryOutcome::yes(answer.to_stored_within(64)));
    }
}
