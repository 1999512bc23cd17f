//! `run` with a handler.

use keyledger::{Begin, Claim, ErrorMeans, Response, RunError};
use serde_json::{Value, json};

use super::super::answers::{self, failed};
use super::super::compare::difference;
use super::super::scenario::{Handler, Id};
use super::super::values::{self, response, shown_response};
use super::super::world::World;
use super::{Happened, steps, told};

/// What a handler raises.
enum Raised {
    /// The scenario's own error.
    Text(String),
    /// What happened inside is not what was expected.
    Differs(String),
}

pub(super) fn run(
    world: &mut World,
    id: &Id,
    fingerprint: Option<&Value>,
    handler: &Handler,
) -> Result<Happened, String> {
    let operation = world.operation(&id.op);
    let (scope, key) = match (values::scope(id.scope.as_ref()), values::key(id.key.as_ref())) {
        (Ok(scope), Ok(key)) => (scope, key),
        (Err(error), _) | (_, Err(error)) => return Ok(Happened::plain(failed(&error))),
    };
    let ledger = world.ledger.clone();
    let mut ran = false;
    let begin = Begin::new(&operation, &scope, &key, values::fingerprint(fingerprint));
    let ended = ledger.run_with(
        &begin,
        |_| means(handler),
        |claim| {
            ran = true;
            handle(world, claim, handler)
        },
    );
    Ok(Happened { what: told_by(ended)?, ran })
}

/// In which of the caller's two lists the error is (S8).
fn means(handler: &Handler) -> ErrorMeans {
    match handler.class.as_deref() {
        None => ErrorMeans::ByEffect,
        Some("not_done") => ErrorMeans::NotDone,
        Some("final") => ErrorMeans::Final(response(handler.response.as_ref().expect("the response of a final error"))),
        Some(other) => panic!("no list of errors is called {other}"),
    }
}

fn handle(world: &mut World, claim: &mut Claim, handler: &Handler) -> Result<Response, Raised> {
    if let Some(expected) = &handler.claim {
        let found = answers::claim(claim);
        if let Some(where_) = difference(expected, &found, &world.names) {
            return Err(Raised::Differs(format!("the handler's claim: {}", told(expected, &found, &where_))));
        }
    }
    steps(world, &handler.during).map_err(|message| Raised::Differs(format!("in the handler: {message}")))?;
    match (&handler.returns, &handler.raises) {
        (Some(given), _) => Ok(response(given)),
        (None, raises) => Err(Raised::Text(raises.clone().unwrap_or_default())),
    }
}

fn told_by(ended: Result<Response, RunError<Raised>>) -> Result<Value, String> {
    Ok(match ended {
        Ok(response) => json!({ "response": shown_response(&response) }),
        Err(RunError::Refused(refused)) => {
            let mut shown = answers::decision(&refused.decision);
            shown["refused"] = json!(refused.code());
            shown
        }
        Err(RunError::ReplayedFailure(response)) => json!({ "replayed_failure": shown_response(&response) }),
        Err(RunError::Handler(Raised::Text(text))) => json!({ "raised": text }),
        Err(RunError::Ledger(error)) => failed(&error),
        Err(RunError::Handler(Raised::Differs(message))) => return Err(message),
    })
}
