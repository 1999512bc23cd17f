//! What of a damaged file cannot be read.

use std::fmt;

use crate::engine;
use crate::entry::EntryId;
use crate::key::KeyId;

/// Something in a damaged file that was passed over. Its `Display` is a sentence for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable(engine::Unreadable);

impl Unreadable {
    pub(crate) fn of(found: engine::Unreadable) -> Self {
        Self(found)
    }

    /// Where it is: a row, or all between two of them.
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// Whose record it is, where what is left of it says so.
    pub fn key_id(&self) -> Option<&KeyId> {
        self.0.id.as_ref()
    }

    /// The entry that it is, or whose request it is.
    pub fn entry(&self) -> Option<EntryId> {
        self.0.entry.map(EntryId::new)
    }

    /// Why it cannot be read.
    pub fn why(&self) -> &str {
        &self.0.why
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.sentence())
    }
}
