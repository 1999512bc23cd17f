//! Does the steps of a scenario, and holds what happened against what was expected.

mod begin;
mod outbox;
mod records;
mod run;
mod settle;
mod tables;

use std::time::Duration;

use keyledger::Error;
use serde_json::{Value, json};

use super::answers::ok;
use super::compare::{difference, short};
use super::file::Case;
use super::scenario::{Act, Step};
use super::world::{Store, World};

/// What a step led to.
struct Happened {
    /// In the form that scenarios expect.
    what: Value,
    /// Whether the closure or handler of the step ran.
    ran: bool,
}

impl Happened {
    fn plain(what: Value) -> Self {
        Self { what, ran: false }
    }
}

/// Runs one scenario in a store. The error names the step and says what differs.
pub fn run(case: &Case, store: Store) -> Result<(), String> {
    let mut world = World::new(&case.scenario, store).map_err(|error| format!("opening: {error}"))?;
    steps(&mut world, &case.scenario.steps).and_then(|()| well(&world)).map_err(|message| {
        format!("{}: {}\n{message}\nrules: {}", case.file, case.scenario.name, case.scenario.rules.join(", "))
    })
}

/// Nothing in the file is at odds with anything else (I7), where the scenario has left it open.
fn well(world: &World) -> Result<(), String> {
    match world.ledger.check() {
        Ok(checked) if checked.is_well() => Ok(()),
        Ok(checked) => Err(format!("the file is not well: {:?}", checked.faults)),
        Err(Error::Closed | Error::Suspended) => Ok(()),
        Err(error) => Err(format!("the file cannot be checked: {error}")),
    }
}

fn steps(world: &mut World, steps: &[Step]) -> Result<(), String> {
    steps
        .iter()
        .enumerate()
        .try_for_each(|(at, step)| one(world, step).map_err(|message| format!("step {}: {message}", at + 1)))
}

fn one(world: &mut World, step: &Step) -> Result<(), String> {
    let before = step.file.as_ref().and_then(|_| world.bytes());
    let happened = act(world, &step.act)?;
    if let Some(expected) = &step.expect
        && let Some(where_) = difference(expected, &happened.what, &world.names)
    {
        return Err(told(expected, &happened.what, &where_));
    }
    if step.ran.is_some_and(|ran| ran != happened.ran) {
        return Err(format!("ran: expected {:?}, found {}", step.ran, happened.ran));
    }
    if before.is_some() && before != world.bytes() {
        return Err("the step changed the file".to_owned());
    }
    Ok(())
}

fn told(expected: &Value, found: &Value, difference: &str) -> String {
    format!("expected {}\n   found {}\n      at {difference}", short(expected), short(found))
}

fn act(world: &mut World, act: &Act) -> Result<Happened, String> {
    let what = match act {
        Act::Advance { ms } => {
            world.clock.advance(Duration::from_millis(*ms));
            Value::Null
        }
        Act::Jump { ms } => {
            world.clock.jump_wall(*ms);
            Value::Null
        }
        Act::Repeat { times, steps: repeated } => repeat(world, *times, repeated)?,
        Act::Restart => must(world.restart())?,
        Act::Kill => must(world.kill())?,
        Act::Suspend => ok(world.ledger.suspend()),
        Act::Resume => ok(world.ledger.resume()),
        Act::Reopen => ok(world.ledger.reopen()),
        Act::Close => ok(world.ledger.close()),
        Act::Begin(asked) => begin::begin(world, asked),
        Act::BeginMany { begins } => begin::begin_many(world, begins),
        Act::Complete { .. } | Act::Fail { .. } | Act::Release { .. } | Act::Park { .. } => settle::settle(world, act),
        Act::Heartbeat { target, lease_ms } => settle::heartbeat(world, target, *lease_ms),
        Act::RecordStep { target, name, value } => settle::record_step(world, target, name, value),
        Act::Step { claim, name, value } => return Ok(settle::step(world, claim, name, value)),
        Act::Drop { claim } => settle::drop_claim(world, claim),
        Act::Look { claim } => settle::look(world, claim),
        Act::DeriveKey { claim, name } => json!(world.claim(claim).derive_key(name).as_str()),
        Act::Inspect { id, name } => records::inspect(world, id, name.as_deref()),
        Act::List { filter } => records::list(world, filter),
        Act::Recover { op, limit, names, any_order } => records::recover(world, op, *limit, names, *any_order),
        Act::Resolve { id, fence, verdict } => records::resolve(world, id, fence, verdict),
        Act::ResolveMany { filter, verdict } => records::resolve_many(world, filter, verdict),
        Act::Forget { id, even_if_unknown } => records::forget(world, id, *even_if_unknown),
        Act::ForgetScope { scope, even_if_unknown } => records::forget_scope(world, scope, *even_if_unknown),
        Act::Sweep { limit } => records::sweep(world, *limit),
        Act::Stats => records::stats(world),
        Act::Transaction { calls, end } => tables::transaction(world, calls, end)?,
        Act::CompleteWith { claim, calls, response, end } => {
            return tables::complete_with(world, claim, calls, response, end);
        }
        Act::Apply { calls } => tables::apply(world, calls),
        Act::CompleteBatch { claim, calls, response } => tables::complete_batch(world, claim, calls, response),
        Act::Get { table, key } => tables::get(world, table, key),
        Act::Scan { table, from, to, limit } => tables::scan(world, table, from, to.as_ref(), *limit),
        Act::Outbox(act) => outbox::act(world, act)?,
        Act::Run { id, fingerprint, handler } => return run::run(world, id, fingerprint.as_ref(), handler),
    };
    Ok(Happened::plain(what))
}

fn repeat(world: &mut World, times: u32, repeated: &[Step]) -> Result<Value, String> {
    for time in 1..=times {
        steps(world, repeated).map_err(|message| format!("time {time}: {message}"))?;
    }
    Ok(Value::Null)
}

/// For what a scenario takes for granted.
fn must(result: keyledger::Result<()>) -> Result<Value, String> {
    result.map(|()| Value::Null).map_err(|error| format!("cannot go on: {error}"))
}
