//! First steps: a request that is sent again happens once, and is answered again.

use keyledger::{Decision, Fingerprint, Key, Ledger, Operation, Response, Scope};
use serde_json::json;

/// Declared once. A bank that takes a key of ours charges once for it: its effect is `Repeatable`.
static CHARGE: Operation = Operation::repeatable("POST /v1/charges");

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("payments.kl");
    let ledger = Ledger::open(&path)?;

    // Who asks, under which key, for what.
    let ada = Scope::new("ada")?;
    let key = Key::new("order-1034")?;
    let asked = Fingerprint::of_json(&json!({ "amount_cents": 1999 }))?;

    let Decision::Acquired(claim) = ledger.begin(&CHARGE, &ada, &key, asked)? else {
        panic!("nobody has asked before");
    };
    println!("the first request has the claim, and charges the card");
    let receipt = Response::json(&json!({ "charged_cents": 1999 }))?;
    claim.complete(receipt.clone())?;

    // Her connection broke before the answer came, so Ada's client asks again.
    let Decision::Replay(replay) = ledger.begin(&CHARGE, &ada, &key, asked)? else {
        panic!("it is done: there is nothing to do but to say so");
    };
    assert_eq!(replay.response, receipt);
    println!("the second one is told what the first was told, byte for byte");

    let more = Fingerprint::of_json(&json!({ "amount_cents": 2999 }))?;
    assert!(matches!(ledger.begin(&CHARGE, &ada, &key, more)?, Decision::Mismatch));
    println!("another amount under the same key is refused");

    let ben = Scope::new("ben")?;
    assert!(matches!(ledger.begin(&CHARGE, &ben, &key, asked)?, Decision::Acquired(_)));
    println!("the same key of another user is another key");

    // All of it is on disk: a restart changes nothing.
    ledger.close()?;
    let ledger = Ledger::open(&path)?;
    assert!(matches!(ledger.begin(&CHARGE, &ada, &key, asked)?, Decision::Replay(_)));
    println!("after a restart Ada is still told the same");
    Ok(())
}
