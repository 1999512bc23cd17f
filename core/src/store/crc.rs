//! CRC-32 (IEEE) for WebAssembly: its tables are made when they are first used, and so are no 16 KB of the module.

use std::sync::OnceLock;

/// `[n][byte]`: the remainder of that byte with n zero bytes behind it.
type Tables = [[u32; 256]; 8];

fn made() -> Tables {
    let mut tables = [[0; 256]; 8];
    for (byte, first) in (0_u32..).zip(&mut tables[0]) {
        *first = (0..8).fold(byte, |rest, _| (rest >> 1) ^ (0xedb8_8320 * (rest & 1)));
    }
    let first = tables[0];
    for n in 1..tables.len() {
        tables[n] = tables[n - 1].map(|before| step(&first, before, 0));
    }
    tables
}

fn step(first: &[u32; 256], rest: u32, byte: u8) -> u32 {
    (rest >> 8) ^ first[usize::from(rest.to_le_bytes()[0] ^ byte)]
}

/// A checksum under way.
pub(super) struct Hasher(u32);

impl Hasher {
    pub(super) fn new() -> Self {
        Self(u32::MAX)
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        let tables = TABLES.get_or_init(made);
        let (eights, left) = bytes.as_chunks::<8>();
        let eight = |rest: u32, eight: &[u8; 8]| {
            let mixed = u64::from_le_bytes(*eight) ^ u64::from(rest);
            let bytes = mixed.to_le_bytes().into_iter();
            bytes.zip(tables.iter().rev()).fold(0, |rest, (byte, table)| rest ^ table[usize::from(byte)])
        };
        let rest = eights.iter().fold(self.0, eight);
        self.0 = left.iter().fold(rest, |rest, byte| step(&tables[0], rest, *byte));
    }

    pub(super) fn finalize(self) -> u32 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Hasher;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_row_sealed_in_webassembly_is_sealed_as_everywhere(key in prop::collection::vec(any::<u8>(), 0..40), value: Vec<u8>) {
            let (mut ours, mut theirs) = (Hasher::new(), crc32fast::Hasher::new());
            for part in [&key, &value] {
                ours.update(part);
                theirs.update(part);
            }
            prop_assert_eq!(ours.finalize(), theirs.finalize());
        }
    }
}
