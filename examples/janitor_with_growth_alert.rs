//! A janitor: sweeps what has had its time, and calls when something piles up that it may not touch.

use std::sync::mpsc;
use std::time::Duration;

use keyledger::{Claim, Decision, Fingerprint, Growth, Janitor, Key, Ledger, Operation, Response, Scope};

/// Answers are told again for 200 ms, and nothing is kept of them after that.
static PING: Operation = Operation::repeatable("ping").retention(Duration::from_millis(200)).tombstone(Duration::ZERO);

/// A mail that may or may not have left waits for a person, however long that takes.
static RECEIPT: Operation = Operation::at_most_once("receipt").retention(Duration::from_millis(200));

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let ledger = Ledger::open(folder.path().join("pings.kl"))?;
    for number in 0..50 {
        begin(&ledger, &PING, number)?.complete(Response::text("pong"))?;
    }
    for number in 0..3 {
        begin(&ledger, &RECEIPT, number)?.park("the mail server did not answer")?;
    }
    let stats = ledger.stats()?;
    assert_eq!((stats.completed, stats.parked), (50, 3));
    println!("50 answers are kept, and 3 receipts wait for a person");

    let (alert, alerts) = mpsc::channel();
    let janitor = Janitor::builder(&ledger)
        .interval(Duration::from_millis(50))
        .on_growth(Growth::Parked(3), move |_, stats| alert.send(stats.parked).unwrap_or_default())
        .start()?;
    let parked = alerts.recv_timeout(Duration::from_secs(10))?;
    println!("the janitor calls: {parked} receipts are parked, and somebody should look at them");

    while ledger.stats()?.completed > 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    println!("the answers' time is over, and the janitor has swept all of them");
    janitor.stop();

    assert_eq!(ledger.stats()?.parked, 3);
    assert!(alerts.try_recv().is_err());
    println!("it has left the receipts alone, and has called about them once");
    Ok(())
}

fn begin(ledger: &Ledger, operation: &Operation, number: u32) -> anyhow::Result<Claim> {
    let key = Key::new(format!("{}-{number}", operation.name()))?;
    match ledger.begin(operation, &Scope::single(), &key, Fingerprint::Unchecked)? {
        Decision::Acquired(claim) => Ok(claim),
        other => anyhow::bail!("every key is new: {other:?}"),
    }
}
