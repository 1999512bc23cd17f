//! The door: who asks, under which key, for what. Nothing is stored for whoever is turned away here.

use axum::http::{HeaderMap, StatusCode, header};
use keyledger::{Fingerprint, Key, Scope};
use keyledger_examples::payments::records::Origin;
use serde::de::DeserializeOwned;

use crate::answer::Answer;

/// Who may come in: a credential, and whose it is.
const CREDENTIALS: [(&str, &str); 4] =
    [("ada-credential", "ada"), ("ben-credential", "ben"), ("cleo-credential", "cleo"), ("dan-credential", "dan")];

/// A request that has come through the door.
pub(crate) struct Visit<T> {
    pub(crate) scope: Scope,
    pub(crate) key: Key,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) order: T,
}

impl<T: DeserializeOwned> Visit<T> {
    pub(crate) fn read(headers: &HeaderMap, body: &[u8]) -> Result<Self, Answer> {
        Ok(Self {
            scope: principal(headers).ok_or_else(|| Answer::turned_away(StatusCode::UNAUTHORIZED, "who are you?"))?,
            key: key(headers).ok_or_else(|| bad("a key is needed, quoted, in the field Idempotency-Key"))?,
            fingerprint: Fingerprint::of_json_text(body).map_err(|_| bad("the body is no JSON"))?,
            order: serde_json::from_slice(body).map_err(|_| bad("the body lacks something"))?,
        })
    }

    pub(crate) fn origin(&self) -> Origin {
        Origin { scope: self.scope.as_str().to_owned(), key: self.key.as_str().to_owned() }
    }
}

/// The scope is the user that the credential belongs to: another user's equal key is another key.
fn principal(headers: &HeaderMap) -> Option<Scope> {
    let credential = headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")?;
    let (_, user) = CREDENTIALS.iter().find(|(known, _)| *known == credential)?;
    Scope::new(*user).ok()
}

fn key(headers: &HeaderMap) -> Option<Key> {
    let quoted = headers.get("Idempotency-Key")?.to_str().ok()?;
    Key::new(quoted.strip_prefix('"')?.strip_suffix('"')?).ok()
}

fn bad(why: &str) -> Answer {
    Answer::turned_away(StatusCode::BAD_REQUEST, why)
}
