//! Money from a card: `Repeatable`. Every attempt gives the bank the same derived key, so that the bank charges once.

use keyledger::{Claim, Key, Operation, Response};
use keyledger_examples::payments::operations::CHARGE;
use keyledger_examples::payments::records::{BankRow, Origin};
use serde::Deserialize;
use serde_json::json;

use super::{Order, complete};
use crate::shop::Shop;

#[derive(Deserialize)]
pub(crate) struct Charge {
    amount_cents: u64,
}

impl Order for Charge {
    fn operation() -> &'static Operation {
        &CHARGE
    }

    fn fulfil(&self, shop: &Shop, origin: &Origin, claim: Claim) -> anyhow::Result<Response> {
        match self.charge(shop, origin, &claim.derive_key("charge")) {
            Ok(row) => complete(claim, receipt(&row)?),
            Err(error) => {
                claim.release().map_err(keyledger::Error::from)?;
                Err(error)
            }
        }
    }

    fn fulfil_without_claim(&self, shop: &Shop, origin: &Origin) -> anyhow::Result<Response> {
        receipt(&self.charge(shop, origin, &Key::random())?)
    }
}

impl Charge {
    fn charge(&self, shop: &Shop, origin: &Origin, bank_key: &Key) -> anyhow::Result<BankRow> {
        Shop::work();
        let row = shop.bank.charge(bank_key, self.amount_cents, origin)?;
        Shop::work();
        Ok(row)
    }
}

fn receipt(row: &BankRow) -> anyhow::Result<Response> {
    Ok(Response::json(&json!({ "id": row.id, "amount_cents": row.amount_cents }))?)
}
