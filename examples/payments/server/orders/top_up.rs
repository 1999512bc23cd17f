//! Money into a wallet: `InLedger`. The row, the balance and the outcome are stored in one transaction, or not at all.

use keyledger::{Operation, Response, Transaction};
use keyledger_examples::payments::operations::{self, BALANCES, TOP_UP, WALLET};
use keyledger_examples::payments::records::{Origin, WalletRow, fresh_id};
use keyledger_http::tower::RequestClaim;
use serde::Deserialize;
use serde_json::Value;

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

    /// The client is answered from what is stored here.
    fn fulfil(&self, _shop: &Shop, origin: &Origin, claim: &RequestClaim) -> anyhow::Result<Value> {
        Shop::work();
        let mut outcome = Value::Null;
        claim.blocking_lock()?.complete_with(|tx| -> anyhow::Result<Response> {
            outcome = self.enter(tx, origin)?;
            Ok(Response::json(&outcome)?)
        })?;
        Ok(outcome)
    }

    fn fulfil_without_claim(&self, shop: &Shop, origin: &Origin) -> anyhow::Result<Value> {
        Shop::work();
        shop.ledger.transaction(|tx| self.enter(tx, origin))
    }
}

impl TopUp {
    fn enter(&self, tx: &mut Transaction<'_, '_>, origin: &Origin) -> anyhow::Result<Value> {
        let user = origin.scope.as_bytes();
        let balance = operations::cents(tx.get(BALANCES, user)?) + self.amount_cents;
        let (id, amount_cents, origin) = (fresh_id("row"), self.amount_cents, origin.clone());
        let row = WalletRow { id, amount_cents, balance_cents: balance, origin };
        tx.put(BALANCES, user, balance.to_be_bytes())?;
        tx.insert_unique(WALLET, row.id.as_bytes(), serde_json::to_vec(&row)?)?;
        Ok(row.outcome())
    }
}
