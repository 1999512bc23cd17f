//! `begin` and `begin_many`.

use keyledger::{Begin, Decision, Error, Fingerprint, Key, Operation, Scope};
use serde_json::Value;

use super::super::answers::{answer, decision};
use super::super::scenario::Asked;
use super::super::values;
use super::super::world::World;

/// What a begin borrows from.
struct Parts {
    operation: Operation,
    scope: Scope,
    key: Key,
    fingerprint: Fingerprint,
}

pub(super) fn begin(world: &mut World, asked: &Asked) -> Value {
    let decided = parts(world, asked).and_then(|parts| world.ledger.begin_with(&request(&parts, asked)));
    answer(decided, |decided| keep(world, asked, decided))
}

pub(super) fn begin_many(world: &mut World, asked: &[Asked]) -> Value {
    let decided = asked.iter().map(|asked| parts(world, asked)).collect::<Result<Vec<_>, Error>>().and_then(|parts| {
        let begins: Vec<Begin> = parts.iter().zip(asked).map(|(parts, asked)| request(parts, asked)).collect();
        world.ledger.begin_many(&begins)
    });
    answer(decided, |decided| asked.iter().zip(decided).map(|(asked, decided)| keep(world, asked, decided)).collect())
}

fn parts(world: &World, asked: &Asked) -> Result<Parts, Error> {
    Ok(Parts {
        operation: world.operation(&asked.id.op),
        scope: values::scope(asked.id.scope.as_ref())?,
        key: values::key(asked.id.key.as_ref())?,
        fingerprint: values::fingerprint(asked.fingerprint.as_ref()),
    })
}

fn request(parts: &Parts, asked: &Asked) -> Begin {
    let mut begin = Begin::new(&parts.operation, &parts.scope, &parts.key, parts.fingerprint);
    if let Some(memo) = &asked.memo {
        begin = begin.memo(values::bytes(memo));
    }
    if let Some(wait_ms) = asked.wait_ms {
        begin = begin.wait(values::milliseconds(wait_ms));
    }
    begin
}

fn keep(world: &mut World, asked: &Asked, decided: Decision) -> Value {
    let shown = decision(&decided);
    if let Decision::Acquired(claim) = decided {
        world.keep(asked.name.as_deref(), &asked.id.op, claim);
    }
    shown
}
