//! Looking into the outbox.

use std::time::Duration;

use keyledger::{EntryFilter, EntryStateName, EntryView, Error, Outbox};
use serde_json::{Value, json};

use super::super::super::answers::{answer, at};
use super::super::super::outbox::shown;
use super::super::super::scenario::Shown;
use super::super::super::values::{self, shown_bytes};
use super::super::super::world::World;
use super::id;

pub(super) fn next_wakeup(world: &mut World, scope: Option<&Value>) -> Value {
    let wakeup = values::scope(scope).and_then(|scope| world.mail.outbox().next_wakeup(&scope));
    answer(wakeup, |wakeup| json!({ "wakeup_at_ms": wakeup.map(at) }))
}

pub(super) fn entry(world: &mut World, name: &str) -> Value {
    let (outbox, id) = (world.mail.outbox(), id(world, name));
    let found = outbox.get(id).and_then(|entry| Ok((entry, outbox.request(id)?)));
    answer(found, |found| match found {
        (Some(entry), Some((media_type, request))) => {
            let mut told = shown::entry(&entry);
            told["request"] = shown_bytes(&request);
            told["media_type"] = json!(media_type);
            told
        }
        (None, None) => Value::Null,
        (entry, _) => json!({ "half": entry.is_some() }),
    })
}

fn filter(which: &Shown) -> Result<EntryFilter, Error> {
    let mut filter = EntryFilter::all();
    if let Some(scope) = &which.scope {
        filter = filter.scope(&values::scope(Some(scope))?);
    }
    if let Some(lane) = &which.lane {
        filter = filter.lane(lane.as_str());
    }
    if let Some(state) = &which.state {
        let named = EntryStateName::ALL.into_iter().find(|name| name.as_str() == state);
        filter = filter.state(named.unwrap_or_else(|| panic!("no state is called {state}")));
    }
    Ok(which.page.map_or(filter.clone(), |page| filter.limit(page)))
}

fn pages(outbox: &Outbox, mut filter: EntryFilter) -> Result<Vec<EntryView>, Error> {
    let mut entries = Vec::new();
    loop {
        let page = outbox.list(&filter)?;
        entries.extend(page.entries);
        match page.next {
            Some(next) => filter = filter.after(next),
            None => return Ok(entries),
        }
    }
}

pub(super) fn list(world: &mut World, which: &Shown) -> Value {
    let listed = filter(which).and_then(|filter| pages(&world.mail.outbox(), filter));
    answer(listed, |entries| json!({ "entries": entries.iter().map(shown::entry).collect::<Value>() }))
}

pub(super) fn stats(world: &mut World) -> Value {
    answer(world.mail.outbox().stats(), |stats| shown::stats(&stats))
}

/// All that changed since this step was done last.
pub(super) fn changes(world: &mut World) -> Value {
    let mut changes = world.mail.outbox().changes(world.mail.last_change);
    let mut told = Vec::new();
    loop {
        match changes.next(Duration::ZERO) {
            Ok(Some(entry)) => told.push(shown::entry(&entry)),
            Ok(None) => break,
            Err(error) => return answer(Err(error), |()| Value::Null),
        }
    }
    world.mail.last_change = changes.last_change();
    json!({ "entries": told })
}

/// The first that is told; a settled entry ends it.
pub(super) fn changes_of(world: &mut World, name: &str) -> Value {
    let mut states = Vec::new();
    let ended = world.mail.outbox().changes_of(id(world, name), |entry| {
        states.push(entry.state().as_str());
        entry.is_settled()
    });
    answer(ended, |_| json!({ "states": states }))
}

pub(super) fn wait(world: &mut World, name: &str, wait_ms: u64) -> Value {
    let waited = world.mail.outbox().wait(id(world, name), Duration::from_millis(wait_ms));
    answer(waited, |entry| shown::entry(&entry))
}
