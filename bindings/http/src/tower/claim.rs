//! The claim as the handler sees it (H14).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use keyledger::{Claim, Effect, Error, Key, KeyId, Result, Settlement};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

use crate::answers::Settled;

/// The claim under which a handler runs: an extension of its request. Clones are the same claim.
///
/// A handler that does nothing with it is settled by its response's status. One that settles it, by
/// [`complete_with`](Claim::complete_with) or by what [`take`](RequestClaim::take) gives, is answered from what it stored. Let go of it
/// before the response is returned: settling waits for a [`ClaimGuard`].
///
/// A request that is not protected has none: no key on a route where it is optional, or a method that takes none. Such a handler
/// takes `Option<Extension<RequestClaim>>`.
#[derive(Clone)]
pub struct RequestClaim {
    shared: Arc<Shared>,
}

struct Shared {
    claim: Mutex<Option<Claim>>,
    id: KeyId,
    fence: u64,
    attempt: u32,
    effect: Effect,
    is_lost: AtomicBool,
}

/// The claim, for as long as nobody else has it.
pub type ClaimGuard<'a> = MappedMutexGuard<'a, Claim>;

impl RequestClaim {
    pub(super) fn new(claim: Claim) -> Self {
        let (id, fence) = (claim.key_id().clone(), claim.fence());
        let (attempt, effect) = (claim.attempt(), claim.effect());
        let claim = Mutex::new(Some(claim));
        Self { shared: Arc::new(Shared { claim, id, fence, attempt, effect, is_lost: AtomicBool::new(false) }) }
    }

    /// Whose record this is a claim on.
    pub fn key_id(&self) -> &KeyId {
        &self.shared.id
    }

    /// A number that strictly rises with every claim granted: hand it to whatever the operation writes to.
    pub fn fence(&self) -> u64 {
        self.shared.fence
    }

    /// 1 for the first owner of the key; higher when earlier owners were lost or released it.
    pub fn attempt(&self) -> u32 {
        self.shared.attempt
    }

    /// The record's effect (E1).
    pub fn effect(&self) -> Effect {
        self.shared.effect
    }

    /// A key for a downstream call, equal on every attempt (E3).
    pub fn derive_key(&self, name: &str) -> Key {
        self.shared.id.derive_key(name)
    }

    /// Runs `future` until its result is recorded under `name`; from then on, on any later attempt, returns that and does not run
    /// it. What it calls takes [`derive_key`](RequestClaim::derive_key): a kill between the two runs it again.
    ///
    /// The claim is free while it runs. If this is dropped before it is done, nothing is recorded.
    ///
    /// # Errors
    /// Whatever the future returns; as [`Claim::step`], of which what is sure beforehand without running it.
    pub async fn step_async<E: From<Error>>(
        &self,
        name: &str,
        future: impl Future<Output = Result<Vec<u8>, E>>,
    ) -> Result<Vec<u8>, E> {
        if let Some(value) = self.lock().await?.recorded_step(name)? {
            return Ok(value.to_vec());
        }
        let value = future.await?;
        self.lock().await?.record_step_async(name, value.clone()).await?;
        Ok(value)
    }

    /// Whether a heartbeat was told that the claim is somebody else's: whatever the handler answers is thrown away (H15).
    pub fn is_lost(&self) -> bool {
        self.shared.is_lost.load(Ordering::Acquire)
    }

    /// The claim itself, for steps and `complete_with`. Heartbeats go on meanwhile.
    ///
    /// In a task take [`step_async`](RequestClaim::step_async) and [`complete_with_async`](Claim::complete_with_async): the
    /// others wait for the disk on the thread that calls them.
    ///
    /// # Errors
    /// `ClaimSettled` once it was taken, or the request was answered.
    pub async fn lock(&self) -> Result<ClaimGuard<'_>> {
        claim_in(self.shared.claim.lock().await)
    }

    /// [`lock`](RequestClaim::lock) for a thread of its own, such as tokio's `spawn_blocking` gives.
    ///
    /// # Errors
    /// As [`lock`](RequestClaim::lock).
    ///
    /// # Panics
    /// Inside a task.
    pub fn blocking_lock(&self) -> Result<ClaimGuard<'_>> {
        claim_in(self.shared.claim.blocking_lock())
    }

    /// The claim itself, to `complete`, `fail`, `release` or `park` it.
    ///
    /// # Errors
    /// As [`lock`](RequestClaim::lock).
    pub async fn take(&self) -> Result<Claim> {
        self.shared.claim.lock().await.take().ok_or(Error::ClaimSettled)
    }

    /// Notes that the claim is somebody else's.
    pub(super) fn lose(&self) {
        self.shared.is_lost.store(true, Ordering::Release);
    }

    /// Whether the handler has settled it, and not taken it away.
    pub(super) async fn is_settled(&self) -> bool {
        self.shared.claim.lock().await.as_ref().is_some_and(|claim| claim.settled().is_some())
    }

    /// Settles it, unless the handler has. It is queued before the first await: dropping the future takes nothing back (S3).
    pub(super) async fn settle(&self, settlement: Settlement) -> Settled {
        let claim = self.shared.claim.lock().await.take();
        Settled::of_async(claim, |_| settlement).await
    }
}

fn claim_in(guard: MutexGuard<'_, Option<Claim>>) -> Result<ClaimGuard<'_>> {
    MutexGuard::try_map(guard, Option::as_mut).map_err(|_| Error::ClaimSettled)
}

impl std::fmt::Debug for RequestClaim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RequestClaim")
            .field("key_id", &self.shared.id)
            .field("fence", &self.shared.fence)
            .finish_non_exhaustive()
    }
}
