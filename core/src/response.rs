//! What a handler answered, kept to be told again.

use serde::Serialize;
use sha2::{Digest, Sha256};

/// A response's bytes and media type, stored when a claim is completed or failed and replayed byte for byte (I8).
///
/// `null`, `false`, `0`, `""`, `[]` and an empty body are responses like any other (S5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    media_type: String,
    body: Body,
}

/// The body of a response as the ledger keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// All of it.
    Stored(Vec<u8>),
    /// It was over the limit: only its length in bytes and its SHA-256 are known (S4).
    Omitted {
        /// Length in bytes.
        length: u64,
        /// SHA-256 of the whole body.
        sha256: [u8; 32],
    },
}

impl Response {
    /// A response of any media type.
    pub fn new(media_type: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self { media_type: media_type.into(), body: Body::Stored(body.into()) }
    }

    /// A response as a ledger keeps it, its body omitted or not: for whoever hands one on to another process.
    pub fn of(media_type: &str, body: Body) -> Self {
        Self { media_type: media_type.to_owned(), body }
    }

    /// `application/json`.
    ///
    /// # Errors
    /// When `value` cannot be written as JSON (a map whose keys are no strings).
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        Ok(Self::new("application/json", serde_json::to_vec(value)?))
    }

    /// `application/octet-stream`.
    pub fn bytes(body: impl Into<Vec<u8>>) -> Self {
        Self::new("application/octet-stream", body)
    }

    /// `text/plain; charset=utf-8`.
    pub fn text(body: impl Into<String>) -> Self {
        Self::new("text/plain; charset=utf-8", body.into())
    }

    /// No bytes and no media type.
    pub fn empty() -> Self {
        Self::new("", Vec::new())
    }

    /// The media type as it was given.
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// The body as it is kept.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The body's bytes, unless they were omitted.
    pub fn stored_bytes(&self) -> Option<&[u8]> {
        match &self.body {
            Body::Stored(bytes) => Some(bytes),
            Body::Omitted { .. } => None,
        }
    }

    /// This response as the ledger stores it: over `max_bytes` the body is omitted (S4).
    pub(crate) fn within(self, max_bytes: usize) -> Self {
        match self.body {
            Body::Stored(bytes) if bytes.len() > max_bytes => {
                let body = Body::Omitted { length: bytes.len() as u64, sha256: Sha256::digest(&bytes).into() };
                Self { media_type: self.media_type, body }
            }
            body @ (Body::Stored(_) | Body::Omitted { .. }) => Self { media_type: self.media_type, body },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s4_a_response_over_the_limit_keeps_length_and_hash_alone() {
        let kept = Response::bytes(vec![7; 10]).within(10);
        assert_eq!(kept.stored_bytes(), Some(&[7u8; 10][..]));
        let omitted = Response::bytes(vec![7; 11]).within(10);
        let sha256 = Sha256::digest([7; 11]).into();
        assert_eq!(omitted.body(), &Body::Omitted { length: 11, sha256 });
        assert_eq!(omitted.media_type(), "application/octet-stream");
    }
}
