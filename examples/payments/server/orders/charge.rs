//! Money from a card: `Repeatable`. Every attempt gives the bank the same derived key, so that the bank charges once.

use keyledger::{Key, Operation};
use keyledger_examples::payments::operations::CHARGE;
use keyledger_examples::payments::records::Origin;
use keyledger_http::tower::RequestClaim;
use serde::Deserialize;
use serde_json::Value;

use super::Order;
use crate::shop::Shop;

#[derive(Deserialize)]
pub(crate) struct Charge {
    amount_cents: u64,
}

impl Order for Charge {
    fn operation() -> &'static Operation {
        &CHARGE
    }

    fn fulfil(&self, shop: &Shop, origin: &Origin, claim: &RequestClaim) -> anyhow::Result<Value> {
        self.charge(shop, origin, &claim.derive_key("charge"))
    }

    fn fulfil_without_claim(&self, shop: &Shop, origin: &Origin) -> anyhow::Result<Value> {
        self.charge(shop, origin, &Key::random())
    }
}

impl Charge {
    fn charge(&self, shop: &Shop, origin: &Origin, bank_key: &Key) -> anyhow::Result<Value> {
        Shop::work();
        let row = shop.bank.charge(bank_key, self.amount_cents, origin)?;
        Shop::work();
        Ok(row.outcome())
    }
}
