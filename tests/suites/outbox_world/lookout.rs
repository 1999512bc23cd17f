//! O11: whoever sleeps until the next wake-up misses nothing, and whoever wakes earlier finds nothing.

use keyledger::{Clock, EntryStateName, EntryView, Scope};

use crate::stage::Stage;

/// Sleeps until just before the next wake-up, looks, sleeps until it, and looks again.
pub(crate) fn sleep(stage: &mut Stage, scope: &Scope) -> Result<(), String> {
    let Some(at) = stage.outbox.next_wakeup(scope).unwrap() else { return nobody_waits(stage, scope) };
    let span = at.saturating_sub(stage.clock.wall_ms());
    if span > 1 {
        stage.pass(span - 1);
        let change = stage.outbox.stats().unwrap().last_change;
        let early = stage.outbox.lease_due(scope, 10).unwrap();
        if !early.is_empty() || stage.outbox.stats().unwrap().last_change != change {
            return Err(format!("O11: there was something to do {span} ms before next_wakeup"));
        }
        stage.pass(1);
    } else {
        stage.pass(span);
    }
    stage.lease(scope, 10)
}

/// Without a next wake-up nothing may wait for time alone.
fn nobody_waits(stage: &Stage, scope: &Scope) -> Result<(), String> {
    let stats = stage.outbox.stats().unwrap();
    let is_held = |entry: &EntryView| {
        stats.lanes.iter().any(|lane| lane.held.is_some() && lane.lane == entry.lane() && lane.scope == scope.as_str())
    };
    let entries = stage.entries();
    // Every entry here has a greatest age, so one that is not settled and not unknown always ends.
    let waits = |entry: &&EntryView| {
        entry.scope() == scope
            && matches!(entry.state(), EntryStateName::Pending | EntryStateName::Sending | EntryStateName::Held)
    };
    match entries.iter().find(waits) {
        Some(entry) => {
            Err(format!("O11: no next wake-up, and entry {} waits (its lane is held: {})", entry.id(), is_held(entry)))
        }
        None => Ok(()),
    }
}
