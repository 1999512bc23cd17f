//! Leasing, sending by a script, and settling.

use std::time::Duration;

use keyledger::{Delivery, DeliveryOutcome, Error, Report};
use serde_json::{Value, json};

use super::super::super::answers::{answer, failed, ok};
use super::super::super::outbox::{Handed, shown};
use super::super::super::scenario::{Leasing, Told};
use super::super::super::values::{self, response};
use super::super::super::world::World;

/// How many are leased where a step does not say.
const LIMIT: usize = 10;

fn outcome(value: &Value) -> DeliveryOutcome {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let told = |name: &str| value.get(name).map(response);
    let outcome = None
        .or_else(|| told("yes").map(DeliveryOutcome::yes))
        .or_else(|| told("no").map(DeliveryOutcome::no))
        .or_else(|| text("retry").map(DeliveryOutcome::retry))
        .or_else(|| text("dead").map(DeliveryOutcome::dead))
        .or_else(|| text("unknown").map(DeliveryOutcome::unknown))
        .or_else(|| text("hold_lane").map(DeliveryOutcome::hold_lane))
        .or_else(|| text("hold_entry").map(DeliveryOutcome::hold_entry))
        .unwrap_or_else(|| panic!("no outcome: {value}"));
    marked(outcome, value)
}

fn marked(outcome: DeliveryOutcome, value: &Value) -> DeliveryOutcome {
    let is = |name: &str| value[name].as_bool().unwrap_or_default();
    let outcome = if is("replayed") { outcome.replayed() } else { outcome };
    let outcome = if is("not_taken") { outcome.not_taken() } else { outcome };
    let outcome = if is("not_counted") { outcome.not_counted() } else { outcome };
    let outcome = if is("pausing_lane") { outcome.pausing_lane() } else { outcome };
    let span = |name: &str| value[name].as_u64().map(Duration::from_millis);
    let outcome = match span("not_before_ms") {
        Some(span) => outcome.not_before(span),
        None => outcome,
    };
    match span("key_expires_after_ms") {
        Some(span) => outcome.key_expires_after(span),
        None => outcome,
    }
}

/// Shows deliveries in their order, and keeps them by their names.
fn kept(world: &mut World, names: &[String], deliveries: Vec<Delivery>) -> Value {
    let shown = deliveries.iter().map(shown::delivery).collect();
    for (at, delivery) in deliveries.into_iter().enumerate() {
        world.mail.keep(names.get(at).map(String::as_str), delivery);
    }
    shown
}

fn leased(world: &World, leasing: &Leasing, limit: usize) -> Result<Vec<Delivery>, Error> {
    let scope = values::scope(leasing.scope.as_ref())?;
    world.mail.outbox().lease_due(&scope, leasing.limit.unwrap_or(limit))
}

pub(super) fn lease_due(world: &mut World, leasing: &Leasing) -> Value {
    answer(leased(world, leasing, LIMIT), |deliveries| json!({ "deliveries": kept(world, &leasing.names, deliveries) }))
}

/// The scripted transport: the first delivery gets the first answer, and so on.
pub(super) fn deliver(world: &mut World, leasing: &Leasing, script: &[Value]) -> Result<Value, String> {
    let deliveries = match leased(world, leasing, script.len()) {
        Ok(deliveries) if deliveries.len() > script.len() => {
            return Err(format!("{} deliveries, and answers for {}", deliveries.len(), script.len()));
        }
        Ok(deliveries) => deliveries,
        Err(error) => return Ok(failed(&error)),
    };
    let count = deliveries.len();
    let names: Vec<String> = (0..count).map(|at| name_of(&leasing.names, at)).collect();
    let shown = kept(world, &names, deliveries);
    let settled: Value = names.iter().zip(script).map(|(name, answer)| answered(world, name, answer)).collect();
    Ok(json!({ "deliveries": shown, "settled": settled }))
}

fn name_of(names: &[String], at: usize) -> String {
    names.get(at).cloned().unwrap_or_else(|| format!("scripted {at}"))
}

fn answered(world: &mut World, name: &str, script: &Value) -> Value {
    match script.as_str() {
        Some("silence") => {
            let handed = world.mail.handed(name);
            if let Some(delivery) = handed.delivery.take() {
                // Its process hears nothing and says nothing: not even that it has let go.
                let _ = delivery.report(DeliveryOutcome::retry("silence"));
            }
            Value::Null
        }
        Some("drop") => drop_delivery(world, name),
        _ => told(world, name, outcome(script)),
    }
}

pub(super) fn settle(world: &mut World, given: &Told) -> Value {
    told(world, &given.delivery, outcome(&given.outcome))
}

/// By the object while there is one, then by id and fence.
fn told(world: &mut World, name: &str, outcome: DeliveryOutcome) -> Value {
    let outbox = world.mail.outbox();
    let handed = world.mail.handed(name);
    let Some(delivery) = handed.delivery.take() else {
        return ok(outbox.settle(&Report { id: handed.id, fence: handed.fence, outcome }));
    };
    ok(delivery.settle(outcome).map_err(|refused| {
        handed.delivery = Some(*refused.delivery);
        refused.source
    }))
}

pub(super) fn settle_and_lease(world: &mut World, reports: &[Told], leasing: &Leasing) -> Value {
    let reports: Vec<Report> =
        reports.iter().map(|told| report(world.mail.handed(&told.delivery), outcome(&told.outcome))).collect();
    let outbox = world.mail.outbox();
    let turn = values::scope(leasing.scope.as_ref())
        .and_then(|scope| outbox.settle_and_lease(&reports, &scope, leasing.limit.unwrap_or(LIMIT)));
    answer(turn, |turn| {
        let settled: Value = turn.settled.into_iter().map(ok).collect();
        json!({ "settled": settled, "deliveries": kept(world, &leasing.names, turn.deliveries) })
    })
}

fn report(handed: &mut Handed, outcome: DeliveryOutcome) -> Report {
    match handed.delivery.take() {
        Some(delivery) => delivery.report(outcome),
        None => Report { id: handed.id, fence: handed.fence, outcome },
    }
}

pub(super) fn drop_delivery(world: &mut World, name: &str) -> Value {
    drop(world.mail.handed(name).delivery.take());
    Value::Null
}
