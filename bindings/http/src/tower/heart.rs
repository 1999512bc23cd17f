//! Heartbeats at a third of the lease, from the grant until the handler has ended (H10).

use std::thread;
use std::time::Duration;

use keyledger::{Error, Ledger};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
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
        if beat_once(ledger.clone(), claim.clone(), lease).await {
            return claim.lose();
        }
    }
}

/// One beat; whether somebody else has taken over.
///
/// A beat may be a commit, so it is not for the runtime's own threads; nor for those of its blocking pool, which handlers may have
/// filled up: then the lease would end under them.
async fn beat_once(ledger: Ledger, claim: RequestClaim, lease: Duration) -> bool {
    let (tell, told) = oneshot::channel();
    let beat = move || {
        let answer = ledger.heartbeat(claim.key_id(), claim.fence(), lease);
        let _ = tell.send(matches!(answer, Err(Error::ClaimLost)) && is_taken_over(&ledger, &claim));
    };
    // Without a thread this beat is missed; the next comes before the lease ends.
    let _ = thread::Builder::new().name("keyledger-heart".to_owned()).spawn(beat);
    told.await.unwrap_or(false)
}

/// A claim that the handler has settled itself, or whose record was parked under it and awaits its outcome (S1), has its fence still.
fn is_taken_over(ledger: &Ledger, claim: &RequestClaim) -> bool {
    let view = ledger.inspect(claim.key_id());
    view.is_ok_and(|view| view.is_none_or(|view| view.fence() != claim.fence()))
}
