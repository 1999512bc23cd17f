//! The ledger's own rows: how many records are in each state, where the next block of fences begins, the salt of its row keys.

use serde::{Deserialize, Serialize};

use super::DecodeError;
use crate::machine::record::{Record, State};

/// The key of the counters in the meta space.
pub(crate) const COUNTERS: &[u8] = b"counters";
/// The key of the next fence in the meta space.
pub(crate) const NEXT_FENCE: &[u8] = b"next fence";

/// The key of the salt in the meta space.
pub(crate) const SALT: &[u8] = b"salt";

/// The key, in the meta space, of the run of the machine that those who share the ledger were opened in.
pub(crate) const BOOT: &[u8] = b"boot";

/// A run of the machine, and the opening that stands for every opening in it: their monotonic clocks are one (L7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Boot {
    pub(crate) id: [u8; 16],
    pub(crate) opening: u64,
}

impl Boot {
    pub(crate) fn encode(&self) -> Vec<u8> {
        [&self.id[..], &self.opening.to_be_bytes()].concat()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let parts = bytes.split_first_chunk().and_then(|(id, rest)| Some((*id, <[u8; 8]>::try_from(rest).ok()?)));
        let (id, opening) =
            parts.ok_or_else(|| DecodeError::new("the run of the machine", &"it has another length"))?;
        Ok(Boot { id, opening: u64::from_be_bytes(opening) })
    }
}

/// How many stored records are in each state (I7: they agree with the records after every commit).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counters {
    pub(crate) in_progress: u64,
    pub(crate) released: u64,
    pub(crate) completed: u64,
    pub(crate) failed: u64,
    pub(crate) parked: u64,
    pub(crate) tombstones: u64,
}

impl Counters {
    /// How many records there are.
    pub(crate) fn total(&self) -> u64 {
        let Counters { in_progress, released, completed, failed, parked, tombstones } = *self;
        [in_progress, released, completed, failed, parked, tombstones].into_iter().fold(0, u64::saturating_add)
    }

    /// Moves one record from its old state to its new one; `None` is no record.
    pub(crate) fn move_record(&mut self, old: Option<&Record>, new: Option<&Record>) {
        if let Some(old) = old {
            let count = self.of(&old.state);
            *count = count.saturating_sub(1);
        }
        if let Some(new) = new {
            *self.of(&new.state) += 1;
        }
    }

    fn of(&mut self, state: &State) -> &mut u64 {
        match state {
            State::InProgress { .. } => &mut self.in_progress,
            State::Released(_) => &mut self.released,
            State::Completed(..) => &mut self.completed,
            State::Failed(..) => &mut self.failed,
            State::Parked { .. } => &mut self.parked,
            State::Tombstone(_) => &mut self.tombstones,
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        postcard::to_extend(self, vec![1]).expect("a vector takes every byte")
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        match bytes {
            [1, rest @ ..] => postcard::from_bytes(rest).map_err(|error| DecodeError::new("the counters", &error)),
            _ => Err(DecodeError::new("the counters", &"their version is not known")),
        }
    }
}

/// The next fence, as it is stored.
pub(crate) fn encode_fence(fence: u64) -> Vec<u8> {
    fence.to_be_bytes().to_vec()
}

/// The next fence that was stored.
pub(crate) fn decode_fence(bytes: &[u8]) -> Result<u64, DecodeError> {
    let bytes = bytes.try_into().map_err(|_| DecodeError::new("the next fence", &"it is not eight bytes"))?;
    Ok(u64::from_be_bytes(bytes))
}

/// The salt that was stored.
pub(crate) fn decode_salt(bytes: &[u8]) -> Result<[u8; 16], DecodeError> {
    bytes.try_into().map_err(|_| DecodeError::new("the salt", &"it is not sixteen bytes"))
}
