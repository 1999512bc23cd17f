//! A ledger to try the command line on: `cargo run -p keyledger-examples --example cli_playground payments.kl` leaves a file with
//! records and entries in every state. Without a name it makes one in a folder that is gone again afterwards.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use keyledger::{
    Claim, Decision, DeliveryOutcome, Enqueue, EntryStateName, Fingerprint, Key, Ledger, Operation, Outbox, Response,
    Scope, StateName,
};

static CHARGE: Operation = Operation::repeatable("POST /v1/charges");
/// Its claims are lost at once, as those of a process that is killed.
static MAIL: Operation = Operation::at_most_once("mail").lease(Duration::from_millis(1));
static LOOK_UP: Operation = Operation::repeatable("look-up").lease(Duration::from_millis(1));
static BRIEF: Operation = Operation::in_ledger("brief").retention(Duration::ZERO);

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let given = std::env::args_os().nth(1).map(PathBuf::from);
    let path = given.clone().unwrap_or_else(|| folder.path().join("payments.kl"));
    ensure!(!path.exists(), "{}: there is such a file; name a new one", path.display());
    let ledger = Ledger::open(&path)?;
    records(&ledger)?;
    entries(&ledger.outbox().open()?)?;
    std::thread::sleep(Duration::from_millis(5));
    hold_every_state(&ledger)?;
    ledger.close()?;
    if given.is_some() {
        tell(&path);
    }
    Ok(())
}

fn tell(path: &Path) {
    let called = format!("keyledger {}", path.display());
    println!("{} is there. Now try:\n", path.display());
    for command in ["list", "show user-17 mail welcome", "stats", "outbox list", "list --help"] {
        println!("  {called} {command}");
    }
}

fn records(ledger: &Ledger) -> anyhow::Result<()> {
    let charge = |user, key| claim(ledger, &CHARGE, user, key);
    let http = "HTTP/1.1 201 \r\nContent-Type: application/json\r\n\r\n{\"id\":7,\"cents\":1999}";
    charge("user-17", "order-1034")?.complete(Response::new("application/http", http))?;
    charge("user-17", "order-1035")?.fail(Response::json(&serde_json::json!({ "error": "no money" }))?)?;
    charge("user-18", "order-2001")?.release()?;
    charge("user-18", "order-2002")?.park("the bank did not answer")?;
    claim(ledger, &BRIEF, "user-18", "note-1")?.complete(Response::text("noted"))?;
    let mut running = charge("user-19", "order-3001")?;
    running.record_step("reserve", br#"{"at":"bank"}"#.to_vec())?;
    // Neither settled nor dropped: what a killed process leaves.
    for lost in [running, claim(ledger, &MAIL, "user-17", "welcome")?, claim(ledger, &LOOK_UP, "user-19", "rates")?] {
        std::mem::forget(lost);
    }
    Ok(())
}

fn claim(ledger: &Ledger, operation: &Operation, user: &str, key: &str) -> anyhow::Result<Claim> {
    let asked = Fingerprint::of_bytes(&[key.as_bytes()]);
    match ledger.begin(operation, &Scope::new(user)?, &Key::new(key)?, asked)? {
        Decision::Acquired(claim) => Ok(claim),
        other => bail!("{key} of {user} was not granted: {other:?}"),
    }
}

fn entries(outbox: &Outbox) -> anyhow::Result<()> {
    let user = Scope::new("user-17")?;
    let outcomes = [
        ("answered", Some(DeliveryOutcome::yes(Response::text("charged")))),
        ("dead", Some(DeliveryOutcome::dead("no such host"))),
        ("unknown", Some(DeliveryOutcome::unknown("the connection broke after the request was sent"))),
        ("held", Some(DeliveryOutcome::hold_entry("403"))),
        ("sending", None),
    ];
    for (purpose, outcome) in outcomes {
        enqueue(outbox, &user, purpose)?;
        let delivery = outbox.lease_due(&user, 1)?.pop().context("it is due")?;
        match outcome {
            Some(outcome) => delivery.settle(outcome)?,
            None => std::mem::forget(delivery),
        }
    }
    let taken_back = outbox.enqueue(&pay(&user, "cancelled"))?.entry.id();
    ensure!(outbox.cancel(taken_back)?.is_cancelled(), "nothing of it was sent");
    enqueue(outbox, &user, "pending")
}

fn enqueue(outbox: &Outbox, user: &Scope, purpose: &str) -> anyhow::Result<()> {
    outbox.enqueue(&pay(user, purpose))?;
    Ok(())
}

fn pay(user: &Scope, purpose: &str) -> Enqueue {
    let request = "POST /v1/charges HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{\"cents\":1999}";
    Enqueue::new(user, "POST /v1/charges", "application/http", request).purpose(purpose)
}

/// There is something to see, whatever one asks for.
fn hold_every_state(ledger: &Ledger) -> anyhow::Result<()> {
    let page = ledger.list(&keyledger::Filter::all())?;
    let states = [
        StateName::Parked,
        StateName::InProgress,
        StateName::Released,
        StateName::Completed,
        StateName::Failed,
        StateName::Tombstone,
    ];
    for state in states {
        ensure!(page.records.iter().any(|record| record.state() == state), "no record is {}", state.as_str());
    }
    let counted = ledger.outbox().open()?.stats()?;
    for state in EntryStateName::ALL {
        ensure!(counted.count(state) > 0, "no entry is {}", state.as_str());
    }
    Ok(())
}
