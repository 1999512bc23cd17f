//! A reconciler of unknown outcomes: the server forgets keys after a while, so what is unknown then is asked for, not sent again.

use std::collections::HashMap;
use std::time::Duration;

use keyledger::{
    DeliveryOutcome, Enqueue, EntryFilter, EntryResolution, EntryStateName, EntryView, Ledger, ManualClock, Outbox,
    Response, Scope,
};

/// What the bank has charged: our key, and its own receipt. It answers questions about keys long after it has forgotten to
/// deduplicate by them.
type Bank = HashMap<String, &'static str>;

fn main() -> anyhow::Result<()> {
    let clock = ManualClock::new(1_800_000_000_000);
    let ledger = Ledger::builder().clock(clock.clone()).in_memory()?;
    // The bank remembers keys for a day; an hour is kept for whoever is late.
    let outbox = ledger.outbox().resend_window(Duration::from_hours(23)).open()?;
    let shop = Scope::single();
    let mut bank = Bank::new();

    for order in ["order 1", "order 2"] {
        outbox.enqueue(&Enqueue::new(&shop, "charge", "text/plain", order).purpose(order))?;
    }
    for delivery in outbox.lease_due(&shop, 2)? {
        if delivery.entry().purpose() == Some("order 1") {
            bank.insert(delivery.key().as_str().to_owned(), "receipt 77");
        }
        delivery.settle(DeliveryOutcome::retry("the connection broke after the request had left"))?;
    }
    println!("two charges were sent; nobody knows whether they arrived, and the shop is offline for a weekend");
    clock.advance(Duration::from_hours(60));

    assert!(outbox.lease_due(&shop, 10)?.is_empty());
    println!("back online: nothing is sent again, {} wait to be asked for", unknown(&outbox)?.len());
    for entry in unknown(&outbox)? {
        reconcile(&outbox, &entry, &bank)?;
    }

    let answered = outbox.find(&shop, "default", "order 1")?.expect("it is there");
    assert_eq!(answered.response(), Some(&Response::text("receipt 77")));
    let resent = outbox.lease_due(&shop, 10)?;
    assert_eq!(resent.len(), 1, "order 2, under a new key");
    for delivery in resent {
        println!("{} is sent with a new key", delivery.entry().purpose().unwrap_or_default());
        delivery.settle(DeliveryOutcome::yes(Response::text("receipt 78")))?;
    }
    Ok(())
}

fn unknown(outbox: &Outbox) -> anyhow::Result<Vec<EntryView>> {
    Ok(outbox.list(&EntryFilter::all().state(EntryStateName::Unknown))?.entries)
}

/// Finds out, and says so. Run twice, it says the same.
fn reconcile(outbox: &Outbox, entry: &EntryView, bank: &Bank) -> anyhow::Result<()> {
    let (resolution, note) = match bank.get(entry.key().as_str()) {
        Some(receipt) => (EntryResolution::Yes(Response::text(*receipt)), "the bank has it"),
        None => (EntryResolution::Resend, "the bank has never seen it, and every lease is long over"),
    };
    println!("{}: {note}", entry.purpose().unwrap_or_default());
    outbox.resolve(entry.id(), resolution, "reconciler", note)?;
    Ok(())
}
