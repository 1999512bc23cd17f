//! `run` does the whole of it in one call: begin, the handler, and settling by what came of it.

use anyhow::{Context, bail};
use keyledger::{Claim, Fingerprint, Key, Ledger, Operation, Response, RunError, Scope};
use serde_json::json;

static CHARGE: Operation = Operation::repeatable("POST /v1/charges");

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let ledger = Ledger::open(folder.path().join("payments.kl"))?;
    let (ada, key) = (Scope::new("ada")?, Key::new("order-1034")?);
    let cents = |amount: u64| Fingerprint::of_json(&json!({ "amount_cents": amount }));
    let mut bank = Bank { is_down: true, charges: Vec::new() };

    let failed = ledger.run(&CHARGE, &ada, &key, cents(1999)?, |claim| bank.charge(claim, 1999));
    assert!(matches!(failed, Err(RunError::Handler(_))));
    println!("the bank was down: the handler's error comes back, and the key is free for a retry");

    bank.is_down = false;
    let first = ledger.run(&CHARGE, &ada, &key, cents(1999)?, |claim| bank.charge(claim, 1999))?;
    println!("the retry ran the handler again, with the same key for the bank");

    let second = ledger.run(&CHARGE, &ada, &key, cents(1999)?, |claim| bank.charge(claim, 1999))?;
    assert_eq!(first, second);
    assert_eq!(bank.charges.len(), 1);
    println!("a third try was told the outcome, and ran nothing");

    let refused = ledger.run(&CHARGE, &ada, &key, cents(2999)?, |claim| bank.charge(claim, 2999));
    let Err(RunError::Refused(refused)) = refused else { panic!("it is another request") };
    println!("another amount under the same key: {refused}");
    Ok(())
}

struct Bank {
    is_down: bool,
    charges: Vec<(Key, u64)>,
}

impl Bank {
    /// Charges once for each key, as banks do.
    fn charge(&mut self, claim: &mut Claim, cents: u64) -> anyhow::Result<Response> {
        if self.is_down {
            bail!("the bank cannot be reached");
        }
        let key = claim.derive_key("charge");
        if self.charges.iter().all(|(known, _)| *known != key) {
            self.charges.push((key, cents));
        }
        Response::json(&json!({ "charged_cents": cents })).context("the receipt is no JSON")
    }
}
