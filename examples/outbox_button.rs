//! A button with a purpose: pressed three times, from three screens, with a kill in between. One key, one charge.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use keyledger::{Delivery, DeliveryOutcome, Driver, Enqueue, Error, Ledger, Outbox, Response, Scope};

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("phone.kl");
    let ada = Scope::new("ada")?;

    let first = {
        let ledger = Ledger::open(&path)?;
        let outbox = ledger.outbox().open()?;
        press(&outbox, &ada, 1999)?;
        press(&outbox, &ada, 1999)?
        // The app is swiped away here, before anything was sent.
    };

    let ledger = Ledger::open(&path)?;
    let outbox = ledger.outbox().open()?;
    let screen = outbox.find(&ada, "default", "pay cart 42")?;
    println!("the screen shows what is so: {}", screen.map_or("nothing yet", |entry| entry.state().as_str()));
    let third = press(&outbox, &ada, 1999)?;
    assert_eq!(first, third);

    let keys = Arc::new(Mutex::new(HashSet::new()));
    let bank = keys.clone();
    let send = move |delivery: &Delivery| {
        bank.lock().expect("nobody panics").insert(delivery.key().clone());
        DeliveryOutcome::yes(Response::text("charged"))
    };
    Driver::new(&outbox, &ada, send).drain(Duration::from_secs(5), |_| {})?;
    assert_eq!(keys.lock().expect("nobody panics").len(), 1);
    println!("three presses, one key on the wire");

    let again = outbox.enqueue(&pay(&ada, 1999))?;
    assert!(!again.created && again.entry.is_yes());
    println!("a fourth press is told the answer: {:?}", again.entry.response().map(Response::body));

    let Err(Error::PurposeConflict(entry)) = outbox.enqueue(&pay(&ada, 2999)) else { panic!("it is another amount") };
    println!("another amount for the same cart is refused, and shown beside entry {}", entry.id());
    Ok(())
}

/// The cart is the purpose. Whoever shows it asks for the same.
fn pay(who: &Scope, cents: u32) -> Enqueue {
    Enqueue::new(who, "POST /v1/charges", "application/json", format!(r#"{{"cents":{cents}}}"#)).purpose("pay cart 42")
}

/// What a press does, on whichever screen. The key that goes with it.
fn press(outbox: &Outbox, who: &Scope, cents: u32) -> anyhow::Result<String> {
    let enqueued = outbox.enqueue(&pay(who, cents))?;
    println!("pressed: entry {}, {}", enqueued.entry.id(), if enqueued.created { "new" } else { "there already" });
    Ok(enqueued.entry.key().as_str().to_owned())
}
