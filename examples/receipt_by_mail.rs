//! A receipt by mail: nobody can ask whether a mail has left, so a lost owner leaves the record parked for a person.

use std::time::Duration;

use keyledger::{Decision, Filter, Fingerprint, Key, Ledger, ManualClock, Operation, Resolution, Response, Scope};

static RECEIPT: Operation = Operation::at_most_once("receipt").lease(Duration::from_secs(30));

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("receipts.kl");
    let clock = ManualClock::new(1_800_000_000_000);
    let mut outbound = Vec::new();

    let ledger = Ledger::builder().clock(clock.clone()).open(&path)?;
    for order in ["order-1034", "order-1035"] {
        let Decision::Acquired(claim) = ask(&ledger, order)? else { panic!("nobody has asked before") };
        if order == "order-1034" {
            outbound.push(order);
        }
        drop(claim);
    }
    println!("the process dies: one mail has left, the other has not, and the ledger knows of neither");
    ledger.close()?;

    let ledger = Ledger::builder().clock(clock.clone()).open(&path)?;
    clock.advance(Duration::from_secs(30));
    for order in ["order-1034", "order-1035"] {
        let Decision::Parked(parked) = ask(&ledger, order)? else { panic!("it must not run again") };
        println!("{order} is asked for again: parked ({})", parked.reason.as_str());
    }

    for record in ledger.list(&Filter::all().parked())?.records {
        let order = record.key_id().key().as_str();
        let (resolution, note) = if outbound.contains(&order) {
            (Resolution::Completed(Response::text("sent")), "the mail server's log has it")
        } else {
            (Resolution::NotDone, "the mail server's log does not have it")
        };
        ledger.resolve(record.key_id(), record.fence(), resolution, "grace", note)?;
        println!("Grace settles {order}: {note}");
    }

    assert!(matches!(ask(&ledger, "order-1034")?, Decision::Replay(_)));
    println!("order-1034 is asked for again: it was sent");
    let Decision::Acquired(claim) = ask(&ledger, "order-1035")? else { panic!("it was not done") };
    outbound.push("order-1035");
    claim.complete(Response::text("sent"))?;
    println!("order-1035 is asked for again: now it is sent");
    assert_eq!(outbound, ["order-1034", "order-1035"]);
    Ok(())
}

fn ask(ledger: &Ledger, order: &str) -> anyhow::Result<Decision> {
    Ok(ledger.begin(&RECEIPT, &Scope::new("ada")?, &Key::new(order)?, Fingerprint::Unchecked)?)
}
