//! An agent's tool call that must not repeat its side effect: the agent is run again from its log, and calls its tools again.
//!
//! The purpose is what the call is in the log: run, and number of the call. The first run sends it, the second is told the answer.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use keyledger::{Delivery, DeliveryOutcome, Driver, Enqueue, Ledger, Outbox, Response, Scope};

static BOOKED: AtomicU32 = AtomicU32::new(0);

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("agent.kl");
    let mut answers = Vec::new();
    for attempt in 1..=2 {
        let ledger = Ledger::open(&path)?;
        let outbox = ledger.outbox().open()?;
        println!("the agent runs, attempt {attempt}");
        answers.push(run(&outbox)?);
        // It crashes here, and whoever runs it has only its log: every step is taken again.
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(BOOKED.load(Ordering::Relaxed), 1);
    println!("two runs, one booking: {}", answers[0]);
    Ok(())
}

fn run(outbox: &Outbox) -> anyhow::Result<String> {
    let flight = "a flight to Bern on the second";
    call(outbox, "run 7, call 3", "book", flight)
}

/// Calls a tool, once for each place in the log.
fn call(outbox: &Outbox, place: &str, tool: &str, argument: &str) -> anyhow::Result<String> {
    let agent = Scope::new("agent-7")?;
    let entry = outbox.enqueue(&Enqueue::new(&agent, tool, "text/plain", argument).purpose(place))?.entry;
    Driver::new(outbox, &agent, perform).drain(Duration::from_secs(5), |_| {})?;
    let entry = outbox.wait(entry.id(), Duration::from_secs(5))?;
    let answer = entry.response().and_then(Response::stored_bytes).unwrap_or_default();
    println!("  {tool}: {}, by entry {}", String::from_utf8_lossy(answer), entry.id());
    Ok(String::from_utf8(answer.to_vec())?)
}

/// The tool itself.
fn perform(delivery: &Delivery) -> DeliveryOutcome {
    let number = BOOKED.fetch_add(1, Ordering::Relaxed) + 1;
    let what = String::from_utf8_lossy(delivery.request());
    DeliveryOutcome::yes(Response::text(format!("booking {number}: {what}")))
}
