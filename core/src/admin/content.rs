//! Bytes, answers and decisions, as they stand in JSON.

use serde::{Deserialize, Serialize};

use crate::fingerprint;
use crate::machine::record::AuditEntry;
use crate::response::{Body, Response};

/// Bytes: as text where they are UTF-8, else in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// They are UTF-8.
    Text(String),
    /// They are not.
    Hex(String),
}

impl Content {
    /// These bytes.
    pub fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Content::Text(text.to_owned()),
            Err(_) => Content::Hex(hex(bytes)),
        }
    }

    /// The bytes; `None` for what is not hexadecimal.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Content::Text(text) => Some(text.as_bytes().to_vec()),
            Content::Hex(digits) => unhex(digits),
        }
    }
}

/// Two digits for each byte, in small letters.
pub fn hex(bytes: &[u8]) -> String {
    fingerprint::hex(bytes)
}

/// The bytes that [`hex`] was given.
pub fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        digits.chars().map(|digit| digit.to_digit(16).and_then(|half| half.try_into().ok())).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// A stored answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// As it was given.
    pub media_type: String,
    /// Of the whole body, in bytes.
    pub length: u64,
    /// Of the whole body, where it was over the limit and is not kept (S4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted_sha256: Option<String>,
    /// The body, where it is kept and was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
}

impl Answer {
    pub(super) fn of(response: &Response, with_content: bool) -> Self {
        let (length, omitted_sha256, content) = match response.body() {
            Body::Stored(bytes) => (bytes.len() as u64, None, with_content.then(|| Content::of(bytes))),
            Body::Omitted { length, sha256 } => (*length, Some(hex(sha256)), None),
        };
        Self { media_type: response.media_type().to_owned(), length, omitted_sha256, content }
    }
}

/// What a person decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// When.
    pub at_ms: u64,
    /// What.
    pub outcome: String,
    /// Who.
    pub who: String,
    /// Why.
    pub note: String,
}

impl Audit {
    pub(super) fn of(entries: &[AuditEntry]) -> Vec<Self> {
        let one = |AuditEntry { at_ms, outcome, who, note }: AuditEntry| Self { at_ms, outcome, who, note };
        entries.iter().cloned().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back_from_its_content() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(Content::of(&all).bytes(), Some(all));
        assert_eq!(Content::of("Grüße".as_bytes()), Content::Text("Grüße".to_owned()));
        assert_eq!(Content::of(&[0xff, 0x0a]), Content::Hex("ff0a".to_owned()));
        for bad in ["f", "fg", "ff0"] {
            assert_eq!(Content::Hex(bad.to_owned()).bytes(), None);
        }
    }
}
