//! Looking at records, recovery, a person's part, and the end of their time.

use keyledger::{AtLeast, Error, Filter, Forgotten, Ledger, Resolution, StateName};
use serde_json::{Value, json};

use super::super::answers::{answer, at, claim, ok, record};
use super::super::scenario::{Id, Verdict, Which};
use super::super::values;
use super::super::world::{Held, World};

pub(super) fn inspect(world: &mut World, id: &Id, name: Option<&str>) -> Value {
    let found = world.key_id(id).and_then(|key_id| Ok((world.ledger.inspect(&key_id)?, key_id)));
    answer(found, |(view, key_id)| {
        let Some(view) = view else { return Value::Null };
        if let Some(name) = name {
            world.names.fences.insert(name.to_owned(), view.fence());
            world.claims.insert(name.to_owned(), Held { id: key_id, op: id.op.clone(), claim: None });
        }
        record(&view)
    })
}

fn filter(world: &World, which: &Which) -> Result<Filter, Error> {
    let mut filter = Filter::all();
    if let Some(op) = &which.op {
        filter = filter.operation(world.operation_name(op)?);
    }
    if let Some(scope) = &which.scope {
        filter = filter.scope(values::scope(Some(scope))?);
    }
    if let Some(state) = &which.state {
        filter = filter.state(state_named(state));
    }
    if let Some(page) = which.page {
        filter = filter.limit(page);
    }
    Ok(filter)
}

fn state_named(name: &str) -> StateName {
    StateName::named(name).unwrap_or_else(|| panic!("no state is called {name}"))
}

pub(super) fn list(world: &mut World, which: &Which) -> Value {
    let mut keys = Vec::new();
    let listed = filter(world, which).and_then(|filter| pages(&world.ledger, filter, &mut keys));
    keys.sort();
    answer(listed, |()| json!({ "keys": keys }))
}

fn pages(ledger: &Ledger, mut filter: Filter, keys: &mut Vec<String>) -> Result<(), Error> {
    loop {
        let page = ledger.list(&filter)?;
        keys.extend(page.records.iter().map(|view| view.key_id().key().as_str().to_owned()));
        match page.next {
            Some(next) => filter = filter.after(next),
            None => return Ok(()),
        }
    }
}

pub(super) fn recover(world: &mut World, op: &str, limit: usize, names: &[String], any_order: bool) -> Value {
    let operation = world.operation(op);
    answer(world.ledger.recover(&operation, limit), |mut claims| {
        if any_order {
            claims.sort_by(|one, other| one.key_id().cmp(other.key_id()));
        }
        let shown: Value = claims.iter().map(claim).collect();
        for (at, granted) in claims.into_iter().enumerate() {
            world.keep(names.get(at).map(String::as_str), op, granted);
        }
        json!({ "claims": shown })
    })
}

fn resolution(verdict: &Verdict) -> Resolution {
    let given = || values::response(verdict.response.as_ref().expect("the response of an outcome"));
    match verdict.outcome.as_str() {
        "completed" => Resolution::Completed(given()),
        "failed" => Resolution::Failed(given()),
        "not_done" => Resolution::NotDone,
        other => panic!("no outcome is called {other}"),
    }
}

pub(super) fn resolve(world: &mut World, id: &Id, fence: &str, verdict: &Verdict) -> Value {
    let fence = world.fence(fence);
    ok(world
        .key_id(id)
        .and_then(|id| world.ledger.resolve(&id, fence, resolution(verdict), &verdict.who, &verdict.note)))
}

pub(super) fn resolve_many(world: &mut World, which: &Which, verdict: &Verdict) -> Value {
    let resolved = filter(world, which)
        .and_then(|filter| world.ledger.resolve_many(&filter, &resolution(verdict), &verdict.who, &verdict.note));
    answer(resolved, |resolved| json!({ "resolved": resolved }))
}

fn forgotten(counts: Forgotten) -> Value {
    json!({
        "settled": counts.settled,
        "released": counts.released,
        "tombstones": counts.tombstones,
        "unsettled": counts.unsettled,
        "kept_unsettled": counts.kept_unsettled,
        "entries": counts.entries,
        "kept_entries": counts.kept_entries,
    })
}

pub(super) fn forget(world: &mut World, id: &Id, even_if_unknown: bool) -> Value {
    answer(world.key_id(id).and_then(|id| world.ledger.forget(&id, even_if_unknown)), forgotten)
}

pub(super) fn forget_scope(world: &mut World, scope: &Value, even_if_unknown: bool) -> Value {
    let counts = values::scope(Some(scope)).and_then(|scope| world.ledger.forget_scope(&scope, even_if_unknown));
    answer(counts, forgotten)
}

pub(super) fn sweep(world: &mut World, limit: usize) -> Value {
    answer(
        world.ledger.sweep(limit),
        |swept| json!({ "tombstoned": swept.tombstoned, "removed": swept.removed, "entries_removed": swept.entries_removed, "more": swept.more }),
    )
}

fn count(at_least: AtLeast) -> u64 {
    at_least.count
}

pub(super) fn stats(world: &mut World) -> Value {
    answer(world.ledger.stats(), |stats| {
        json!({
            "in_progress": stats.in_progress,
            "released": stats.released,
            "completed": stats.completed,
            "failed": stats.failed,
            "parked": stats.parked,
            "tombstones": stats.tombstones,
            "lapsed": count(stats.lapsed),
            "due": count(stats.due),
            "oldest_unsettled_at_ms": stats.oldest_unsettled_at_ms.map(at),
        })
    })
}
