//! One batch of an operation's recovery (contract section 4).

use std::error::Error as StdError;

use crate::claim::Claim;
use crate::error::{Error, Result};
use crate::ledger::Ledger;
use crate::machine::settle::Settlement;
use crate::operation::{Effect, Operation};

/// What a recovery handler found out, or its error.
pub type Recovered = std::result::Result<Settlement, Box<dyn StdError + Send + Sync>>;

/// What came of one batch.
pub(super) struct Batch {
    /// Claims that were handed out.
    pub(super) handed_out: u64,
    /// Whether there may be others for whom it is worth coming back at once: not where all of a batch have failed. Those would come again.
    pub(super) more: bool,
}

/// Hands out at most `limit` claims and settles each as the handler says.
///
/// A claim that the handler failed with is held until the end of the batch: given back at once, it would be the next one to be handed out,
/// again and again, before all others.
pub(super) fn recover(
    ledger: &Ledger,
    operation: &Operation,
    limit: usize,
    handler: &(dyn Fn(&mut Claim) -> Recovered + Send + Sync),
) -> Result<Batch> {
    let mut handed_out = 0;
    let mut failed = Vec::new();
    // One at a time: a claim that waits for its turn would let its lease run out.
    while handed_out < limit {
        let Some(mut claim) = ledger.recover(operation, 1)?.pop() else { break };
        handed_out += 1;
        match handler(&mut claim) {
            _ if claim.settled().is_some() => {}
            Ok(settlement) => unless_lost(claim.settle_in_place(settlement))?,
            Err(_) => failed.push(claim),
        }
    }
    let more = handed_out == limit && failed.len() < limit;
    failed.into_iter().try_for_each(|claim| unless_lost(give_back(claim)))?;
    Ok(Batch { handed_out: handed_out as u64, more })
}

/// A handler that took the claim has settled it.
fn unless_lost(ended: Result<()>) -> Result<()> {
    match ended {
        Err(Error::ClaimLost | Error::ClaimSettled) => Ok(()),
        ended => ended,
    }
}

/// As it was: an AtMostOnce record is parked again, of others the lease is over.
fn give_back(mut claim: Claim) -> Result<()> {
    if claim.effect() == Effect::AtMostOnce { claim.park_again() } else { Ok(()) }
}
