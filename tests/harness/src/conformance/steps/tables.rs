//! Section 7: tables, transactions, batches, and completing inside them.

use keyledger::{Batch, Error, Transaction};
use serde_json::{Value, json};

use super::super::answers::{answer, failed, ok};
use super::super::compare::difference;
use super::super::scenario::{Call, CallLine};
use super::super::values::{bytes, response, shown_bytes, text};
use super::super::world::World;
use super::{Happened, outbox, told};

/// Why a closure ended without an answer.
enum Stop {
    /// The scenario says `abort`.
    Abort,
    /// A call failed, and the scenario has no expectation for it.
    Failed(Error),
    /// What happened inside is not what was expected.
    Differs(String),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

pub(super) fn transaction(world: &mut World, calls: &[CallLine], end: &str) -> Result<Value, String> {
    let ledger = world.ledger.clone();
    told_by(ledger.transaction(|tx| inside(world, tx, calls, end)))
}

pub(super) fn complete_with(
    world: &mut World,
    claim: &str,
    calls: &[CallLine],
    given: &Value,
    end: &str,
) -> Result<Happened, String> {
    let mut ran = false;
    let mut object = world.take(claim);
    let completed = object.complete_with(|tx| {
        ran = true;
        inside(world, tx, calls, end).map(|()| response(given))
    });
    world.held(claim).claim = Some(object);
    let what = told_by(completed.map(drop))?;
    Ok(Happened { what, ran })
}

fn told_by(ended: Result<(), Stop>) -> Result<Value, String> {
    match ended {
        Ok(()) => Ok(json!("ok")),
        Err(Stop::Abort) => Ok(json!({ "raised": "abort" })),
        Err(Stop::Failed(error)) => Ok(failed(&error)),
        Err(Stop::Differs(message)) => Err(message),
    }
}

fn inside(world: &mut World, tx: &mut Transaction<'_, '_>, calls: &[CallLine], end: &str) -> Result<(), Stop> {
    for (at, line) in calls.iter().enumerate() {
        let done = call(world, tx, &line.call);
        match &line.expect {
            None => drop(done?),
            Some(expected) => {
                let found = answer(done, |found| found);
                if let Some(where_) = difference(expected, &found, &world.names) {
                    return Err(Stop::Differs(format!("call {}: {}", at + 1, told(expected, &found, &where_))));
                }
            }
        }
    }
    if end == "abort" { Err(Stop::Abort) } else { Ok(()) }
}

fn call(world: &mut World, tx: &mut Transaction<'_, '_>, call: &Call) -> Result<Value, Error> {
    match call {
        Call::Get { table, key } => Ok(shown_row(tx.get(&text(table), &bytes(key))?)),
        Call::Scan { table, from, to, limit } => {
            let to = to.as_ref().map(bytes);
            Ok(shown_rows(&tx.scan(&text(table), &bytes(from), to.as_deref(), *limit)?))
        }
        Call::Put { table, key, value } => done(tx.put(&text(table), &bytes(key), bytes(value))),
        Call::Delete { table, key } => done(tx.delete(&text(table), &bytes(key))),
        Call::InsertUnique { table, key, value } => done(tx.insert_unique(&text(table), &bytes(key), bytes(value))),
        Call::CompareAndSet { table, key, expected, value } => {
            let (expected, value) = (expected.as_ref().map(bytes), value.as_ref().map(bytes));
            done(tx.compare_and_set(&text(table), &bytes(key), expected.as_deref(), value.as_deref()))
        }
        Call::Complete { claim, response: given } => {
            done(tx.complete(&world.claims[claim].id, world.fence(claim), response(given)))
        }
        Call::Enqueue(given) => {
            let answered = tx.enqueue(&world.mail.outbox(), &outbox::wanted(given)?)?;
            Ok(outbox::enqueued(&mut world.names, given, &answered))
        }
        Call::Reenter => done(world.ledger.stats().map(drop)),
    }
}

fn done(result: Result<(), Error>) -> Result<Value, Error> {
    result.map(|()| json!("ok"))
}

fn batch(world: &World, calls: &[CallLine]) -> Result<Batch, Error> {
    calls.iter().try_fold(Batch::new(), |batch, line| match &line.call {
        Call::Enqueue(given) => Ok(batch.enqueue(&world.mail.outbox(), &outbox::wanted(given)?)),
        call => Ok(rows(batch, call)),
    })
}

fn rows(batch: Batch, call: &Call) -> Batch {
    match call {
        Call::Put { table, key, value } => batch.put(text(table), bytes(key), bytes(value)),
        Call::Delete { table, key } => batch.delete(text(table), bytes(key)),
        Call::InsertUnique { table, key, value } => batch.insert_unique(text(table), bytes(key), bytes(value)),
        Call::CompareAndSet { table, key, expected, value } => {
            batch.compare_and_set(text(table), bytes(key), expected.as_ref().map(bytes), value.as_ref().map(bytes))
        }
        Call::Get { .. } | Call::Scan { .. } | Call::Complete { .. } | Call::Enqueue(_) | Call::Reenter => {
            panic!("a batch only writes")
        }
    }
}

pub(super) fn apply(world: &mut World, calls: &[CallLine]) -> Value {
    ok(batch(world, calls).and_then(|batch| world.ledger.apply(&batch)))
}

pub(super) fn complete_batch(world: &mut World, claim: &str, calls: &[CallLine], given: &Value) -> Value {
    let batch = batch(world, calls);
    ok(batch.and_then(|batch| world.claim(claim).complete_batch(&batch, response(given)).map(drop)))
}

pub(super) fn get(world: &mut World, table: &Value, key: &Value) -> Value {
    answer(world.ledger.get(&text(table), &bytes(key)), shown_row)
}

pub(super) fn scan(world: &mut World, table: &Value, from: &Value, to: Option<&Value>, limit: usize) -> Value {
    let to = to.map(bytes);
    answer(world.ledger.scan(&text(table), &bytes(from), to.as_deref(), limit), |rows| shown_rows(&rows))
}

fn shown_row(value: Option<Vec<u8>>) -> Value {
    value.map_or(Value::Null, |value| shown_bytes(&value))
}

fn shown_rows(rows: &[(Vec<u8>, Vec<u8>)]) -> Value {
    rows.iter().map(|(key, value)| json!([shown_bytes(key), shown_bytes(value)])).collect()
}
