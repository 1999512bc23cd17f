//! What of a damaged file cannot be read, as it stands in JSON.

use serde::{Deserialize, Serialize};

use super::request::Id;
use crate::entry::EntryId;
use crate::error::{Error, ErrorCode};
use crate::key::KeyId;
use crate::unreadable;

/// Something that was passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    /// Where it is: a row, or all between two of them.
    pub place: String,
    /// Whose record it is, where what is left of it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// The entry that it is, or whose request it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<u64>,
    /// Why it cannot be read.
    pub why: String,
    /// All of that, for a person.
    pub message: String,
}

impl From<unreadable::Unreadable> for Unreadable {
    fn from(found: unreadable::Unreadable) -> Self {
        let id = |id: &KeyId| Id {
            scope: id.scope().as_str().to_owned(),
            operation: id.operation().as_str().to_owned(),
            key: id.key().as_str().to_owned(),
        };
        Self {
            place: found.place().to_owned(),
            id: found.key_id().map(id),
            entry: found.entry().map(EntryId::get),
            why: found.why().to_owned(),
            message: found.to_string(),
        }
    }
}

impl Unreadable {
    /// The request of an entry that itself can be read; any other error is given back.
    pub(super) fn request_of(entry: EntryId, error: Error) -> Result<Self, Error> {
        if error.code() != ErrorCode::Corrupt {
            return Err(error);
        }
        let (entry, why) = (entry.get(), error.to_string());
        let (place, message) = (
            format!("the outbox: the request of entry {entry}"),
            format!("the request of entry {entry} cannot be read"),
        );
        Ok(Self { place, id: None, entry: Some(entry), why, message })
    }
}
