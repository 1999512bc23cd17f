//! The identity of a record, and its bytes.

use std::fmt;

use super::part::{Key, KeyError, OperationName, Scope};

/// (scope, operation name, key): the identity of a record. Keys of two scopes or two operations never meet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId {
    scope: Scope,
    operation: OperationName,
    key: Key,
}

/// Bytes that [`KeyId::to_bytes`] has not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyIdBytesError {
    /// They end inside a part.
    #[error("the bytes of a key id end too early: the record is damaged")]
    TooShort,
    /// They go on after the key.
    #[error("{0} bytes follow a key id: the record is damaged")]
    TooLong(usize),
    /// A part is not UTF-8.
    #[error("a part of a key id is not utf-8: the record is damaged")]
    NotUtf8,
    /// L1 refuses a part.
    #[error("a key id that cannot have been stored: {0}")]
    Refused(#[from] KeyError),
}

impl KeyId {
    /// The id of `key` in `scope`, for the operation of this name.
    ///
    /// # Errors
    ///
    /// When L1 refuses the operation's name; the other two have been checked.
    pub fn new(scope: Scope, operation: impl AsRef<str>, key: Key) -> Result<Self, KeyError> {
        Ok(Self::of_parts(scope, OperationName::new(operation)?, key))
    }

    /// Three parts, each of which has been checked, as an id.
    pub const fn of_parts(scope: Scope, operation: OperationName, key: Key) -> Self {
        Self { scope, operation, key }
    }

    /// Whose key it is.
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// What is being done.
    pub const fn operation(&self) -> &OperationName {
        &self.operation
    }

    /// The caller's name for it.
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// The key for a downstream call that is named `name`: equal on every attempt, in every language (E3, F6).
    pub fn derive_key(&self, name: &str) -> Key {
        let parts = [self.operation.as_str(), self.key.as_str(), name];
        Key::derive(self.scope.as_str(), &parts.map(str::as_bytes))
    }

    /// Scope, operation name, key; each behind one byte with its length (L2).
    ///
    /// Different ids have different bytes, none of which starts with another's. They sort by scope first, so the ids of
    /// one scope are neighbours; within it by operation name.
    pub fn to_bytes(&self) -> Vec<u8> {
        framed(&[self.scope.as_str(), self.operation.as_str(), self.key.as_str()])
    }

    /// The id whose bytes these are.
    ///
    /// # Errors
    ///
    /// When no id has these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, KeyIdBytesError> {
        let (id, length) = Self::take_from(bytes)?;
        if length != bytes.len() {
            return Err(KeyIdBytesError::TooLong(bytes.len() - length));
        }
        Ok(id)
    }

    /// The id at the beginning of `bytes`, and how many of them it takes.
    pub(crate) fn take_from(bytes: &[u8]) -> Result<(Self, usize), KeyIdBytesError> {
        let (scope, rest) = split_part(bytes)?;
        let (operation, rest) = split_part(rest)?;
        let (key, rest) = split_part(rest)?;
        let id = Self::new(Scope::new(scope)?, operation, Key::new(key)?)?;
        Ok((id, bytes.len() - rest.len()))
    }
}

impl fmt::Display for KeyId {
    /// For people: parts that hold ` / ` read alike. Not for telling ids apart.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} / {} / {}", self.scope, self.operation, self.key)
    }
}

fn framed(parts: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(parts.iter().map(|part| 1 + part.len()).sum());
    for part in parts {
        bytes.push(u8::try_from(part.len()).expect("L1 was checked: at most 255 bytes"));
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}

fn split_part(bytes: &[u8]) -> Result<(&str, &[u8]), KeyIdBytesError> {
    let (&length, rest) = bytes.split_first().ok_or(KeyIdBytesError::TooShort)?;
    let (part, rest) = rest.split_at_checked(length.into()).ok_or(KeyIdBytesError::TooShort)?;
    let text = std::str::from_utf8(part).map_err(|_| KeyIdBytesError::NotUtf8)?;
    Ok((text, rest))
}

#[cfg(test)]
mod tests;
