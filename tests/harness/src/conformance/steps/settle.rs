//! What an owner does with its claim.

use keyledger::{Claim, Error, SettleError, Settlement};
use serde_json::{Value, json};

use super::super::answers::{self, answer, ok};
use super::super::scenario::{Act, Target};
use super::super::values::{bytes, milliseconds, response, shown_bytes};
use super::super::world::World;
use super::Happened;

pub(super) fn settle(world: &mut World, act: &Act) -> Value {
    match act {
        Act::Complete { target, response: given } => {
            let told = response(given);
            with(world, target, Settlement::Complete(told.clone()), |claim| claim.complete(told))
        }
        Act::Fail { target, response: given } => {
            let told = response(given);
            with(world, target, Settlement::Fail(told.clone()), |claim| claim.fail(told))
        }
        Act::Release { target } => with(world, target, Settlement::Release, Claim::release),
        Act::Park { target, reason } => {
            with(world, target, Settlement::Park(reason.clone()), |claim| claim.park(reason.as_str()))
        }
        _ => unreachable!("only settling acts come here"),
    }
}

/// By the object, or the same by its key id and fence.
fn with(
    world: &mut World,
    target: &Target,
    settlement: Settlement,
    by_object: impl FnOnce(Claim) -> Result<(), SettleError>,
) -> Value {
    if target.by.is_some() {
        return ok(by_fence(world, target, settlement));
    }
    ok(by_object(world.take(&target.claim)).map_err(|refused| {
        world.held(&target.claim).claim = Some(*refused.claim);
        refused.source
    }))
}

fn by_fence(world: &mut World, target: &Target, settlement: Settlement) -> Result<(), Error> {
    let fence = world.fence(&target.claim);
    let id = match &target.on {
        Some(on) => world.key_id(on)?,
        None => world.held(&target.claim).id.clone(),
    };
    world.ledger.settle(&id, fence, settlement)
}

pub(super) fn heartbeat(world: &mut World, target: &Target, lease_ms: Option<i64>) -> Value {
    let lease = lease_ms.map(milliseconds);
    if target.by.is_some() {
        let held = world.held(&target.claim);
        let (id, op) = (held.id.clone(), held.op.clone());
        let lease = lease.unwrap_or_else(|| world.operation(&op).lease_time());
        return ok(world.ledger.heartbeat(&id, world.fence(&target.claim), lease));
    }
    let claim = world.claim(&target.claim);
    ok(match lease {
        Some(lease) => claim.heartbeat_for(lease),
        None => claim.heartbeat(),
    })
}

pub(super) fn record_step(world: &mut World, target: &Target, name: &str, value: &Value) -> Value {
    if target.by.is_some() {
        let id = world.held(&target.claim).id.clone();
        return ok(world.ledger.record_step(&id, world.fence(&target.claim), name, bytes(value)));
    }
    ok(world.claim(&target.claim).record_step(name, bytes(value)))
}

pub(super) fn step(world: &mut World, claim: &str, name: &str, value: &Value) -> Happened {
    let mut ran = false;
    let stored = world.claim(claim).step(name, || {
        ran = true;
        Ok::<_, Error>(bytes(value))
    });
    Happened { what: answer(stored, |stored| json!({ "value": shown_bytes(&stored) })), ran }
}

pub(super) fn drop_claim(world: &mut World, claim: &str) -> Value {
    drop(world.held(claim).claim.take());
    Value::Null
}

pub(super) fn look(world: &mut World, claim: &str) -> Value {
    answers::claim(world.claim(claim))
}
