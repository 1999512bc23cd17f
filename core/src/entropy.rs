//! Where random bytes come from: the only file that rolls dice.

use std::sync::atomic::{AtomicU64, Ordering};

/// A source of random bytes, shared by every thread that makes keys.
///
/// Implemented by the operating system's source (`OsEntropy`, where there is one), by [`SeededEntropy`], and by
/// hosts that have neither, such as WebAssembly, which inject their own.
pub trait Entropy: Send + Sync {
    /// Overwrites all of `bytes`. There is no way to fail: a source that cannot deliver must not return.
    fn fill(&self, bytes: &mut [u8]);
}

/// The operating system's random source (F5). Not on `wasm32-unknown-unknown`, which has none.
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
impl Entropy for OsEntropy {
    /// # Panics
    ///
    /// When the operating system refuses to give random bytes: a guessable key is worse than none.
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }
}

/// Numbers that a seed repeats exactly, for tests. Not random enough to make keys that meet other people's keys.
///
/// `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug)]
pub struct SeededEntropy {
    state: AtomicU64,
}

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl SeededEntropy {
    /// The same seed gives the same bytes to the same sequence of calls.
    pub const fn new(seed: u64) -> Self {
        Self { state: AtomicU64::new(seed) }
    }

    fn next(&self) -> u64 {
        let state = self.state.fetch_add(GOLDEN_GAMMA, Ordering::Relaxed).wrapping_add(GOLDEN_GAMMA);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(entropy: &dyn Entropy, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        entropy.fill(&mut bytes);
        bytes
    }

    #[test]
    fn a_seed_repeats_everything_and_another_seed_does_not() {
        assert_eq!(filled(&SeededEntropy::new(7), 21), filled(&SeededEntropy::new(7), 21));
        assert_ne!(filled(&SeededEntropy::new(7), 21), filled(&SeededEntropy::new(8), 21));
    }

    #[test]
    fn seeded_bytes_are_those_of_splitmix64() {
        // The first two outputs of the published algorithm for seed 0.
        let first_two: Vec<u8> =
            [0xe220_a839_7b1d_cdaf_u64, 0x6e78_9e6a_a1b9_65f4].iter().flat_map(|n| n.to_le_bytes()).collect();
        assert_eq!(filled(&SeededEntropy::new(0), 16), first_two);
    }

    #[test]
    fn the_operating_system_does_not_repeat_itself() {
        assert_ne!(filled(&OsEntropy, 32), filled(&OsEntropy, 32));
    }
}
