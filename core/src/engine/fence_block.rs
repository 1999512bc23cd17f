//! Blocks of fences, and how one is reserved in the file (I5).

use super::{EngineError, read_with};
use crate::codec::counters::{NEXT_FENCE, decode_fence, encode_fence};
use crate::fences::block;
use crate::options::FENCE_MAX;
use crate::store::{Snapshot, Space};

/// The fences from `start` to below `end`.
#[derive(Debug, Clone, Copy)]
pub(super) struct FenceBlock {
    pub(super) start: u64,
    pub(super) end: u64,
    /// What the file knew of: every opening leaves more.
    pub(super) stored: u64,
}

impl FenceBlock {
    /// Of whoever gives out none.
    pub(super) const NONE: FenceBlock = FenceBlock { start: 0, end: 0, stored: 0 };

    /// The block above all that the file knows of, and above `at_least`.
    pub(super) fn after(view: &dyn Snapshot, at_least: u64, is_shared: bool) -> Result<Self, EngineError> {
        let stored = read_with(view, Space::Meta, NEXT_FENCE, decode_fence)?.unwrap_or(1);
        let start = stored.max(at_least);
        let end =
            start.checked_add(block(is_shared)).filter(|end| *end <= FENCE_MAX).ok_or(EngineError::FencesSpent)?;
        Ok(Self { start, end, stored })
    }

    /// The first of it that may be given out later. In a shared ledger others may have given out higher ones by then.
    pub(super) fn usable(self, is_shared: bool) -> u64 {
        if is_shared { self.end } else { self.start }
    }

    /// The row that reserves it: where, under which key, and what.
    pub(super) fn row(self) -> (Space, Vec<u8>, Vec<u8>) {
        (Space::Meta, NEXT_FENCE.to_vec(), encode_fence(self.end))
    }
}
