//! What each process has for itself, a forked child too (P3).

use std::sync::atomic::{AtomicU64, Ordering};

/// So many generations of children find a place that no ancestor of theirs had.
pub(crate) const GENERATIONS: usize = 64;

const PROCESS: u64 = u32::MAX as u64;
const GENERATION: u32 = 32;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn id() -> u32 {
    std::process::id()
}

/// There is one.
#[cfg(target_arch = "wasm32")]
pub(crate) fn id() -> u32 {
    0
}

/// The process that something belongs to: the one that made it (P3).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner(u32);

impl Owner {
    pub(crate) fn this() -> Self {
        Self(id())
    }

    /// Whether this is a forked child of it.
    pub(crate) fn is_elsewhere(self) -> bool {
        self.0 != id()
    }
}

/// One value for each process. A forked child gets another one than its parent, whose locks may be held by threads that the child
/// does not have. Nobody waits for anybody to get at it.
pub(crate) struct PerProcess<T> {
    /// In the low half whose the value is, in the high half the generation of that process; zero is nobody's.
    owners: [AtomicU64; GENERATIONS],
    values: [T; GENERATIONS],
}

impl<T> PerProcess<T> {
    pub(crate) const fn new(values: [T; GENERATIONS]) -> Self {
        Self { owners: [const { AtomicU64::new(0) }; GENERATIONS], values }
    }

    /// The value of this process. Where every one is taken, it is that of the oldest ancestor, as that one has left it.
    pub(crate) fn here(&self) -> &T {
        self.of(id())
    }

    fn of(&self, process: u32) -> &T {
        let process = u64::from(process);
        loop {
            let owners = self.owners.each_ref().map(|owner| owner.load(Ordering::Acquire));
            if let Some(at) = owners.iter().position(|owner| owner & PROCESS == process) {
                return &self.values[at];
            }
            let (mut oldest, mut newest) = (0, 0);
            for at in 1..GENERATIONS {
                oldest = if owners[at] < owners[oldest] { at } else { oldest };
                newest = if owners[at] > owners[newest] { at } else { newest };
            }
            let mine = ((owners[newest] >> GENERATION) + 1) << GENERATION | process;
            // Where another thread was quicker, it has found a place for this one, too.
            let _ = self.owners[oldest].compare_exchange(owners[oldest], mine, Ordering::AcqRel, Ordering::Acquire);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p3_a_process_has_one_value_and_its_child_another() {
        let values = PerProcess::new(std::array::from_fn(|number| number));
        let generations = u32::try_from(GENERATIONS).unwrap();
        let found: Vec<usize> = (1..=generations).map(|process| *values.of(process * 7)).collect();
        assert_eq!(found, (0..GENERATIONS).collect::<Vec<_>>());
        let again: Vec<usize> = (1..=generations).map(|process| *values.of(process * 7)).collect();
        assert_eq!(found, again);
    }

    #[test]
    fn p3_when_there_are_more_generations_than_places_the_oldest_gives_way() {
        let values = PerProcess::new(std::array::from_fn(|number| number));
        let last = u32::try_from(GENERATIONS).unwrap() + 3;
        let found: Vec<usize> = (1..=last).map(|process| *values.of(process)).collect();
        assert_eq!(found[GENERATIONS..], [0, 1, 2]);
        assert_eq!(*values.of(last), 2);
    }
}
