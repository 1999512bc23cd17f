//! The three things that a client can ask for, one for each effect.

mod charge;
mod receipt;
mod top_up;

use keyledger::Operation;
use keyledger_examples::payments::records::Origin;
use keyledger_http::tower::RequestClaim;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use charge::Charge;
pub(crate) use receipt::Receipt;
pub(crate) use top_up::TopUp;

use crate::shop::Shop;

/// The body of a request, and what is done about it.
pub(crate) trait Order: DeserializeOwned + Send + 'static {
    fn operation() -> &'static Operation;

    /// Does it, under a claim, and says what came of it.
    fn fulfil(&self, shop: &Shop, origin: &Origin, claim: &RequestClaim) -> anyhow::Result<Value>;

    /// Does it without a claim: what the demo shows to go wrong.
    fn fulfil_without_claim(&self, shop: &Shop, origin: &Origin) -> anyhow::Result<Value>;
}
