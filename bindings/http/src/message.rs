//! An HTTP response as a value, and as the `application/http` bytes that every language can replay (H11).
//!
//! Stored are a status line without a reason, field lines, an empty line, the body; lines end with CRLF. A body that was not
//! kept is told by one more field, [`OMITTED_FIELD`], whose value is an RFC 8941 Dictionary: `?1` alone, or `length` in bytes
//! and `sha256` as bytes where they are known.

use keyledger::options::RESPONSE_BYTES_MAX;
use keyledger::{Body, EntryView, Outcome, Response};
use sha2::{Digest, Sha256};

use crate::filter::kept;

/// The media type of a stored response.
pub const MEDIA_TYPE: &str = "application/http";
/// The field of a stored response whose body was not kept. It is never sent.
pub const OMITTED_FIELD: &str = "Keyledger-Body-Omitted";
/// A head that is longer is stored as its status line alone.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;

/// The lines of a message's head, in order: names as they were written, values as they came.
pub type Fields = Vec<(String, Vec<u8>)>;

/// A response, as a handler gave it or as it is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The field lines, without Content-Length: whoever sends it knows the length.
    pub fields: Fields,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// An answer without fields and body.
    pub fn of_status(status: u16) -> Self {
        Self { status, fields: Vec::new(), body: Vec::new() }
    }

    /// With one field line more.
    pub fn with_field(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.fields.push((name.to_owned(), value.into()));
        self
    }

    /// With a body.
    pub fn with_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The first line of that name, if there is one.
    pub fn field(&self, name: &str) -> Option<&[u8]> {
        let mut lines = self.fields.iter();
        lines.find(|(line, _)| line.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_slice())
    }

    /// The response to give to `complete` or `complete_with`, to be replayed with this status and these fields, save those that are
    /// never kept (H5). It is for a ledger with the default limit; one with another wants [`to_stored_within`](Answer::to_stored_within).
    pub fn to_stored(&self) -> Response {
        self.to_stored_within(RESPONSE_BYTES_MAX)
    }

    /// The same for a ledger that keeps at most `bytes_max` bytes of a response: in what is longer the body is omitted.
    pub fn to_stored_within(&self, bytes_max: usize) -> Response {
        self.kept().to_response_within(bytes_max)
    }

    /// What of it is kept (H5).
    pub fn kept(&self) -> Stored {
        Stored { status: self.status, fields: kept(&self.fields, &[]), body: StoredBody::Kept(self.body.clone()) }
    }
}

/// The values of the lines of one name, in order.
pub fn lines_of<'a, N: AsRef<str>, V: AsRef<[u8]>>(
    fields: &'a [(N, V)],
    name: &'a str,
) -> impl Iterator<Item = &'a [u8]> {
    fields.iter().filter(move |(line, _)| line.as_ref().eq_ignore_ascii_case(name)).map(|(_, value)| value.as_ref())
}

/// What is kept of a response's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredBody {
    /// All of it.
    Kept(Vec<u8>),
    /// Nothing, or what is known of it (S4).
    Omitted(Option<Digested>),
}

/// What is known of a body that was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digested {
    /// Length in bytes.
    pub length: u64,
    /// SHA-256.
    pub sha256: [u8; 32],
}

impl Digested {
    /// Of a body.
    pub fn of(body: &[u8]) -> Self {
        Self { length: body.len() as u64, sha256: Sha256::digest(body).into() }
    }
}

/// A response as the ledger keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The status code.
    pub status: u16,
    /// The field lines that are replayed.
    pub fields: Fields,
    /// The body, or that it was not kept.
    pub body: StoredBody,
}

impl Stored {
    /// The bytes for the ledger, as a response of type [`MEDIA_TYPE`]. A head over [`HEAD_BYTES_MAX`] loses its fields.
    pub fn to_response(&self) -> Response {
        let whole = self.head(&self.fields);
        let mut bytes = if whole.len() > HEAD_BYTES_MAX { self.head(&[]) } else { whole };
        if let StoredBody::Kept(body) = &self.body {
            bytes.extend_from_slice(body);
        }
        Response::new(MEDIA_TYPE, bytes)
    }

    /// The same in at most `bytes_max` bytes, if its status line alone fits: without its body where that is too long, without its
    /// fields where the head is.
    pub fn to_response_within(&self, bytes_max: usize) -> Response {
        let fits = |response: &Response| response.stored_bytes().is_none_or(|bytes| bytes.len() <= bytes_max);
        let whole = self.to_response();
        if fits(&whole) {
            return whole;
        }
        let body = match &self.body {
            StoredBody::Kept(body) => StoredBody::Omitted(Some(Digested::of(body))),
            omitted @ StoredBody::Omitted(_) => omitted.clone(),
        };
        let head = Self { body, ..self.clone() };
        let with_fields = head.to_response();
        if fits(&with_fields) { with_fields } else { Self { fields: Fields::new(), ..head }.to_response() }
    }

