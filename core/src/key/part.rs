//! The parts of a key id, each checked once, when it is made (L1).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The longest scope, operation name or key, in bytes of UTF-8 (L1).
pub const PART_BYTES_MAX: usize = 255;

/// Which part of a key id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Whose key it is.
    Scope,
    /// What is being done.
    Operation,
    /// The caller's name for one thing it wants done.
    Key,
    /// A table of the caller's own rows.
    Table,
    /// An ordering key among the outbox's entries.
    Lane,
    /// The caller's name for what the user wants.
    Purpose,
}

impl Part {
    /// The part's name in a message: `scope`, `operation name`, `key`, `table name`, `lane name` or `purpose`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scope => "scope",
            Self::Operation => "operation name",
            Self::Key => "key",
            Self::Table => "table name",
            Self::Lane => "lane name",
            Self::Purpose => "purpose",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What L1 has against a part. Says where, never what: a key may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyErrorReason {
    /// No byte at all. An empty key is not "no key".
    #[error("is empty: give it 1 to {PART_BYTES_MAX} bytes of UTF-8")]
    Empty,
    /// More than [`PART_BYTES_MAX`] bytes.
    #[error("is {bytes} bytes long: shorten it to {PART_BYTES_MAX} bytes of UTF-8, or use a hash of it")]
    TooLong {
        /// Its length in bytes.
        bytes: usize,
    },
    /// A character in U+0000 to U+001F, or U+007F.
    #[error("holds the control character U+{character:04X} at byte {at}: remove or encode it")]
    ControlCharacter {
        /// The first such character.
        character: u8,
        /// Where it is, counted in bytes from 0.
        at: usize,
    },
    /// Bytes that are no UTF-8, or half of a surrogate pair in a language whose text may hold one.
    #[error("is no text that UTF-8 can hold: encode it, or use a hash of it")]
    NotUtf8,
}

/// A part of a key id that L1 refuses. Nothing was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part} {reason}")]
pub struct KeyError {
    /// The part that is refused.
    pub part: Part,
    /// Why, and what to do about it.
    pub reason: KeyErrorReason,
}

/// Checks a part's text by L1.
pub(crate) fn check(part: Part, text: &str) -> Result<(), KeyError> {
    let bytes = text.as_bytes();
    if bytes.is_empty() {
        return Err(KeyError { part, reason: KeyErrorReason::Empty });
    }
    if bytes.len() > PART_BYTES_MAX {
        return Err(KeyError { part, reason: KeyErrorReason::TooLong { bytes: bytes.len() } });
    }
    match bytes.iter().position(u8::is_ascii_control) {
        None => Ok(()),
        Some(at) => Err(KeyError { part, reason: KeyErrorReason::ControlCharacter { character: bytes[at], at } }),
    }
}

/// Text that is cloned without copying it, and made from a literal without allocating.
#[derive(Clone)]
enum Text {
    Literal(&'static str),
    Shared(Arc<str>),
}

impl Text {
    fn as_str(&self) -> &str {
        match self {
            Self::Literal(text) => text,
            Self::Shared(text) => text,
        }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

macro_rules! part {
    ($(#[$doc:meta])* $vis:vis $name:ident, $part:ident) => {
        $(#[$doc])*
        ///
        /// Immutable, cheap to clone, compared byte for byte.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name(Text);

        impl $name {
            /// Copies `text` once L1 accepts it: as it is, without trimming, case folding or normalisation.
            ///
            /// # Errors
            ///
            /// When it is empty, longer than [`PART_BYTES_MAX`] bytes, or holds a control character.
            $vis fn new(text: impl AsRef<str>) -> Result<Self, KeyError> {
                let text = text.as_ref();
                check(Part::$part, text)?;
                Ok(Self(Text::Shared(Arc::from(text))))
            }

            /// The text as it was given.
            $vis fn as_str(&self) -> &str {
                self.0.as_str()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.as_str()).finish()
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }
    };
}

part! {
    /// Whose key it is: a stable, verified identity of the principal (tenant, user, device), never a credential that
    /// rotates.
    pub Scope, Scope
}

part! {
    /// What is being done: `charge`, `POST /v1/charges`.
    pub OperationName, Operation
}

part! {
    /// The caller's name for one thing it wants done: the same on every try of it.
    pub Key, Key
}

part! {
    /// An ordering key among the outbox's entries.
    pub(crate) LaneName, Lane
}

part! {
    /// The caller's name for what the user wants: `pay cart 42`.
    pub(crate) Purpose, Purpose
}

impl LaneName {
    /// The lane of entries that name none: `default`, which is unordered.
    pub(crate) const DEFAULT: LaneName = Self(Text::Literal("default"));
}

/// The text of a part, from a language whose text may hold what UTF-8 cannot.
fn utf8(part: Part, bytes: &[u8]) -> Result<&str, KeyError> {
    std::str::from_utf8(bytes).map_err(|_| KeyError { part, reason: KeyErrorReason::NotUtf8 })
}

impl Scope {
    /// [`Scope::new`] of bytes, for languages whose text may hold what UTF-8 cannot.
    ///
    /// # Errors
    ///
    /// Those of [`Scope::new`], and [`KeyErrorReason::NotUtf8`].
    pub fn from_utf8(bytes: &[u8]) -> Result<Self, KeyError> {
        Self::new(utf8(Part::Scope, bytes)?)
    }

    /// The scope of a program that has one principal and says so on purpose (L3): the text `(single)`.
    pub const fn single() -> Self {
        Self(Text::Literal("(single)"))
    }
}

impl Key {
    /// [`Key::new`] of bytes, for languages whose text may hold what UTF-8 cannot.
    ///
    /// # Errors
    ///
    /// Those of [`Key::new`], and [`KeyErrorReason::NotUtf8`].
    pub fn from_utf8(bytes: &[u8]) -> Result<Self, KeyError> {
        Self::new(utf8(Part::Key, bytes)?)
    }

    /// A key of text that is known to keep L1.
    pub(super) fn of_checked(text: &str) -> Self {
        debug_assert!(check(Part::Key, text).is_ok());
        Self(Text::Shared(Arc::from(text)))
    }
}

impl OperationName {
    /// [`OperationName::new`] of bytes, for languages whose text may hold what UTF-8 cannot.
    ///
    /// # Errors
    ///
    /// Those of [`OperationName::new`], and [`KeyErrorReason::NotUtf8`].
    pub fn from_utf8(bytes: &[u8]) -> Result<Self, KeyError> {
        Self::new(utf8(Part::Operation, bytes)?)
    }

    /// [`OperationName::new`] that does not copy a literal: for operations that are declared once, in a `static`.
    ///
    /// # Errors
    ///
    /// Those of [`OperationName::new`].
    pub fn declared(name: impl Into<Cow<'static, str>>) -> Result<Self, KeyError> {
        match name.into() {
            Cow::Borrowed(name) => check(Part::Operation, name).map(|()| Self(Text::Literal(name))),
            Cow::Owned(name) => Self::new(name),
        }
    }
}

#[cfg(test)]
mod tests;
