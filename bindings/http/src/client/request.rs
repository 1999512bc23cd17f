//! A request that is stored before it is sent, and its one key field (C1, O14).

use iri_string::types::UriStr;
use keyledger::{Enqueue, Key, Scope};

use super::redirect::origin;
use crate::filter::starts_with;
use crate::key::{KEY_FIELD, may_stand_bare};
use crate::message::{Fields, MEDIA_TYPE, head_lines, is_token, is_value};

/// How the other side wants its keys: many want them bare, or under another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyField {
    name: String,
    is_quoted: bool,
}

impl Default for KeyField {
    /// `Idempotency-Key`, quoted.
    fn default() -> Self {
        Self { name: KEY_FIELD.to_owned(), is_quoted: true }
    }
}

impl KeyField {
    /// Under another name.
    ///
    /// # Errors
    /// [`RequestError::FieldName`] for what is no name of a field; [`RequestError::Connection`] for one of the connection's own.
    pub fn named(mut self, name: impl Into<String>) -> Result<Self, RequestError> {
        self.name = name.into();
        check_name(&self.name)?;
        Ok(self)
    }

    /// Without quotes.
    pub fn bare(mut self) -> Self {
        self.is_quoted = false;
        self
    }

    /// The field's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value to send: exactly one line holds it (C1).
    ///
    /// # Errors
    /// For a key that cannot be said so: [`RequestError::Key`] if quoted it is not of printable ASCII characters,
    /// [`RequestError::BareKey`] if bare it is not of those that [`key_of_lines`](crate::key_of_lines) takes.
    pub fn value(&self, key: &Key) -> Result<String, RequestError> {
        let text = key.as_str();
        if self.is_quoted {
            let text = sfv::String::from_string(text.to_owned()).map_err(|_| RequestError::Key)?;
            let serialized = sfv::ItemSerializer::new().bare_item(&*text);
            Ok(serialized.finish())
        } else if text.bytes().all(may_stand_bare) {
            Ok(text.to_owned())
        } else {
            Err(RequestError::BareKey)
        }
    }
}

/// Why a request is refused before it is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The caller has written the key's field itself.
    #[error("the field {0} is the outbox's own; leave it out, and give the key as a key")]
    OwnKey(String),
    /// A field that carries credentials, which are not stored (O14).
    #[error(
        "the field {0} carries credentials, which are not stored; give it at each send, by the transport's `authorize`"
    )]
    Credentials(String),
    /// What is no name of a field.
    #[error("{0:?} is no name of a field; use letters, digits and hyphens")]
    FieldName(String),
    /// A field whose value cannot be sent, or would not come back as it was.
    #[error(
        "the value of the field {0} has a line's end, another control character or white space around it; take that out"
    )]
    FieldValue(String),
    /// A field that belongs to the connection.
    #[error("the field {0} belongs to the connection, and whoever sends the request writes it; leave it out")]
    Connection(String),
    /// A method that is no token.
    #[error("{0:?} is no method; use POST or another token")]
    Method(String),
    /// An address that is no absolute http or https URL.
    #[error(
        "the address is no absolute http or https URL; give it with scheme and host, what is not ASCII percent-encoded"
    )]
    Url,
    /// An address with a user's name or password, which are credentials too (O14).
    #[error(
        "the address has user information before its host; take it out, and give credentials at each send, by the transport's `authorize`"
    )]
    UserInformation,
    /// A key that cannot stand in the field, quoted.
    #[error("the key cannot stand in the field; use printable ASCII characters")]
    Key,
    /// A key that cannot stand in the field without quotes.
    #[error(
        "the key cannot stand in the field without quotes; use letters, digits and -._~:/+=@ alone, or send it quoted"
    )]
    BareKey,
    /// Bytes that are no stored request.
    #[error("these bytes are no stored request; they are damaged or another program's")]
    NotARequest,
}

/// A request as the outbox stores it: without its key and without credentials, which are added at each send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: String,
    /// The absolute URL.
    pub url: String,
    /// The field lines, without Content-Length and Host: whoever sends it knows them.
    pub fields: Fields,
    /// The body.
    pub body: Vec<u8>,
}

