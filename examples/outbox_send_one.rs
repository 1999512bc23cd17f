//! Send one request durably: it is on disk with its key before a byte of it leaves, and whoever opens the file later learns the
//! answer.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use keyledger::{Delivery, DeliveryOutcome, Driver, Enqueue, EntryId, Ledger, Outbox, Response, Scope, Transport};

/// In an app this is HTTP. Here it prints what would leave, and the first answer gets lost.
#[derive(Default)]
struct Printer {
    sends: AtomicU32,
}

impl Transport for Printer {
    fn send(&self, delivery: &Delivery) -> DeliveryOutcome {
        let request = String::from_utf8_lossy(delivery.request());
        println!("  -> {request}, key {}, at most {:?}", delivery.key().as_str(), delivery.lease_left());
        if self.sends.fetch_add(1, Ordering::Relaxed) == 0 {
            println!("  <- nothing: the connection broke");
            return DeliveryOutcome::retry("the connection broke");
        }
        println!("  <- paid");
        DeliveryOutcome::yes(Response::text("paid"))
    }
}

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("shop.kl");
    let ada = Scope::new("ada")?;

    let ledger = Ledger::open(&path)?;
    let id = press_pay(&open(&ledger)?, &ada)?;
    println!("Ada has pressed Pay, the entry {id} is on disk, and the app dies before it sent anything");
    ledger.close()?;

    let ledger = Ledger::open(&path)?;
    let outbox = open(&ledger)?;
    assert_eq!(press_pay(&outbox, &ada)?, id);
    println!("the app is back; Ada presses Pay again, and it is the same entry");
    let drained = Driver::new(&outbox, &ada, Printer::default()).drain(Duration::from_secs(10), |_| {})?;
    assert_eq!((drained.sent, drained.settled), (2, 1));
    ledger.close()?;

    let ledger = Ledger::open(&path)?;
    let entry = open(&ledger)?.wait(id, Duration::ZERO)?;
    assert_eq!(entry.response(), Some(&Response::text("paid")));
    println!("another process reads the answer: paid, after {} tries with one key", entry.tries());
    Ok(())
}

fn open(ledger: &Ledger) -> anyhow::Result<Outbox> {
    Ok(ledger.outbox().backoff(Duration::from_millis(100), Duration::from_secs(5), 2).open()?)
}

/// What the button does, from whichever screen, however often: the purpose says what Ada wants.
fn press_pay(outbox: &Outbox, who: &Scope) -> anyhow::Result<EntryId> {
    let pay = Enqueue::new(who, "pay", "text/plain", "19.99 euros for cart 42").purpose("pay cart 42");
    Ok(outbox.enqueue(&pay)?.entry.id())
}
