//! What both sides are asked to store: the same keys, the same sizes.

/// Whose keys they are.
pub(crate) const SCOPE: &str = "user-4711";

/// The answer that is stored and told again: 300 bytes, as a small JSON answer has.
pub(crate) const ANSWER: [u8; 300] = [b'x'; 300];

/// The one row that the operation itself writes.
pub(crate) const ROW: [u8; 40] = [b'r'; 40];

/// The key of the `number`th request: as long as a UUID, and in no order.
pub(crate) fn key(number: u64) -> String {
    format!("{:016x}-{number:016x}---", scattered(number))
}

/// `SplitMix64`'s finaliser (Steele, Lea, Flood 2014): each number has its own image, far from its neighbours'.
pub(crate) fn scattered(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