const CREDENTIALS: [&str; 3] = ["Authorization", "Cookie", "Proxy-Authorization"];
const CONNECTION: [&str; 9] =
    ["Connection", "Content-Length", "Host", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Expect"];

impl Request {
    /// A request without fields and body.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self { method: method.into(), url: url.into(), fields: Vec::new(), body: Vec::new() }
    }

    /// A POST without fields and body.
    pub fn post(url: impl Into<String>) -> Self {
        Self::new("POST", url)
    }

    /// With one field line more.
    pub fn with_field(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.fields.push((name.to_owned(), value.into()));
        self
    }

    /// With a body, and its Content-Type.
    pub fn with_body(self, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self.with_field("Content-Type", media_type) }
    }

    /// Checked and ready for [`Outbox::enqueue`](keyledger::Outbox::enqueue); purpose, lane and key are added to what this returns.
    /// The arguments are those of [`check`](Request::check).
    ///
    /// # Errors
    /// As [`check`](Request::check): nothing is stored of what is refused.
    pub fn to_enqueue(
        &self,
        scope: &Scope,
        operation: impl Into<String>,
        key_field: &KeyField,
        secret: &[&str],
    ) -> Result<Enqueue, RequestError> {
        Ok(Enqueue::new(scope, operation, MEDIA_TYPE, self.to_bytes(key_field, secret)?))
    }

    /// Whether it may be stored, to be sent with its key in `key_field`. `secret` names more fields that carry credentials.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn check(&self, key_field: &KeyField, secret: &[&str]) -> Result<(), RequestError> {
        if !is_token(self.method.as_bytes()) {
            return Err(RequestError::Method(self.method.clone()));
        }
        check_url(&self.url)?;
        self.fields.iter().try_for_each(|(name, value)| check_field(name, value, key_field, secret))
    }

    /// The fields to send: those of the request, and the one key field.
    ///
    /// # Errors
    /// As [`check`](Request::check), whoever has stored it; as [`KeyField::value`].
    pub fn fields_with(&self, key_field: &KeyField, key: &Key) -> Result<Fields, RequestError> {
        self.check(key_field, &[])?;
        let line = (key_field.name.clone(), key_field.value(key)?.into_bytes());
        Ok(self.fields.iter().cloned().chain([line]).collect())
    }

    /// As `application/http`, for the outbox: checked, it comes back from [`of_bytes`](Request::of_bytes) as it was. The arguments
    /// are those of [`check`](Request::check).
    ///
    /// # Errors
    /// As [`check`](Request::check).
    pub fn to_bytes(&self, key_field: &KeyField, secret: &[&str]) -> Result<Vec<u8>, RequestError> {
        self.check(key_field, secret)?;
        let mut bytes = format!("{} {} HTTP/1.1\r\n", self.method, self.url).into_bytes();
        for (name, value) in &self.fields {
            bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        Ok(bytes)
    }

    /// What [`to_bytes`](Request::to_bytes) has made.
    ///
    /// # Errors
    /// [`RequestError::NotARequest`].
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, RequestError> {
        let mut fields = vec![httparse::EMPTY_HEADER; head_lines(bytes)];
        let mut message = httparse::Request::new(&mut fields);
        let Ok(httparse::Status::Complete(length)) = message.parse(bytes) else {
            return Err(RequestError::NotARequest);
        };
        let (Some(method), Some(url)) = (message.method, message.path) else { return Err(RequestError::NotARequest) };
        let fields = message.headers.iter().map(|line| (line.name.to_owned(), line.value.to_vec()));
        Ok(Self {
            method: method.to_owned(),
            url: url.to_owned(),
            fields: fields.collect(),
            body: bytes[length..].to_vec(),
        })
    }
}

fn check_field(name: &str, value: &[u8], key_field: &KeyField, secret: &[&str]) -> Result<(), RequestError> {
    let is = |other: &&str| name.eq_ignore_ascii_case(other);
    if [KEY_FIELD, &key_field.name].iter().any(is) {
        return Err(RequestError::OwnKey(name.to_owned()));
    }
    if CREDENTIALS.iter().any(is) || secret.iter().any(is) {
        return Err(RequestError::Credentials(name.to_owned()));
    }
    check_name(name)?;
    let is_kept = is_value(value) && value.trim_ascii() == value;
    if is_kept { Ok(()) } else { Err(RequestError::FieldValue(name.to_owned())) }
}

/// A name that a request, or its key, may go by.
fn check_name(name: &str) -> Result<(), RequestError> {
    let is_connection = CONNECTION.iter().any(|other| name.eq_ignore_ascii_case(other)) || starts_with(name, "Proxy-");
    match is_token(name.as_bytes()) {
        false => Err(RequestError::FieldName(name.to_owned())),
        true if is_connection => Err(RequestError::Connection(name.to_owned())),
        true => Ok(()),
    }
}

fn check_url(url: &str) -> Result<(), RequestError> {
    match (origin(url), UriStr::new(url).ok().and_then(UriStr::authority_components)) {
        (Some(_), _) => Ok(()),
        (None, Some(authority)) if authority.userinfo().is_some() => Err(RequestError::UserInformation),
        (None, _) => Err(RequestError::Url),
    }
}

#[cfg(test)]
mod tests;
