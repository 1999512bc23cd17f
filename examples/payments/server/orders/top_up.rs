//! Money into a wallet: `InLedger`. The row, the balance and the outcome are stored in one transaction, or not at all.

use keyledger::{Claim, Operation, Response, Transaction};
use keyledger_examples::payments::operations::{self, BALANCES, TOP_UP, WALLET};
use keyledger_examples::payments::records::{Origin, WalletRow, fresh_id};
use serde::Deserialize;
use serde_json::json;

use super::Order;
use crate::shop::Shop;

#[derive(Deserialize)]
pub(crate) struct TopUp {
    amount_cents: u64,
}

impl Order for TopUp {
    fn operation() -> &'static Operation {
        &TOP_UP
    }

    fn fulfil(&self, _shop: &Shop, origin: &Origin, mut claim: Claim) -> anyhow::Result<Response> {
        Shop::work();
        claim.complete_with(|tx| self.enter(tx, origin))
    }

    fn fulfil_without_claim(&self, shop: &Shop, origin: &Origin) -> anyhow::Result<Response> {
        Shop::work();
        shop.ledger.transaction(|tx| self.enter(tx, origin))
    }
}

impl TopUp {
    fn enter(&self, tx: &mut Transaction<'_, '_>, origin: &Origin) -> anyhow::Result<Response> {
        let row = WalletRow { id: fresh_id("row"), amount_cents: self.amount_cents, origin: origin.clone() };
        let user = origin.scope.as_bytes();
        let balance = operations::cents(tx.get(BALANCES, user)?) + self.amount_cents;
        tx.put(BALANCES, user, balance.to_be_bytes())?;
        tx.insert_unique(WALLET, row.id.as_bytes(), serde_json::to_vec(&row)?)?;
        Ok(Response::json(&json!({ "id": row.id, "balance_cents": balance }))?)
    }
}
