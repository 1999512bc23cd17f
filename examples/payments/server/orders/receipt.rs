//! A receipt by mail: `AtMostOnce`. Whether a mail has left cannot be asked, so a lost owner leaves the record parked.

use keyledger::Operation;
use keyledger_examples::payments::operations::RECEIPT;
use keyledger_examples::payments::records::{Mail, Origin, fresh_id};
use keyledger_http::tower::RequestClaim;
use serde::Deserialize;
use serde_json::Value;

use super::Order;
use crate::shop::Shop;

#[derive(Deserialize)]
pub(crate) struct Receipt {
    to: String,
    order: String,
    total_cents: u64,
}

impl Order for Receipt {
    fn operation() -> &'static Operation {
        &RECEIPT
    }

    /// A mail that fails is parked: the mail may have left all the same.
    fn fulfil(&self, shop: &Shop, origin: &Origin, _claim: &RequestClaim) -> anyhow::Result<Value> {
        self.mail(shop, origin)
    }

    fn fulfil_without_claim(&self, shop: &Shop, origin: &Origin) -> anyhow::Result<Value> {
        self.mail(shop, origin)
    }
}

impl Receipt {
    fn mail(&self, shop: &Shop, origin: &Origin) -> anyhow::Result<Value> {
        Shop::work();
        let text = format!("Your order {}: {} cents, with thanks.", self.order, self.total_cents);
        let mail = Mail { id: fresh_id("mail"), to: self.to.clone(), text, origin: origin.clone() };
        shop.mail.append(&mail)?;
        Shop::work();
        Ok(mail.outcome())
    }
}
