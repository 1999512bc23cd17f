//! Any bytes as what HTTP brings: a key field, a stored response, a stored request, an answer, a redirect. The first byte says which.

#![no_main]

use keyledger::{Key, Outcome, Response};
use keyledger_http::client::{KeyField, Reading, Redirect, Request, redirect};
use keyledger_http::message::{HEAD_BYTES_MAX, MEDIA_TYPE, Stored, StoredBody};
use keyledger_http::{Answer, key_of_lines};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((which, bytes)) = bytes.split_first() else { return };
    match which % 4 {
        0 => key_field(bytes),
        1 => stored_response(bytes),
        2 => stored_request(bytes),
        _ => follow(bytes),
    }
});

/// A key that was read is read again from what a client would send for it.
fn key_field(line: &[u8]) {
    if let Ok(Some(key)) = key_of_lines([line]) {
        let sent = KeyField::default().value(&key).expect("it came in a field");
        assert_eq!(key_of_lines([sent.as_bytes()]), Ok(Some(key)));
    } else if let Ok(key) = std::str::from_utf8(line).map(Key::new) {
        let _ = key.map(|key| KeyField::default().bare().value(&key));
    }
}

/// A response that was read is stored and read again as the same; as an answer it means something.
fn stored_response(bytes: &[u8]) {
    let read = Stored::of_response(&Response::new(MEDIA_TYPE, bytes), Outcome::Completed);
    if bytes.len() < HEAD_BYTES_MAX / 2 {
        assert_eq!(Stored::of_response(&read.to_response(), Outcome::Completed), read);
    }
    let body = match read.body {
        StoredBody::Kept(body) => body,
        StoredBody::Omitted(_) => Vec::new(),
    };
    let _ = Reading::of(&Answer { status: read.status, fields: read.fields, body }, 0);
}

/// A request that was read, and may be stored, comes back as it was.
fn stored_request(bytes: &[u8]) {
    let Ok(read) = Request::of_bytes(bytes) else { return };
    if let Ok(bytes) = read.to_bytes(&KeyField::default(), &[]) {
        assert_eq!(Request::of_bytes(&bytes), Ok(read));
    }
}

/// A redirect that is followed stays with the scheme and host of the request.
fn follow(location: &[u8]) {
    for status in [301, 303, 307] {
        let followed = redirect("POST", "https://pay.example/v1/charges?a=1", status, Some(location));
        if let Redirect::Follow(url) = followed {
            assert!(status == 307 && url.to_ascii_lowercase().starts_with("https://pay.example"), "{url}");
        }
    }
}
