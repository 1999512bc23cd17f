//! HTTP requests (F3).
//!
//! SHA-256 over the frames (see `frames.rs`) of: `keyledger/http/1`, method, path, canonical query, kind of body, body.
//!
//! - Canonical query: its pieces between `&` without the empty ones, sorted by what stands before the first `=`, in stable
//!   order and undecoded, joined with `&`.
//! - A body that is said to be JSON (`application/json` or `...+json`) and that F1 accepts: kind `json`, and its RFC 8785
//!   bytes, of the members that count.
//! - Any other body: kind `raw:` and the media type in lower case without parameters, and the bytes as they came.

use super::frames::Frames;
use super::parser;
use super::pointer::Members;

const HTTP_TAG: &str = "keyledger/http/1";

/// The parts of an HTTP request that its fingerprint is made of, as they were received.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpRequest<'a> {
    /// The method, in the case it came in.
    pub method: &'a [u8],
    /// The path, percent-encoded as it came.
    pub path: &'a [u8],
    /// What follows the question mark, percent-encoded as it came; empty if there is none. The order of different names
    /// does not matter, that of the values of one name does.
    pub query: &'a [u8],
    /// The value of Content-Type, if there is one. Its parameters, such as `charset`, do not count.
    pub content_type: Option<&'a [u8]>,
    /// The body. JSON counts by what it says, all else byte for byte.
    pub body: &'a [u8],
}

impl HttpRequest<'_> {
    pub(super) fn sha256(&self, members: &Members) -> [u8; 32] {
        let head = Frames::tagged(HTTP_TAG).with(self.method).with(self.path).with(&canonical_query(self.query));
        let essence = essence(self.content_type.unwrap_or_default());
        match canonical_body(&essence, self.body, members) {
            Some(json) => head.with(b"json").with(&json),
            None => head.with(&[b"raw:", essence.as_slice()].concat()).with(self.body),
        }
        .finish()
    }
}

/// None for what is not said to be JSON, and for what F1 refuses.
fn canonical_body(essence: &[u8], body: &[u8], members: &Members) -> Option<Vec<u8>> {
    let is_json = essence == b"application/json" || essence.ends_with(b"+json");
    if is_json { parser::parse(body).ok().map(|json| members.canonical(json)) } else { None }
}

/// The media type without parameters, in lower case.
fn essence(content_type: &[u8]) -> Vec<u8> {
    let end = content_type.iter().position(|&byte| byte == b';').unwrap_or(content_type.len());
    content_type[..end].trim_ascii().to_ascii_lowercase()
}

/// The query's non-empty pieces, sorted by name alone, so that those of one name stay in order.
fn canonical_query(query: &[u8]) -> Vec<u8> {
    let mut pieces: Vec<&[u8]> = query.split(|&byte| byte == b'&').filter(|piece| !piece.is_empty()).collect();
    pieces.sort_by_key(|piece| name_of(piece));
    pieces.join(&b'&')
}

fn name_of(piece: &[u8]) -> &[u8] {
    piece.split(|&byte| byte == b'=').next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
