//! What people and apps decide about entries.

use keyledger::{Cancel, EntryResolution, EntryView, Error};
use serde_json::{Value, json};

use super::super::super::answers::answer;
use super::super::super::outbox::shown;
use super::super::super::scenario::Said;
use super::super::super::values::{self, response, text};
use super::super::super::world::World;
use super::asking::named;
use super::id;

pub(super) fn cancel(world: &mut World, entry: &str) -> Value {
    answer(world.mail.outbox().cancel(id(world, entry)), |answered| match answered {
        Cancel::Cancelled(entry) => json!({ "cancel": "cancelled", "entry": shown::entry(&entry) }),
        Cancel::TooLate(entry) => json!({ "cancel": "too_late", "entry": shown::entry(&entry) }),
    })
}

pub(super) fn resume_scope(world: &mut World, scope: Option<&Value>) -> Value {
    let resumed = values::scope(scope).and_then(|scope| world.mail.outbox().resume(&scope));
    answer(resumed, |resumed| json!({ "lanes": resumed.lanes, "entries": resumed.entries }))
}

fn shown_entry(result: Result<EntryView, Error>) -> Value {
    answer(result, |entry| shown::entry(&entry))
}

pub(super) fn resume_entry(world: &mut World, entry: &str) -> Value {
    shown_entry(world.mail.outbox().resume_entry(id(world, entry)))
}

pub(super) fn requeue(world: &mut World, entry: &str) -> Value {
    shown_entry(world.mail.outbox().requeue(id(world, entry)))
}

pub(super) fn dismiss(world: &mut World, said: &Said) -> Value {
    shown_entry(world.mail.outbox().dismiss(id(world, &said.entry), &text(&said.who), &text(&said.note)))
}

pub(super) fn resolve(world: &mut World, said: &Said) -> Value {
    let given = || response(said.response.as_ref().expect("the response of an outcome"));
    let resolution = match said.outcome.as_deref() {
        Some("answered_yes") => EntryResolution::Yes(given()),
        Some("answered_no") => EntryResolution::No(given()),
        Some("dead") => EntryResolution::Dead,
        Some("resend") => EntryResolution::Resend,
        other => panic!("no outcome is called {other:?}"),
    };
    let outbox = world.mail.outbox();
    let resolved = outbox.resolve(id(world, &said.entry), resolution, &text(&said.who), &text(&said.note));
    answer(resolved, |entry| named(&mut world.names, said.name.as_deref(), &entry))
}
