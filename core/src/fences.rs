//! Fences: numbers that strictly rise over the life of a ledger file (I5).
//!
//! A block of them is reserved on disk before the first of it is used, so that a reservation that is only in memory has a fence
//! that no later opening gives out again. A block that is not durable yet is open to work in that very commit alone.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many are reserved at once. What a kill leaves unused of a block is lost, and 2^53 is far.
const BLOCK: u64 = 1 << 20;

/// How many fences one commit reserves. In a shared ledger just one: every fence comes out of a commit, so that they rise for all
/// processes together (I5).
pub(crate) const fn block(is_shared: bool) -> u64 {
    if is_shared { 1 } else { BLOCK }
}

/// The fences that this process may give out.
pub(crate) struct Fences {
    blocks: Mutex<Blocks>,
}

struct Blocks {
    next: u64,
    durable_end: u64,
    pending_end: u64,
}

impl Fences {
    /// All of `start..end` is reserved on disk.
    pub(crate) fn new(start: u64, end: u64) -> Self {
        Self { blocks: Mutex::new(Blocks { next: start, durable_end: end, pending_end: end }) }
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A fence whose reservation is durable; `None` when there is none left.
    pub(crate) fn take_durable(&self) -> Option<u64> {
        let mut blocks = self.blocks();
        let fence = blocks.next;
        (fence < blocks.durable_end).then(|| {
            blocks.next += 1;
            fence
        })
    }

    /// A fence for work in a commit, which may have reserved it itself; `None` when it must reserve a block first.
    pub(crate) fn take(&self) -> Option<u64> {
        let mut blocks = self.blocks();
        let fence = blocks.next;
        (fence < blocks.pending_end).then(|| {
            blocks.next += 1;
            fence
        })
    }

    /// A block that the commit in hand reserves.
    pub(crate) fn reserve(&self, start: u64, end: u64) {
        let mut blocks = self.blocks();
        blocks.next = start.max(blocks.next);
        blocks.pending_end = end;
    }

    /// The commit that reserved a block has ended.
    pub(crate) fn end_reservation(&self, stored: bool) {
        let mut blocks = self.blocks();
        if stored {
            blocks.durable_end = blocks.pending_end;
        } else {
            blocks.pending_end = blocks.durable_end;
        }
    }

    /// Gives up what is left: another process may have run since (P6), or it is not known what is on disk (S6).
    pub(crate) fn replace(&self, start: u64, end: u64) {
        *self.blocks() = Blocks { next: start, durable_end: end, pending_end: end };
    }

    /// Whether a file that has reserved all below `end` knows of no other opening since the last block that is durable here.
    pub(crate) fn is_last(&self, end: u64) -> bool {
        self.blocks().durable_end == end
    }

    /// No fence below this is given out any more.
    pub(crate) fn next(&self) -> u64 {
        self.blocks().next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i5_a_block_that_is_not_durable_is_open_to_its_own_commit_alone() {
        let fences = Fences::new(10, 11);
        assert_eq!(fences.take_durable(), Some(10));
        assert_eq!((fences.take_durable(), fences.take()), (None, None));
        fences.reserve(11, 13);
        assert_eq!((fences.take(), fences.take_durable()), (Some(11), None));
        fences.end_reservation(true);
        assert_eq!(fences.take_durable(), Some(12));
    }

    #[test]
    fn i5_a_reservation_that_was_not_stored_is_forgotten_but_its_fences_are_not_given_again() {
        let fences = Fences::new(10, 10);
        fences.reserve(10, 20);
        assert_eq!(fences.take(), Some(10));
        fences.end_reservation(false);
        assert_eq!(fences.take(), None);
        fences.reserve(10, 20);
        assert_eq!(fences.take(), Some(11));
    }
}
