//! Enqueueing, and looking for a purpose.

use keyledger::{Enqueue, Enqueued, EntryView, Error};
use serde_json::{Value, json};

use super::super::super::answers::answer;
use super::super::super::compare::Names;
use super::super::super::outbox::shown;
use super::super::super::scenario::{Sought, Wanted};
use super::super::super::values::{self, bytes, text};
use super::super::super::world::{START_MS, World};

/// What the scenario wants to have sent.
pub(in super::super) fn wanted(wanted: &Wanted) -> Result<Enqueue, Error> {
    let scope = values::scope(wanted.scope.as_ref())?;
    let or = |given: &Option<Value>, default: &str| given.as_ref().map_or_else(|| default.to_owned(), text);
    let request = wanted.request.as_ref().map_or_else(|| b"request-1".to_vec(), bytes);
    let mut enqueue =
        Enqueue::new(&scope, or(&wanted.operation, "charge"), or(&wanted.media_type, "text/plain"), request);
    if let Some(lane) = &wanted.lane {
        enqueue = enqueue.lane(text(lane));
    }
    if let Some(key) = &wanted.key {
        enqueue = enqueue.key(&values::key(Some(key))?);
    }
    if let Some(purpose) = &wanted.purpose {
        enqueue = enqueue.purpose(text(purpose));
    }
    if let Some(fingerprint) = &wanted.fingerprint {
        enqueue = enqueue.fingerprint(values::fingerprint(Some(fingerprint)));
    }
    if let Some(at_ms) = wanted.send_by_at_ms {
        enqueue = enqueue.send_by_ms(START_MS.saturating_add_signed(at_ms));
    }
    Ok(if wanted.even_if_answered { enqueue.even_if_answered() } else { enqueue })
}

/// Names the entry, and shows it.
pub(super) fn named(names: &mut Names, name: Option<&str>, entry: &EntryView) -> Value {
    if let Some(name) = name {
        names.entries.insert(name.to_owned(), (entry.id().get(), entry.key().as_str().to_owned()));
    }
    shown::entry(entry)
}

/// What `enqueue` answers; the entry gets its name.
pub(in super::super) fn enqueued(names: &mut Names, wanted: &Wanted, enqueued: &Enqueued) -> Value {
    json!({ "created": enqueued.created, "entry": named(names, wanted.name.as_deref(), &enqueued.entry) })
}

pub(super) fn enqueue(world: &mut World, given: &Wanted) -> Value {
    let outbox = world.mail.outbox();
    answer(wanted(given).and_then(|enqueue| outbox.enqueue(&enqueue)), |answered| {
        enqueued(&mut world.names, given, &answered)
    })
}

pub(super) fn enqueue_many(world: &mut World, given: &[Wanted]) -> Value {
    let outbox = world.mail.outbox();
    let enqueues: Result<Vec<_>, Error> = given.iter().map(wanted).collect();
    answer(enqueues.and_then(|enqueues| outbox.enqueue_many(&enqueues)), |answered| {
        given.iter().zip(&answered).map(|(given, answered)| enqueued(&mut world.names, given, answered)).collect()
    })
}

pub(super) fn find(world: &mut World, sought: &Sought) -> Value {
    let outbox = world.mail.outbox();
    let lane = sought.lane.as_ref().map_or_else(|| "default".to_owned(), text);
    let found =
        values::scope(sought.scope.as_ref()).and_then(|scope| outbox.find(&scope, &lane, &text(&sought.purpose)));
    answer(found, |found| found.map_or(Value::Null, |entry| named(&mut world.names, sought.name.as_deref(), &entry)))
}
