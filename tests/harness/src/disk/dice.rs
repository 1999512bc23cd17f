//! Numbers that a seed repeats.

/// A sequence of numbers that its seed repeats (splitmix64).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// The sequence of a seed and of the place in a test that it is used at: each place has its own.
    pub fn at(seed: u64, place: &[u64]) -> Dice {
        place.iter().fold(Dice(seed), |mut dice, number| Dice(dice.roll() ^ number))
    }

    /// Any number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `end`, which is not among them.
    ///
    /// # Panics
    /// If `end` is 0: there is no such number.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).expect("a length fits");
        usize::try_from(self.roll() % end).expect("less than a length")
    }

    /// Puts `items` into an order of its own (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (2..=items.len()).rev() {
            items.swap(end - 1, self.below(end));
        }
    }
}
