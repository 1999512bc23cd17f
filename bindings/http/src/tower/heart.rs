//! Heartbeats at a third of the lease, from the grant until the handler has ended (H10).

use std::time::Duration;

use keyledger::{Error, Ledger};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::sleep;

use super::claim::RequestClaim;

/// Beats until it is dropped, or is told that the claim is lost.
pub(super) struct Heart {
    task: JoinHandle<()>,
}

impl Heart {
    pub(super) fn start(ledger: Ledger, claim: RequestClaim, lease: Duration, interval: Duration) -> Self {
        Self { task: tokio::spawn(beat(ledger, claim, lease, interval)) }
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn beat(ledger: Ledger, claim: RequestClaim, lease: Duration, interval: Duration) {
    loop {
        sleep(interval).await;
        let (ledger, of) = (ledger.clone(), claim.clone());
        // In a shared ledger a heartbeat is a commit: not on the runtime's own threads.
        let beat = spawn_blocking(move || ledger.heartbeat(of.key_id(), of.fence(), lease));
        if matches!(beat.await, Ok(Err(Error::ClaimLost))) {
            return claim.lose();
        }
    }
}
