//! Why JSON has no fingerprint.

use std::fmt;

/// How many arrays and objects may be inside each other. The walk is recursive: this keeps hostile input off the stack.
pub const JSON_DEPTH_MAX: usize = 128;

/// JSON that F1 refuses: it could be read in two ways, or is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at {at}: {}", reason.advice())]
pub struct FingerprintError {
    /// What is wrong.
    pub reason: FingerprintErrorReason,
    /// Where.
    pub at: Place,
}

/// A place in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a text: this many bytes after its start.
    Byte(usize),
    /// In a value: this JSON pointer (RFC 6901).
    Pointer(String),
}

/// What F1 has against a piece of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FingerprintErrorReason {
    /// The text is not UTF-8.
    #[error("a byte that is not utf-8")]
    NotUtf8,
    /// The text is not JSON (RFC 8259).
    #[error("something else than {expected}")]
    Syntax {
        /// What may stand there.
        expected: &'static str,
    },
    /// Half of a surrogate pair, such as `\ud800`, which is no character.
    #[error("a lone surrogate")]
    LoneSurrogate,
    /// A member name that the same object had before.
    #[error("a duplicate member name")]
    DuplicateMember,
    /// A number beyond the doubles, such as `1e400`, or none, such as `NaN`.
    #[error("a number that is no finite double")]
    NotFinite,
    /// An integer, that is a number without fraction and exponent, between two doubles, such as `9007199254740993`.
    #[error("an integer that a double cannot hold exactly")]
    InexactInteger,
    /// More than [`JSON_DEPTH_MAX`] arrays and objects inside each other.
    #[error("more than {JSON_DEPTH_MAX} nested arrays and objects")]
    TooDeep,
}

impl FingerprintErrorReason {
    const fn advice(self) -> &'static str {
        match self {
            Self::NotUtf8 => "encode the text as utf-8",
            Self::Syntax { .. } => "send json as RFC 8259 has it, or use the fingerprint of the bytes",
            Self::LoneSurrogate => "escape a character above U+FFFF as two surrogates",
            Self::DuplicateMember => "name each member of an object once",
            Self::NotFinite | Self::InexactInteger => "send it as a string",
            Self::TooDeep => "flatten it, or use the fingerprint of the bytes",
        }
    }

    /// This, in a text.
    pub(super) const fn at_byte(self, at: usize) -> FingerprintError {
        FingerprintError { reason: self, at: Place::Byte(at) }
    }

    /// This, at the value that is being looked at; whoever holds that value adds its own step.
    pub(super) const fn here(self) -> FingerprintError {
        FingerprintError { reason: self, at: Place::Pointer(String::new()) }
    }
}

impl FingerprintError {
    /// The same error seen from one level further out, where the way to it starts with `step`.
    pub(super) fn inside(self, step: &str) -> Self {
        let at = match self.at {
            Place::Byte(at) => Place::Byte(at),
            Place::Pointer(rest) => Place::Pointer(format!("/{}{rest}", step.replace('~', "~0").replace('/', "~1"))),
        };
        Self { at, ..self }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte(at) => write!(f, "byte {at}"),
            // Debug quotes it and escapes line breaks, so that the message stays on one line.
            Self::Pointer(pointer) => write!(f, "{pointer:?}"),
        }
    }
}
