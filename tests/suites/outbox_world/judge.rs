//! What must hold.

use keyledger::{DeadReason, Delivery, DeliveryOutcome, EntryId, EntryStateName, EntryView, Scope, UnknownReason};

use crate::stage::{LEASE_MS, MAX_TRIES, Made, Stage};

/// After every step: what is told of every entry is true, and counts and indexes agree with the entries.
pub(crate) fn everything(stage: &mut Stage) -> Result<(), String> {
    let entries = stage.entries();
    for entry in &entries {
        one(stage, entry)?;
        if let Some(what) = name(entry) {
            stage.reach(&what);
        }
    }
    purposes(&entries)?;
    counts(stage, &entries)
}

fn one(stage: &Stage, entry: &EntryView) -> Result<(), String> {
    let made = &stage.made[&entry.id()];
    let done = stage.server.has_acted(&made.key);
    if entry.key().as_str() != made.key {
        return Err("O2: an entry has another key".into());
    }
    match entry.state() {
        EntryStateName::Answered if entry.is_yes() && !done => return Err("a yes is told that nobody said".into()),
        EntryStateName::Answered if !entry.is_yes() && done => {
            return Err(format!("O9: a no is told although {} took effect", made.key));
        }
        EntryStateName::Dead if done => return Err(format!("O9: dead is told although {} took effect", made.key)),
        EntryStateName::Cancelled if done => {
            return Err(format!("O10: cancelled is told although {} took effect", made.key));
        }
        _ => {}
    }
    if entry.tries() > MAX_TRIES {
        return Err(format!("O6: {} tries", entry.tries()));
    }
    if entry.errors().len() > 16 {
        return Err("more than sixteen errors are kept".into());
    }
    Ok(())
}

/// The name of where an entry has got to.
fn name(entry: &EntryView) -> Option<String> {
    match (entry.unknown(), entry.dead(), entry.held(), entry.state()) {
        (Some(UnknownReason::Told(_)), ..) => Some("unknown: told".into()),
        (Some(UnknownReason::Contradicted), ..) => Some("unknown: contradicted".into()),
        (Some(reason), ..) => Some(format!("unknown: {}", reason.as_str())),
        (_, Some(DeadReason::Told(_)), ..) => Some("dead: told".into()),
        (_, Some(reason), ..) => Some(format!("dead: {}", reason.as_str())),
        (_, _, Some((_, with_lane)), _) => Some(if with_lane { "held with its lane" } else { "held alone" }.into()),
        (.., EntryStateName::Answered) => Some(if entry.is_yes() { "answered yes" } else { "answered no" }.into()),
        (.., EntryStateName::Cancelled) if entry.is_not_sent_in_time() => Some("not sent in time".into()),
        _ => None,
    }
}

/// O3: one unsettled entry of a purpose.
fn purposes(entries: &[EntryView]) -> Result<(), String> {
    for (at, one) in entries.iter().enumerate() {
        let same = |other: &&EntryView| {
            !other.is_settled()
                && (other.scope(), other.lane(), other.purpose()) == (one.scope(), one.lane(), one.purpose())
        };
        if !one.is_settled() && entries[at + 1..].iter().any(|other| same(&other)) {
            return Err("O3: two unsettled entries of one purpose".into());
        }
    }
    Ok(())
}

fn counts(stage: &Stage, entries: &[EntryView]) -> Result<(), String> {
    let stats = stage.outbox.stats().unwrap();
    for state in EntryStateName::ALL {
        let counted = entries.iter().filter(|entry| entry.state() == state).count() as u64;
        if stats.count(state) != counted {
            return Err(format!("I7: {} {} are counted, there are {counted}", stats.count(state), state.as_str()));
        }
    }
    let bytes: u64 = entries.iter().filter(|entry| !entry.is_settled()).map(EntryView::request_bytes).sum();
    if stats.unsettled_bytes != bytes || stats.unsettled > 7 {
        return Err(format!(
            "O12: {} bytes of {} entries are counted, there are {bytes}",
            stats.unsettled_bytes, stats.unsettled
        ));
    }
    Ok(())
}

/// O3: a new key for a purpose: no other may have taken effect unless its yes was told.
pub(crate) fn new_entry(stage: &Stage, id: EntryId, made: &Made) -> Result<(), String> {
    others(stage, id, made)
        .try_for_each(|key| Err(format!("O3: a new key is made although {key} took effect and nobody was told")))
}