    fn head(&self, fields: &[(String, Vec<u8>)]) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {:03} \r\n", self.status).into_bytes();
        let omitted = match &self.body {
            StoredBody::Kept(_) => None,
            StoredBody::Omitted(known) => Some((OMITTED_FIELD.to_owned(), omitted_value(*known).into_bytes())),
        };
        let can_stand = |(name, value): &&(String, Vec<u8>)| is_token(name.as_bytes()) && is_value(value);
        for (name, value) in fields.iter().filter(can_stand).chain(&omitted) {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        head
    }

    /// Reads what the ledger keeps. Bytes of another type than [`MEDIA_TYPE`], which a handler or a person stored, are the body of
    /// a 200, or of a 400 for a final no; so are bytes that are no HTTP message.
    pub fn of_response(response: &Response, outcome: Outcome) -> Self {
        let read = (response.media_type() == MEDIA_TYPE).then_some(response.body());
        let message = match read {
            Some(Body::Stored(bytes)) => parse(bytes),
            Some(Body::Omitted { .. }) | None => None,
        };
        message.unwrap_or_else(|| Self::of_plain(response, outcome))
    }

    /// Reads the answer of an outbox's entry; `None`: it has none.
    pub fn of_entry(entry: &EntryView) -> Option<Self> {
        let outcome = if entry.is_yes() { Outcome::Completed } else { Outcome::Failed };
        entry.response().map(|response| Self::of_response(response, outcome))
    }

    fn of_plain(response: &Response, outcome: Outcome) -> Self {
        let status = match outcome {
            Outcome::Completed => 200,
            Outcome::Failed => 400,
        };
        let fields = match response.media_type() {
            "" => Vec::new(),
            media_type => vec![("Content-Type".to_owned(), media_type.as_bytes().to_vec())],
        };
        let body = match response.body() {
            Body::Stored(bytes) => StoredBody::Kept(bytes.clone()),
            Body::Omitted { length, sha256 } => {
                StoredBody::Omitted(Some(Digested { length: *length, sha256: *sha256 }))
            }
        };
        Self { status, fields, body }
    }
}

fn omitted_value(known: Option<Digested>) -> String {
    match known {
        None => "?1".to_owned(),
        Some(Digested { length, sha256 }) => format!("length={length}, sha256=\"{}\"", hex(&sha256)),
    }
}

/// A stored message, or none if it is not one.
fn parse(bytes: &[u8]) -> Option<Stored> {
    let mut lines = vec![httparse::EMPTY_HEADER; head_lines(bytes)];
    let mut message = httparse::Response::new(&mut lines);
    let Ok(httparse::Status::Complete(length)) = message.parse(bytes) else { return None };
    let status = message.code?;
    let fields: Fields = message.headers.iter().map(|line| (line.name.to_owned(), line.value.to_vec())).collect();
    let omitted = lines_of(&fields, OMITTED_FIELD).next().map(|value| StoredBody::Omitted(known(value)));
    let body = omitted.unwrap_or_else(|| StoredBody::Kept(bytes[length..].to_vec()));
    let fields = fields.into_iter().filter(|(name, _)| !name.eq_ignore_ascii_case(OMITTED_FIELD)).collect();
    Some(Stored { status, fields, body })
}

/// How many lines a message's head has at the most: room for its fields.
pub(crate) fn head_lines(bytes: &[u8]) -> usize {
    bytes.split(|&byte| byte == b'\n').take_while(|line| !line.trim_ascii().is_empty()).count()
}

fn known(value: &[u8]) -> Option<Digested> {
    let members: sfv::Dictionary = sfv::Parser::new(value).parse().ok()?;
    let item = |name: &str| match members.get(name)? {
        sfv::ListEntry::Item(item) => Some(item.bare_item.clone()),
        sfv::ListEntry::InnerList(_) => None,
    };
    let length = u64::try_from(i64::from(item("length")?.as_integer()?)).ok()?;
    Some(Digested { length, sha256: of_hex(item("sha256")?.as_string()?.as_str())? })
}

/// 64 lower-case hexadecimal digits.
pub(crate) fn hex(sha256: &[u8; 32]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or_default();
    sha256.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn of_hex(text: &str) -> Option<[u8; 32]> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|value| u8::try_from(value).ok())).collect();
    let bytes: Vec<u8> = digits?.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect();
    bytes.try_into().ok()
}

/// Whether this may be a field's name (RFC 9110, section 5.6.2).
pub(crate) fn is_token(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

/// Whether this may be a field's value: no control character but the tab.
pub(crate) fn is_value(value: &[u8]) -> bool {
    value.iter().all(|&byte| byte == b'\t' || !byte.is_ascii_control())
}

#[cfg(test)]
mod tests;
