//! One batch of an operation's recovery (contract section 4).

use std::collections::HashSet;
use std::error::Error as StdError;

use crate::claim::Claim;
use crate::error::{Error, Result};
use crate::ledger::Ledger;
use crate::machine::settle::Settlement;
use crate::operation::{Effect, Operation};

/// What a recovery handler found out, or its error.
pub type Recovered = std::result::Result<Settlement, Box<dyn StdError + Send + Sync>>;

/// Hands out at most `limit` claims and settles each as the handler says; returns how many were handed out.
///
/// A record whose handler failed is open to recovery again at once, and comes last: with the first that comes again the batch ends, so
/// that a handler is asked about each once.
pub(super) fn recover(
    ledger: &Ledger,
    operation: &Operation,
    limit: usize,
    handler: &(dyn Fn(&mut Claim) -> Recovered + Send + Sync),
) -> Result<u64> {
    let mut recovered = 0;
    let mut seen = HashSet::new();
    // One at a time: a claim that waits for its turn would let its lease run out.
    while recovered < limit as u64 {
        let Some(mut claim) = ledger.recover(operation, 1)?.pop() else { break };
        if !seen.insert(claim.key_id().clone()) {
            give_back(claim)?;
            break;
        }
        recovered += 1;
        let found_out = handler(&mut claim);
        match settle(claim, found_out) {
            // A handler that took the claim has settled it.
            Ok(()) | Err(Error::ClaimLost | Error::ClaimSettled) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(recovered)
}

fn settle(mut claim: Claim, found_out: Recovered) -> Result<()> {
    if claim.settled().is_some() {
        return Ok(());
    }
    match found_out {
        Ok(settlement) => claim.settle_in_place(settlement),
        Err(_) => give_back(claim),
    }
}

/// As it was: an AtMostOnce record is parked again, of others the lease is over.
fn give_back(mut claim: Claim) -> Result<()> {
    if claim.effect() == Effect::AtMostOnce { claim.park_again() } else { Ok(()) }
}
