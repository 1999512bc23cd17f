//! Settling the claim of a handler that has ended, and that may have settled it itself (H9, H14).

use keyledger::{Claim, Effect, Error, SettleError, Settlement};

use crate::answers::Settled;

impl Settled {
    /// Settles a claim with what `settlement` makes of its effect, unless the handler has settled it, or has taken it away: `None`.
    ///
    /// An outcome that the ledger cannot store now is left to it: it is stored once it can (S3).
    pub fn of(claim: Option<Claim>, settlement: impl FnOnce(Effect) -> Settlement) -> Self {
        let claim = match open(claim) {
            Ok(claim) => claim,
            Err(settled) => return settled,
        };
        let settlement = settlement(claim.effect());
        Self::told(claim.settle(settlement.clone()), settlement)
    }

    /// [`of`](Settled::of) as a future. What it settles is queued before it first waits: dropping it takes nothing back.
    pub async fn of_async(claim: Option<Claim>, settlement: impl FnOnce(Effect) -> Settlement) -> Self {
        let claim = match open(claim) {
            Ok(claim) => claim,
            Err(settled) => return settled,
        };
        let settlement = settlement(claim.effect());
        let settling = claim.settle_async(settlement.clone());
        Self::told(settling.await, settlement)
    }

    fn told(settled: Result<(), SettleError>, settlement: Settlement) -> Self {
        match settled {
            Ok(()) => Settled::ByAdapter,
            Err(SettleError { source: Error::ClaimLost, .. }) => Settled::Not(Error::ClaimLost),
            Err(SettleError { claim, source }) => {
                // Nobody is left to ask again: told by a future that is dropped, it is stored once the ledger can (S3).
                drop(claim.settle_async(settlement));
                Settled::Not(source)
            }
        }
    }
}

/// The claim, if it is still to be settled.
fn open(claim: Option<Claim>) -> Result<Claim, Settled> {
    match claim {
        None => Err(Settled::ByHandler(None)),
        Some(claim) if claim.settled().is_some() => Err(Settled::ByHandler(claim.settled().cloned())),
        Some(claim) => Ok(claim),
    }
}
