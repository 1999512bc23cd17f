//! Plays a scenario on an adapter, and compares after every step.

use std::time::{Duration, Instant};

use keyledger::{Key, KeyId, Ledger, ManualClock, OperationName, Scope};

use crate::check::{compare, compare_record};
use crate::format::{Of, Request, Scenario, Step};
use crate::handler::Script;
use crate::wire::Got;

/// Where the clock stands at the start.
pub(crate) const START_MS: u64 = 1_000_000_000_000;

/// How long to wait for what an adapter does by itself.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A ledger and its clock.
pub(crate) fn ledger(scenario: &Scenario) -> (Ledger, ManualClock) {
    let clock = ManualClock::new(START_MS);
    let builder = Ledger::builder().clock(clock.clone());
    let builder = match scenario.route.max_response_bytes {
        Some(bytes) => builder.max_response_bytes(bytes),
        None => builder,
    };
    (builder.in_memory().expect("a ledger in memory"), clock)
}

/// What plays the server.
pub(crate) trait Adapter {
    fn ledger(&self) -> &Ledger;
    fn clock(&self) -> &ManualClock;
    fn script(&self) -> &Script;
    fn send(&mut self, request: &Request) -> Got;
    fn start(&mut self, name: &str, request: &Request, queued: bool);
    fn finish(&mut self, name: &str) -> Got;
    fn cut(&mut self, name: &str);
    fn cut_short(&mut self, request: &Request);
    fn settles(&mut self);
}

pub(crate) fn run(scenario: &Scenario, mut adapter: impl Adapter) -> Result<(), String> {
    for (index, step) in scenario.steps.iter().enumerate() {
        play(step, &mut adapter).map_err(|why| format!("step {}: {why}", index + 1))?;
    }
    let begun = adapter.script().begun();
    if begun == scenario.runs as usize { Ok(()) } else { Err(format!("{} runs, not {}", begun, scenario.runs)) }
}

fn play(step: &Step, adapter: &mut impl Adapter) -> Result<(), String> {
    match step {
        Step::Send { request, expect } => compare(&adapter.send(request), expect),
        Step::Start { name, request, queued } => {
            adapter.start(name, request, *queued);
            Ok(())
        }
        Step::Finish { request, expect } => {
            let got = adapter.finish(request);
            expect.as_ref().map_or(Ok(()), |expect| compare(&got, expect))
        }
        Step::Cut { request } => {
            adapter.cut(request);
            Ok(())
        }
        Step::CutShort { request } => {
            adapter.cut_short(request);
            Ok(())
        }
        Step::Advance { ms } => {
            adapter.clock().advance(Duration::from_millis(*ms));
            Ok(())
        }
        Step::Close => adapter.ledger().close().map_err(|error| error.to_string()),
        Step::Suspend => adapter.ledger().suspend().map_err(|error| error.to_string()),
        Step::Resume => adapter.ledger().resume().map_err(|error| error.to_string()),
        Step::Settles => {
            adapter.settles();
            Ok(())
        }
        Step::Stored { of, expect } => {
            let view = adapter.ledger().inspect(&key_id(of)).map_err(|error| error.to_string())?;
            compare_record(view.as_ref(), expect.as_deref())
        }
    }
}

fn key_id(of: &Of) -> KeyId {
    let operation = OperationName::new(&of.operation).expect("an operation's name");
    KeyId::of_parts(Scope::new(&of.scope).expect("a scope"), operation, Key::new(&of.key).expect("a key"))
}

/// Waits until it is so.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
