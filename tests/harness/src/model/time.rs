//! L6 and L7: two clocks, and which of them judges.

use super::values::Millis;

/// One instant, by both clocks, and the opening of the ledger in which it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    /// The wall clock.
    pub wall: Millis,
    /// The monotonic clock of this process.
    pub mono: Millis,
    /// How many times the ledger had been opened.
    pub opening: u32,
}

impl Stamp {
    /// Whether `span` has passed since this instant, by the monotonic clock, if both are of one opening (L7).
    /// `None` if they are not: then the wall clock has to do.
    pub fn passed_here(&self, span: Millis, now: Stamp) -> Option<bool> {
        (self.opening == now.opening).then(|| now.mono >= self.mono.saturating_add(span))
    }
}
