//! Compares what came with what was expected.

use std::collections::BTreeMap;

use keyledger::{Outcome, RecordView};
use keyledger_http::message::{Stored, StoredBody, lines_of};
use keyledger_http::{Answer, EXPIRES_FIELD, REPLAYED_FIELD, TYPES};
use serde_json::{Value, json};

use crate::format::{Expected, Record};
use crate::stage::START_MS;
use crate::wire::Got;

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, is: &T, expected: &T) -> Result<(), String> {
    if is == expected { Ok(()) } else { Err(format!("{what} is {}, not {}", short(is), short(expected))) }
}

fn short(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.chars().take(600).collect()
}

pub(crate) fn compare(got: &Got, expected: &Expected) -> Result<(), String> {
    let answer = match (got, expected.broken) {
        (Got::Broken, true) => return Ok(()),
        (Got::Broken, false) => return Err("the answer broke off".to_owned()),
        (Got::Whole(_), true) => return Err("the answer did not break off".to_owned()),
        (Got::Whole(answer), false) => answer,
    };
    let whole = || short(&(answer, String::from_utf8_lossy(&answer.body)));
    equal("the status", &answer.status, &expected.status)
        .map_err(|why| format!("{why}; the whole answer: {}", whole()))?;
    if let Some(body) = &expected.body {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (is, wanted) = (answer.body.as_slice(), body.bytes());
        if is != wanted {
            return Err(format!("the body is {}, not {}", short(&text(is)), short(&text(&wanted))));
        }
    }
    if let Some(text) = &expected.lacks {
        let has_it = String::from_utf8_lossy(&answer.body).contains(text);
        equal(&format!("that the body has {text:?} in it"), &has_it, &false)?;
    }
    for (name, lines) in &expected.fields {
        equal(name, &texts(answer, name), &lines.list())?;
    }
    if let Some(replayed) = expected.replayed {
        equal(REPLAYED_FIELD, &(texts(answer, REPLAYED_FIELD) == ["true"]), &replayed)?;
        equal(REPLAYED_FIELD, &texts(answer, REPLAYED_FIELD).is_empty(), &!replayed)?;
    }
    if let Some(case) = &expected.problem {
        compare_problem(answer, case, expected.advice.as_ref())?;
    }
    if let Some((from, to)) = expected.retry_after {
        let seconds: Vec<u64> = texts(answer, "Retry-After").iter().map(|text| text.parse().unwrap_or(0)).collect();
        let fits = seconds.len() == 1 && (from..=to).contains(&seconds[0]);
        equal(&format!("that Retry-After {seconds:?} is from {from} to {to}"), &fits, &true)?;
    }
    expected.expires_at_ms.map_or(Ok(()), |at_ms| {
        let second = std::time::Duration::from_secs((START_MS + at_ms) / 1000);
        let date = httpdate::fmt_http_date(std::time::UNIX_EPOCH + second);
        equal(EXPIRES_FIELD, &texts(answer, EXPIRES_FIELD), &vec![date])
    })
}

fn texts(answer: &Answer, name: &str) -> Vec<String> {
    lines_of(&answer.fields, name).map(|value| String::from_utf8_lossy(value).into_owned()).collect()
}

fn compare_problem(answer: &Answer, case: &str, advice: Option<&Value>) -> Result<(), String> {
    let problem: Value = serde_json::from_slice(&answer.body).map_err(|error| format!("no problem: {error}"))?;
    equal("the content type", &texts(answer, "Content-Type"), &vec!["application/problem+json".to_owned()])?;
    equal("type", &problem["type"], &json!(format!("{TYPES}#{case}")))?;
    equal("status", &problem["status"], &json!(answer.status))?;
    for member in ["title", "detail"] {
        equal(&format!("that {member} is text"), &problem[member].is_string(), &true)?;
    }
    // A scenario that does not say which advice it means is only about the case.
    advice.map_or(Ok(()), |advice| equal("key_advice", &problem["key_advice"], advice))
}

pub(crate) fn compare_record(view: Option<&RecordView>, expected: Option<&Record>) -> Result<(), String> {
    let (view, expected) = match (view, expected) {
        (None, None) => return Ok(()),
        (Some(view), Some(expected)) => (view, expected),
        (is, _) => return Err(format!("there is {}", short(&is.map(RecordView::state)))),
    };
    equal("the state", &view.state().as_str(), &expected.state.as_str())?;
    if let Some(effect) = &expected.effect {
        equal("the effect", &view.effect().as_str(), &effect.as_str())?;
    }
    let stored = view.response().map(|response| Stored::of_response(response, Outcome::Completed));
    let Some(stored) = stored else {
        return equal("that a response is expected", &expected.expects_response(), &false);
    };
    if let Some(status) = expected.status {
        equal("the stored status", &stored.status, &status)?;
    }
    if let Some(fields) = &expected.fields {
        let lower = stored.fields.iter().map(|(name, value)| (name.to_lowercase(), String::from_utf8_lossy(value)));
        let lower: BTreeMap<String, String> = lower.map(|(name, value)| (name, value.into_owned())).collect();
        equal("the stored fields", &lower, fields)?;
    }
    let derived = expected.derived.as_ref().map(|name| view.key_id().derive_key(name).as_str().as_bytes().to_vec());
    let body = expected.body.as_ref().map(crate::format::Bytes::bytes).or(derived);
    if let Some(body) = body {
        equal("the stored body", &stored.body, &StoredBody::Kept(body))?;
    }
    equal("that the body is omitted", &matches!(stored.body, StoredBody::Omitted(_)), &expected.omitted)
}
