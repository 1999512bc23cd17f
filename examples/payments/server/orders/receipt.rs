//! A receipt by mail: `AtMostOnce`. Whether a mail has left cannot be asked, so a lost owner leaves the record parked.

use keyledger::{Claim, Operation, Response};
use keyledger_examples::payments::operations::RECEIPT;
use keyledger_examples::payments::records::{Mail, Origin, fresh_id};
use serde::Deserialize;
use serde_json::json;

use super::{Order, complete};
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

    /// A mail that fails leaves the claim dropped, and so the record parked: the mail may have left all the same.
    fn fulfil(&self, shop: &Shop, origin: &Origin, claim: Claim) -> anyhow::Result<Response> {
        let response = self.mail(shop, origin)?;
        complete(claim, response)
    }

    fn fulfil_without_claim(&self, shop: &Shop, origin: &Origin) -> anyhow::Result<Response> {
        self.mail(shop, origin)
    }
}

impl Receipt {
    fn mail(&self, shop: &Shop, origin: &Origin) -> anyhow::Result<Response> {
        Shop::work();
        let text = format!("Your order {}: {} cents, with thanks.", self.order, self.total_cents);
        let mail = Mail { id: fresh_id("mail"), to: self.to.clone(), text, origin: origin.clone() };
        shop.mail.append(&mail)?;
        Shop::work();
        Ok(Response::json(&json!({ "id": mail.id }))?)
    }
}
