//! What was asked, as 32 bytes: to tell a retry from another request under the same key (section 8).

mod double;
mod error;
mod frames;
mod http;
mod json;
mod number;
mod parser;
mod pointer;

use std::fmt;

use sha2::{Digest, Sha256};

#[cfg(all(target_arch = "wasm32", feature = "host-numbers"))]
pub use double::{HostNumbers, numbers_by_host};
pub use error::{FingerprintError, FingerprintErrorReason, JSON_DEPTH_MAX, Place};
pub(crate) use frames::Frames;
pub use http::HttpRequest;
use json::Json;
pub use pointer::{Members, Pointer, PointerError};

/// The version of the algorithms in this module. It rises when the same request would give other bytes.
pub const FINGERPRINT_VERSION: u8 = 1;

const BYTES_TAG: &str = "keyledger/bytes/1";

/// SHA-256 of what was asked, or said on purpose: unchecked (F7).
///
/// `==` tells whether two are the same value; what that means for a record, [`Fingerprint::compare`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fingerprint {
    /// The caller does not want requests under one key told apart.
    Unchecked,
    /// The hash of a request.
    Value {
        /// The version of the algorithm that made it.
        version: u8,
        /// What it made.
        sha256: [u8; 32],
    },
}

/// What two fingerprints say about the requests behind them (F7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The same request, or both unchecked.
    Equal,
    /// Two requests.
    Different,
    /// One is unchecked, or they are of two versions: nobody can tell.
    Unknown,
}

impl Fingerprint {
    /// No fingerprint, on purpose.
    pub const fn unchecked() -> Self {
        Self::Unchecked
    }

    /// A hash of this version's making.
    const fn of_hash(sha256: [u8; 32]) -> Self {
        Self::Value { version: FINGERPRINT_VERSION, sha256 }
    }

    /// The fingerprint of a list of byte strings (F2). No other list has it, however the bytes are distributed.
    ///
    /// SHA-256 over `keyledger/bytes/1` and the parts, each behind its length (u64, big-endian).
    pub fn of_bytes(parts: &[&[u8]]) -> Self {
        Self::of_hash(Frames::tagged(BYTES_TAG).with_all(parts.iter().copied()).finish())
    }

    /// The fingerprint of a JSON value: SHA-256 over its RFC 8785 form (F1).
    ///
    /// Whatever parser made the value has decided already about duplicate names and about numbers that do not fit; to
    /// have that refused, give the text to [`Fingerprint::of_json_text`].
    ///
    /// # Errors
    ///
    /// On an integer that a double cannot hold, and on more than [`JSON_DEPTH_MAX`] levels.
    pub fn of_json(value: &serde_json::Value) -> Result<Self, FingerprintError> {
        Self::of_json_with(value, &Members::All)
    }

    /// [`Fingerprint::of_json`] of some of the members (F4).
    ///
    /// # Errors
    ///
    /// Those of [`Fingerprint::of_json`], for the whole value: also where `members` does not look.
    pub fn of_json_with(value: &serde_json::Value, members: &Members) -> Result<Self, FingerprintError> {
        Ok(Self::of_canonical(&members.canonical(Json::of_value(value)?)))
    }

    /// The fingerprint of JSON text in UTF-8: SHA-256 over its RFC 8785 form (F1).
    ///
    /// A number written as an integer, without fraction and exponent, has to be exactly a double. So the RFC 8785 form of
    /// one beyond 2^53 may be refused itself: it has fewer digits than the integer that it stands for.
    ///
    /// # Errors
    ///
    /// On whatever two parsers might read in two ways: numbers that are no finite doubles, integers that a double cannot
    /// hold, lone surrogates, duplicate member names; on more than [`JSON_DEPTH_MAX`] levels; on what is not JSON.
    pub fn of_json_text(text: impl AsRef<[u8]>) -> Result<Self, FingerprintError> {
        Self::of_json_text_with(text, &Members::All)
    }

    /// [`Fingerprint::of_json_text`] of some of the members (F4).
    ///
    /// # Errors
    ///
    /// Those of [`Fingerprint::of_json_text`], for the whole text: also where `members` does not look.
    pub fn of_json_text_with(text: impl AsRef<[u8]>, members: &Members) -> Result<Self, FingerprintError> {
        Ok(Self::of_canonical(&members.canonical(parser::parse(text.as_ref())?)))
    }

    fn of_canonical(bytes: &[u8]) -> Self {
        Self::of_hash(Sha256::digest(bytes).into())
    }

    /// The fingerprint of an HTTP request (F3). Never an error: a body that F1 refuses counts byte for byte.
    ///
    /// `members` (F4) looks into JSON bodies; other bodies count whole.
    pub fn of_http(request: &HttpRequest<'_>, members: &Members) -> Self {
        Self::of_hash(request.sha256(members))
    }

    /// The fingerprint of this version whose [`hex`](Self::hex) is `digits`: made elsewhere, and handed over as text. None for anything
    /// but 64 lower-case hexadecimal digits.
    pub fn of_hex(digits: &str) -> Option<Self> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
        let bytes: Option<Vec<u8>> = pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect();
        let sha256 = bytes?.try_into().ok()?;
        rest.is_empty().then_some(Self::of_hash(sha256))
    }

    /// What this fingerprint and `other` say about their requests (F7): the same from both sides.
    pub fn compare(&self, other: &Self) -> Comparison {
        match (self, other) {
            (Self::Unchecked, Self::Unchecked) => Comparison::Equal,
            (Self::Unchecked, Self::Value { .. }) | (Self::Value { .. }, Self::Unchecked) => Comparison::Unknown,
            (Self::Value { version, sha256 }, Self::Value { version: other_version, sha256: other_sha256 }) => {
                if version != other_version {
                    Comparison::Unknown
                } else if sha256 == other_sha256 {
                    Comparison::Equal
                } else {
                    Comparison::Different
                }
            }
        }
    }

    /// The hash in 64 lower-case hexadecimal digits, or none for [`Fingerprint::Unchecked`].
    pub fn hex(&self) -> Option<String> {
        match self {
            Self::Unchecked => None,
            Self::Value { sha256, .. } => Some(hex(sha256)),
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unchecked => f.write_str("unchecked"),
            Self::Value { version, sha256 } => write!(f, "v{version}:{}", hex(sha256)),
        }
    }
}

/// Two digits for each byte, in small letters.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests;
