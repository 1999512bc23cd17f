//! The three things that a client can ask for, one for each effect.

mod charge;
mod receipt;
mod top_up;

use keyledger::{Claim, Operation, Response};
use keyledger_examples::payments::records::Origin;
use serde::de::DeserializeOwned;

pub(crate) use charge::Charge;
pub(crate) use receipt::Receipt;
pub(crate) use top_up::TopUp;

use crate::shop::Shop;

/// The body of a request, and what is done about it.
pub(crate) trait Order: DeserializeOwned + Send + 'static {
    fn operation() -> &'static Operation;

    /// Does it, under a claim, and settles the claim.
    fn fulfil(&self, shop: &Shop, origin: &Origin, claim: Claim) -> anyhow::Result<Response>;

    /// Does it without a claim: what the demo shows to go wrong.
    fn fulfil_without_claim(&self, shop: &Shop, origin: &Origin) -> anyhow::Result<Response>;
}

/// Completes `claim` with `response`, and gives the response for the answer.
fn complete(claim: Claim, response: Response) -> anyhow::Result<Response> {
    claim.complete(response.clone()).map_err(keyledger::Error::from)?;
    Ok(response)
}
