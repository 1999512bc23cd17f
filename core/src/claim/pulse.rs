//! The lease of a claim, without the claim.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Claim, LostSignal};
use crate::codec::address::Address;
use crate::engine::{Engine, EngineError};
use crate::error::Result;
use crate::limits::valid_lease;
use crate::machine::begin::remaining_ms;
use crate::machine::record::Stamp;
use crate::operation::Effect;

/// Renews the lease of a claim that another thread is working with. It holds nothing: the claim ends as if there were none.
#[derive(Clone)]
pub struct Pulse {
    engine: Arc<Engine>,
    address: Address,
    fence: u64,
    lease_ms: u64,
    first_granted: Stamp,
    /// For Repeatable alone.
    remembered_for_ms: Option<u64>,
    lost: Arc<AtomicBool>,
}

impl Claim {
    /// Renews the lease from elsewhere.
    pub fn pulse(&self) -> Pulse {
        let is_repeatable = self.record.effect == Effect::Repeatable;
        Pulse {
            engine: self.engine.clone(),
            address: self.address.clone(),
            fence: self.record.fence,
            lease_ms: self.record.retention.lease_ms,
            first_granted: self.record.first_granted,
            remembered_for_ms: is_repeatable.then_some(self.remembered_for_ms),
            lost: self.lost.clone(),
        }
    }
}

impl Pulse {
    /// As [`Claim::heartbeat`].
    ///
    /// # Errors
    /// `ClaimLost`, also once the claim is settled.
    pub fn heartbeat(&self) -> Result<()> {
        self.heartbeat_for(Duration::from_millis(self.lease_ms))
    }

    /// As [`Claim::heartbeat_for`].
    ///
    /// # Errors
    /// `InvalidArgument` for a lease of zero; `ClaimLost`, also once the claim is settled.
    #[tracing::instrument(level = "debug", name = "keyledger.heartbeat", skip_all, fields(operation = %self.address.id.operation(), fence = self.fence))]
    pub fn heartbeat_for(&self, lease: Duration) -> Result<()> {
        let lease_ms = valid_lease(lease)?;
        let beat = self.engine.heartbeat(&self.address, self.fence, lease_ms);
        if matches!(beat, Err(EngineError::ClaimLost)) {
            self.lost.store(true, Ordering::Release);
        }
        Ok(beat?)
    }

    /// As [`Claim::remaining`].
    pub fn remaining(&self) -> Option<Duration> {
        let left_ms = |remembered_for_ms| remaining_ms(self.first_granted, remembered_for_ms, self.engine.now());
        self.remembered_for_ms.map(|remembered_for_ms| Duration::from_millis(left_ms(remembered_for_ms)))
    }

    /// As [`Claim::lost_signal`].
    pub fn lost_signal(&self) -> LostSignal {
        LostSignal { lost: self.lost.clone() }
    }
}

impl fmt::Debug for Pulse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pulse").field("key_id", &self.address.id).field("fence", &self.fence).finish_non_exhaustive()
    }
}
