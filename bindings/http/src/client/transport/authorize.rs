//! Credentials: asked for at each send, never stored (O14), and remembered only as a hash of what was refused (O8).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use keyledger::Scope;
use sha2::{Digest, Sha256};

use crate::client::Request;
use crate::message::Fields;

/// Why there are no credentials for a send.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoCredentials {
    /// Nobody is signed in: the lane is held until there are others, or until it is resumed.
    #[error("there are no credentials for this scope; sign in")]
    SignedOut,
    /// They cannot be had at the moment: the send is tried again.
    #[error("credentials cannot be had now: {0}")]
    NotNow(String),
}

/// Supplies credentials at each send. A function or closure of the same shape as [`authorize`](Authorize::authorize) is one.
pub trait Authorize: Send + Sync {
    /// The fields that let `scope` send `request`, such as Authorization. Nobody stores them. It is asked at each send, and while
    /// a lane is held every five seconds.
    ///
    /// # Errors
    /// [`NoCredentials`]: then nothing is sent.
    fn authorize(&self, scope: &Scope, request: &Request) -> Result<Fields, NoCredentials>;

    /// What tells these credentials from others, to know whether a scope has other ones than those that were refused. By default
    /// all of the fields; who signs each request with its time names here the key that it signs with.
    fn identity(&self, fields: &Fields) -> Vec<u8> {
        let lines = fields.iter().map(|(name, value)| [name.as_bytes(), b"\0", value, b"\0"].concat());
        lines.flatten().collect()
    }
}

impl<F> Authorize for F
where
    F: Fn(&Scope, &Request) -> Result<Fields, NoCredentials> + Send + Sync,
{
    fn authorize(&self, scope: &Scope, request: &Request) -> Result<Fields, NoCredentials> {
        self(scope, request)
    }
}

/// No credentials: for a server that asks nobody who they are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Anonymous;

impl Authorize for Anonymous {
    fn authorize(&self, _: &Scope, _: &Request) -> Result<Fields, NoCredentials> {
        Ok(Fields::new())
    }
}

/// A hash of credentials; none: there were none.
type Identity = Option<[u8; 32]>;

/// Which credentials were refused last, by scope. It lives in memory alone.
#[derive(Debug, Default)]
pub(super) struct Refused {
    by_scope: Mutex<HashMap<Scope, (Request, Identity)>>,
}

impl Refused {
    /// These credentials were refused for that request.
    pub(super) fn note(&self, scope: &Scope, request: &Request, identity: Identity) {
        self.lock().insert(scope.clone(), (request.clone(), identity));
    }

    /// The scope's credentials are taken.
    pub(super) fn forget(&self, scope: &Scope) {
        self.lock().remove(scope);
    }

    /// Whether `authorize` now gives others than were refused. It is yes if nothing is remembered, as in a new process: the first
    /// send will tell.
    pub(super) fn has_others(&self, scope: &Scope, authorize: &dyn Authorize) -> bool {
        let Some((request, refused)) = self.lock().get(scope).cloned() else { return true };
        match authorize.authorize(scope, &request) {
            Ok(fields) => Some(identity_of(authorize, &fields)) != refused,
            Err(NoCredentials::SignedOut | NoCredentials::NotNow(_)) => false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Scope, (Request, Identity)>> {
        self.by_scope.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A hash that tells credentials apart and from which they cannot be had back.
pub(super) fn identity_of(authorize: &dyn Authorize, fields: &Fields) -> [u8; 32] {
    Sha256::digest(authorize.identity(fields)).into()
}
