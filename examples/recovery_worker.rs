//! A recovery worker: the process died while it charged a card; another one finds out what happened, and says so.
//!
//! The memo is what the first process left for the worker: without it, nobody would know which order to ask the bank for.

use std::collections::HashMap;
use std::time::Duration;

use keyledger::{Begin, Decision, Fingerprint, Key, Ledger, ManualClock, Operation, Response, Scope};

static CHARGE: Operation = Operation::repeatable("charge").lease(Duration::from_secs(30));

/// What the bank has charged: cents by our key.
type Bank = HashMap<Key, u64>;

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("payments.kl");
    let clock = ManualClock::new(1_800_000_000_000);
    let (ada, key) = (Scope::new("ada")?, Key::new("order-1034")?);
    let mut bank = Bank::new();

    let ledger = Ledger::builder().clock(clock.clone()).open(&path)?;
    let begin = Begin::new(&CHARGE, &ada, &key, Fingerprint::Unchecked).memo(b"1999 cents for order 1034".to_vec());
    let Decision::Acquired(claim) = ledger.begin_with(&begin)? else { panic!("nobody has asked before") };
    bank.insert(claim.derive_key("charge"), 1999);
    println!("the card is charged, and the process dies before it can write down that it is");
    drop(claim);
    ledger.close()?;

    let ledger = Ledger::builder().clock(clock.clone()).open(&path)?;
    assert_eq!(recover(&ledger, &bank)?, 0);
    println!("a worker finds nothing yet: the dead owner's lease has not ended");

    clock.advance(Duration::from_secs(30));
    assert_eq!(recover(&ledger, &bank)?, 1);

    let Decision::Replay(replay) = ledger.begin(&CHARGE, &ada, &key, Fingerprint::Unchecked)? else {
        panic!("the worker has settled it");
    };
    assert_eq!(replay.response, Response::text("charged 1999 cents"));
    println!("Ada's client asks again, and is told: charged 1999 cents");
    Ok(())
}

/// Settles what owners have left behind, by asking the bank, and says how many.
fn recover(ledger: &Ledger, bank: &Bank) -> anyhow::Result<usize> {
    let claims = ledger.recover(&CHARGE, 100)?;
    let count = claims.len();
    for claim in claims {
        println!("the worker takes over: {}", String::from_utf8_lossy(claim.memo()));
        match bank.get(&claim.derive_key("charge")) {
            Some(cents) => claim.complete(Response::text(format!("charged {cents} cents")))?,
            None => claim.release()?,
        }
    }
    Ok(count)
}
