//! A request that is stored before it is sent, and its one key field (C1, O14).

use keyledger::{Enqueue, Key, Scope};

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
    /// [`RequestError::Field`] for what is no name of a field.
    pub fn named(mut self, name: impl Into<String>) -> Result<Self, RequestError> {
        self.name = name.into();
        if is_token(self.name.as_bytes()) { Ok(self) } else { Err(RequestError::Field(self.name)) }
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
    /// [`RequestError::Key`] for a key that cannot be said so: quoted it has printable ASCII characters, bare those that
    /// [`key_of_lines`](crate::key_of_lines) takes.
    pub fn value(&self, key: &Key) -> Result<String, RequestError> {
        let text = key.as_str();
        if self.is_quoted {
            let text = sfv::String::from_string(text.to_owned()).map_err(|_| RequestError::Key)?;
            let serialized = sfv::ItemSerializer::new().bare_item(&*text);
            Ok(serialized.finish())
        } else if text.bytes().all(may_stand_bare) {
            Ok(text.to_owned())
        } else {
            Err(RequestError::Key)
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
    #[error("the field {0} carries credentials; supply it at each send, through authorize")]
    Credentials(String),
    /// A field that belongs to the connection, or that cannot be sent.
    #[error("the field {0} cannot be sent with a stored request; leave it out")]
    Field(String),
    /// A method that is no token.
    #[error("the method {0} is none; use POST or another token")]
    Method(String),
    /// An address that is no absolute http or https URL.
    #[error("the address is no absolute http or https URL; give it with scheme and host")]
    Url,
    /// A key that cannot stand in the field.
    #[error("the key cannot stand in the field; use printable ASCII characters")]
    Key,
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
        self.check(key_field, secret)?;
        Ok(Enqueue::new(scope, operation, MEDIA_TYPE, self.to_bytes()))
    }

    /// Whether it may be stored, to be sent with its key in `key_field`. `secret` names more fields that carry credentials.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn check(&self, key_field: &KeyField, secret: &[&str]) -> Result<(), RequestError> {
        if !is_token(self.method.as_bytes()) {
            return Err(RequestError::Method(self.method.clone()));
        }
        super::redirect::origin(&self.url).ok_or(RequestError::Url)?;
        self.fields.iter().try_for_each(|(name, value)| check_field(name, value, key_field, secret))
    }

    /// The fields to send: those of the request, and the one key field.
    ///
    /// # Errors
    /// As [`KeyField::value`].
    pub fn fields_with(&self, key_field: &KeyField, key: &Key) -> Result<Fields, RequestError> {
        let line = (key_field.name.clone(), key_field.value(key)?.into_bytes());
        Ok(self.fields.iter().cloned().chain([line]).collect())
    }

    /// As `application/http`, for the outbox. A request that [`check`](Request::check) accepts comes back from
    /// [`of_bytes`](Request::of_bytes) as it was.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{} {} HTTP/1.1\r\n", self.method, self.url).into_bytes();
        for (name, value) in &self.fields {
            bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
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
    let can_stand = is_token(name.as_bytes()) && is_value(value) && value.trim_ascii() == value;
    let is_connection = CONNECTION.iter().any(is) || starts_with(name, "Proxy-");
    if can_stand && !is_connection { Ok(()) } else { Err(RequestError::Field(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::{KeyField, Request, RequestError};
    use crate::key_of_lines;
    use keyledger::Key;

    fn request(fields: &[(&str, &str)]) -> Request {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect();
        Request { method: "POST".into(), url: "https://pay.example/v1/x?a=1".into(), fields, body: b"\x00\r\n1".into() }
    }

    #[test]
    fn c1_exactly_one_key_field_quoted_or_as_the_settings_say() {
        let key = Key::new(r#"a"b\c"#).unwrap();
        assert_eq!(KeyField::default().value(&key).unwrap(), r#""a\"b\\c""#);
        let sent = request(&[("A", "b")]).fields_with(&KeyField::default(), &key).unwrap();
        assert_eq!(sent.len(), 2);
        assert_eq!(key_of_lines([sent[1].1.as_slice()]), Ok(Some(key.clone())));
        let bare = KeyField::default().named("X-Request-Key").unwrap().bare();
        assert_eq!(bare.value(&key), Err(RequestError::Key));
        let sent = request(&[]).fields_with(&bare, &Key::new("k-1").unwrap()).unwrap();
        assert_eq!(sent, [("X-Request-Key".to_owned(), b"k-1".to_vec())]);
        assert_eq!(KeyField::default().value(&Key::new("\u{e9}").unwrap()), Err(RequestError::Key));
        assert!(KeyField::default().named("a b").is_err());
    }

    #[test]
    fn c1_the_callers_own_key_field_is_refused_in_any_letter_case() {
        let other = KeyField::default().named("X-Key").unwrap();
        for (name, field) in
            [("idempotency-KEY", KeyField::default()), ("x-key", other.clone()), ("Idempotency-Key", other)]
        {
            let refused = request(&[(name, "k")]).check(&field, &[]);
            assert_eq!(refused, Err(RequestError::OwnKey(name.to_owned())));
        }
    }

    #[test]
    fn o14_credentials_and_what_cannot_be_sent_are_refused() {
        let check = |name, value| request(&[(name, value)]).check(&KeyField::default(), &["X-Api-Token"]);
        for name in ["authorization", "COOKIE", "Proxy-Authorization", "x-api-token"] {
            assert_eq!(check(name, "s"), Err(RequestError::Credentials(name.to_owned())));
        }
        for (name, value) in [
            ("a b", "x"),
            ("", "x"),
            ("A", "x\r\nB: y"),
            ("A", " x"),
            ("host", "x"),
            ("content-length", "3"),
            ("proxy-connection", "x"),
        ] {
            assert_eq!(check(name, value), Err(RequestError::Field(name.to_owned())));
        }
        assert_eq!(check("Content-Type", "text/plain"), Ok(()));
        let mut wrong = request(&[]);
        wrong.url = "/v1/x".to_owned();
        assert_eq!(wrong.check(&KeyField::default(), &[]), Err(RequestError::Url));
        wrong.method = "PO ST".to_owned();
        assert!(matches!(wrong.check(&KeyField::default(), &[]), Err(RequestError::Method(_))));
    }

    #[test]
    fn o2_what_is_stored_is_what_is_sent() {
        let request = request(&[("Content-Type", "a/b"), ("X", "1"), ("X", "2")]);
        assert_eq!(Request::of_bytes(&request.to_bytes()), Ok(request));
        assert_eq!(Request::of_bytes(b"GET"), Err(RequestError::NotARequest));
    }
}
