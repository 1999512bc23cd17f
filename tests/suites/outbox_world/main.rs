//! Random stories of an outbox among people, transports, gateways, kills and a server that forgets: O1 to O13 after every step.
//!
//! What can happen is what the explicit-state model of the outbox can do (its mutations are caught there), on the real outbox over a
//! disk that loses its power, with a clock that people set. `KEYLEDGER_OUTBOX_STORIES` sets how many stories are told,
//! `KEYLEDGER_SEED` which; a story that fails is made shorter before it is told.

mod command;
mod judge;
mod lookout;
mod server;
mod stage;

use std::collections::BTreeSet;

use keyledger_harness::disk::Dice;
use keyledger_harness::settings;

use command::{Command, story};
use stage::Stage;

/// How many stories are told.
const STORIES: u64 = 1_500;

/// What a story must get to, or it shows nothing.
const REACHED: [&str; 26] = [
    "answered no",
    "answered yes",
    "cancelled",
    "claim lost",
    "dead: dismissed",
    "dead: out of tries",
    "dead: resolved",
    "dead: superseded",
    "dead: told",
    "dead: too old",
    "held alone",
    "held with its lane",
    "late yes",
    "not sent in time",
    "outbox full",
    "power lost",
    "purpose conflict",
    "purpose found",
    "requeue conflict",
    "requeued",
    "too late",
    "unknown: contradicted",
    "unknown: out of tries",
    "unknown: told",
    "unknown: too old",
    "unknown: window over",
];

fn run(story: &[Command], seed: u64) -> Result<BTreeSet<String>, String> {
    let mut stage = Stage::new(seed);
    for (at, command) in story.iter().enumerate() {
        stage.step(command).map_err(|wrong| format!("step {at}, {command:?}: {wrong}"))?;
    }
    stage.end()?;
    Ok(stage.reached)
}

/// Leaves out every command without which the story still fails, and tells what is left.
fn shortest(mut story: Vec<Command>, seed: u64, mut told: String) -> String {
    let mut at = 0;
    while at < story.len() {
        let mut shorter = story.clone();
        shorter.remove(at);
        match run(&shorter, seed) {
            Err(wrong) => (story, told, at) = (shorter, wrong, 0),
            Ok(_) => at += 1,
        }
    }
    format!("seed {seed}: {told}\n{story:#?}")
}

#[test]
fn o1_to_o13_hold_after_every_step_of_any_story() {
    let stories = settings::number("KEYLEDGER_OUTBOX_STORIES").unwrap_or(STORIES);
    let mut reached = BTreeSet::new();
    for number in 0..stories {
        let mut dice = Dice::at(settings::seed(), &[number]);
        let (seed, story) = (dice.roll(), story(&mut dice));
        match run(&story, seed) {
            Ok(more) => reached.extend(more),
            Err(wrong) => panic!("{}", shortest(story, seed, wrong)),
        }
    }
    let missed: Vec<_> = REACHED.iter().filter(|what| !reached.contains(**what)).collect();
    assert!(missed.is_empty() || settings::is_drawn(), "no story got to {missed:?}");
}
