//! What people on call ask of a ledger, as values that can be written down: the command line and the admin socket speak them.
//!
//! A [`Request`] is answered with a [`Reply`], or with a [`Fault`]. As JSON they are objects whose members have the names of the
//! fields here; instants are milliseconds since 1970-01-01 UTC, and members that say nothing are left out. `docs/cli.md` shows them.
//! Every [`Builder::admin_socket`](crate::Builder::admin_socket) answers one request to a connection: a line of JSON for a line of JSON.

mod answering;
mod content;
mod entry;
mod record;
mod reply;
mod request;
mod stats;
mod unreadable;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::ledger::Ledger;

pub use content::{Answer, Audit, Content, hex, unhex};
pub use entry::{Entry, Held, Tried};
pub use record::{NamedContent, Parking, Record};
pub use reply::Reply;
pub use request::{EntryOutcome, EntryQuery, Id, Outcome, RecordQuery, Request};
pub use stats::{Bounded, Entries, LaneStats, Records, Stats, Swept};
pub use unreadable::Unreadable;

/// Why a request could not be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The stable code of contract section 11.
    pub code: String,
    /// What is so, and what to do about it.
    pub message: String,
}

/// A line that the admin socket answers with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The answer.
    Ok(Reply),
    /// Why there is none.
    Error(Fault),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self { code: error.code().as_str().to_owned(), message: error.to_string() }
    }
}

impl From<Result<Reply, Error>> for Line {
    fn from(answer: Result<Reply, Error>) -> Self {
        match answer {
            Ok(reply) => Line::Ok(reply),
            Err(error) => Line::Error(error.into()),
        }
    }
}

/// Where the admin socket of the ledger file at `path` is found: beside it, under its name with `.admin` behind it.
pub fn socket_beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".admin");
    PathBuf::from(name)
}

/// Answers a line with a line, neither with its end. `None`: the ledger is gone.
pub(crate) fn answer_line(ledger: Option<&Ledger>, line: &str) -> String {
    let request = serde_json::from_str(line);
    let answer = match (request, ledger) {
        (Ok(request), Some(ledger)) => ledger.administer(&request),
        (Ok(_), None) => Err(Error::Closed),
        (Err(error), _) => {
            Err(Error::InvalidArgument(format!("not a request: {error}; is the program of this version?")))
        }
    };
    // Maps with keys that are no strings are all that JSON cannot hold, and there are none.
    serde_json::to_string(&Line::from(answer)).unwrap_or_default()
}
