//! The door: who asks. Whoever is turned away here has reached no ledger and no handler.

use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use keyledger::Scope;
use keyledger_examples::payments::records::Origin;
use keyledger_http::{KEY_FIELD, key_of_lines};

/// Who may come in: a credential, and whose it is.
const CREDENTIALS: [(&str, &str); 4] =
    [("ada-credential", "ada"), ("ben-credential", "ben"), ("cleo-credential", "cleo"), ("dan-credential", "dan")];

/// The user that a credential belongs to.
#[derive(Clone, Copy)]
pub(crate) struct User(&'static str);

/// Checks the credential, and puts the user into the request. It stands before the layer that keeps keys.
pub(crate) async fn authenticate(mut request: Request, next: Next) -> Response {
    let Some(user) = user(request.headers()) else { return StatusCode::UNAUTHORIZED.into_response() };
    request.extensions_mut().insert(user);
    next.run(request).await
}

fn user(headers: &HeaderMap) -> Option<User> {
    let credential = headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")?;
    CREDENTIALS.iter().find(|(known, _)| *known == credential).map(|(_, user)| User(user))
}

/// The scope is the user: another user's equal key is another key.
pub(crate) fn scope(request: &Parts) -> Option<Scope> {
    let User(user) = request.extensions.get()?;
    Scope::new(user).ok()
}

/// Whose request it is, and under which key.
pub(crate) fn origin(User(user): User, headers: &HeaderMap) -> Option<Origin> {
    let lines = headers.get_all(KEY_FIELD).iter().map(HeaderValue::as_bytes);
    let key = key_of_lines(lines).ok().flatten()?;
    Some(Origin { scope: user.to_owned(), key: key.as_str().to_owned() })
}