/// Keys of the same purpose that took effect without a yes having been told; of entries that were swept, the answer was.
fn others<'a>(stage: &'a Stage, id: EntryId, made: &'a Made) -> impl Iterator<Item = &'a str> {
    let same = |other: &Made| (&other.scope, &other.lane, &other.purpose) == (&made.scope, &made.lane, &made.purpose);
    stage.made.iter().filter(move |(other, made)| **other != id && same(made)).filter_map(|(other, made)| {
        let told = stage.outbox.get(*other).unwrap().is_none_or(|entry| entry.is_yes());
        (stage.server.has_acted(&made.key) && !told).then_some(made.key.as_str())
    })
}

/// The server is about to act for an entry.
pub(crate) fn acts(stage: &Stage, id: EntryId) -> Result<(), String> {
    let made = &stage.made[&id];
    others(stage, id, made)
        .try_for_each(|key| Err(format!("the effect happens twice for one purpose: {key} has taken effect")))
}

/// O4 to O7: what was handed out.
pub(crate) fn leased(
    stage: &Stage,
    scope: &Scope,
    before: &[EntryView],
    deliveries: &[Delivery],
) -> Result<(), String> {
    for delivery in deliveries {
        let (entry, lease) = (delivery.entry(), delivery.lease_left().as_millis());
        if entry.scope() != scope {
            return Err("O4: another scope's entry is handed out".into());
        }
        if lease > u128::from(LEASE_MS) || lease == 0 {
            return Err(format!("O7: a lease of {lease} ms"));
        }
        let in_time = entry.send_by_ms().filter(|_| !delivery.is_in_doubt());
        if in_time.is_some_and(|send_by| entry.lease_end_ms() > Some(send_by)) {
            return Err("O10: a first send can come after send_by".into());
        }
        let live = |flight: &crate::stage::Flight| {
            flight.delivery.id() == entry.id() && !flight.delivery.lease_left().is_zero() && flight.answer.is_none()
        };
        if stage.flights.iter().any(live) {
            return Err("O4: an entry is handed out while its lease is out".into());
        }
        if entry.lane() != "default" {
            in_order(stage, entry, before)?;
        }
    }
    Ok(())
}

/// O8: nothing of a scope that was resumed is held with its lane.
pub(crate) fn resumed(stage: &Stage, scope: &Scope) -> Result<(), String> {
    let is_held = |entry: &EntryView| entry.scope() == scope && entry.held().is_some_and(|(_, with_lane)| with_lane);
    let lanes = stage.outbox.stats().unwrap().lanes;
    let is_lane_held = lanes.iter().any(|lane| lane.scope == scope.as_str() && lane.held.is_some());
    if is_lane_held || stage.entries().iter().any(is_held) { Err("O8: nothing ends a hold".into()) } else { Ok(()) }
}

/// O6: a retry takes from the budget; first tries are free of it.
pub(crate) fn within_budget(budget: u32, before: &[EntryView], deliveries: &[Delivery]) -> Result<(), String> {
    let is_retry = |delivery: &&Delivery| before.iter().any(|entry| entry.id() == delivery.id() && entry.fence() > 0);
    let retries = deliveries.iter().filter(is_retry).count();
    if retries > budget as usize { Err(format!("O6: {retries} retries out of a budget of {budget}")) } else { Ok(()) }
}

/// O4: in an ordered lane nobody is overtaken, but those that are skipped.
fn in_order(stage: &Stage, entry: &EntryView, before: &[EntryView]) -> Result<(), String> {
    let blocks = entry.lane() == "strict";
    let ahead = before
        .iter()
        .filter(|other| other.id() < entry.id() && (other.scope(), other.lane()) == (entry.scope(), entry.lane()));
    for other in ahead {
        let other = stage.entry(other.id());
        let is_stuck = matches!(other.state(), EntryStateName::Held | EntryStateName::Unknown | EntryStateName::Dead);
        let is_decided =
            matches!(other.dead(), Some(DeadReason::Dismissed | DeadReason::Resolved | DeadReason::Superseded));
        let waits = matches!(other.state(), EntryStateName::Pending | EntryStateName::Sending);
        // An entry that took another's place stands where that one stood.
        let took_a_place =
            stage.entries().iter().any(|old| old.successor() == Some(entry.id()) && old.id() < other.id());
        if (waits || blocks && is_stuck && !is_decided) && !took_a_place {
            return Err(format!("O4: entry {} overtakes entry {}", entry.id(), other.id()));
        }
    }
    Ok(())
}

/// O5: what was refused with `ClaimLost`.
pub(crate) fn lost(before: Option<&EntryView>, answer: &DeliveryOutcome) -> Result<(), String> {
    let takes = before.is_some_and(|entry| !entry.is_settled() || entry.state() == EntryStateName::Dead);
    if takes && answer.as_str() == "yes" { Err("O5: a true answer is thrown away".into()) } else { Ok(()) }
}
