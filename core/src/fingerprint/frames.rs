//! SHA-256 over frames: no two lists of parts give the same bytes.

use sha2::{Digest, Sha256};

/// A hash under way. Each part goes in behind its length (u64, big-endian), so parts cannot flow into each other.
pub(crate) struct Frames(Sha256);

impl Frames {
    /// Starts with the frame of `tag`, which keeps the purposes of hashes apart.
    pub(crate) fn tagged(tag: &str) -> Self {
        Self(Sha256::new()).with(tag.as_bytes())
    }

    pub(crate) fn with(mut self, part: &[u8]) -> Self {
        self.0.update((part.len() as u64).to_be_bytes());
        self.0.update(part);
        self
    }

    pub(crate) fn with_all<'a>(self, parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        parts.into_iter().fold(self, Self::with)
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}
