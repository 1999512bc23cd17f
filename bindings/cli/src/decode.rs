//! A stored body, as a person can read it: as HTTP, JSON, text or hexadecimal.

use keyledger::admin::Answer;
use keyledger::{Outcome, Response};
use keyledger_http::message::{MEDIA_TYPE, Stored, StoredBody};

use crate::output::printable;
use crate::words;

/// Bytes on a line of a hexadecimal dump, and bytes of it at the most.
const DUMP_LINE: usize = 16;
const DUMP_MAX: usize = 4096;

/// The lines to show.
pub(crate) fn answer(answer: &Answer) -> String {
    let Some(bytes) = answer.content.as_ref().and_then(keyledger::admin::Content::bytes) else {
        let hash = answer.omitted_sha256.as_deref().unwrap_or_default();
        return format!("the body was not kept: {}, SHA-256 {hash}", words::bytes(answer.length));
    };
    if answer.media_type == MEDIA_TYPE { message(&bytes) } else { body(&answer.media_type, &bytes) }
}

/// An HTTP request or response: its head, and its body by its own type.
fn message(bytes: &[u8]) -> String {
    if let Some(response) = bytes.starts_with(b"HTTP/").then(|| response(bytes)).flatten() {
        return response;
    }
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let Some(end) = end else { return body("", bytes) };
    let head = String::from_utf8_lossy(&bytes[..end]);
    let media_type = head.lines().find_map(|line| line.split_once(':').filter(|(name, _)| is_content_type(name)));
    let media_type = media_type.map_or("", |(_, value)| value.trim()).to_owned();
    let below = body(&media_type, &bytes[end + 4..]);
    format!("{}\n\n{below}", printable(&head))
}

/// A response as keyledger-http stores it; `None`: another one, as somebody wrote it.
fn response(bytes: &[u8]) -> Option<String> {
    let stored = Stored::of_response(&Response::new(MEDIA_TYPE, bytes), Outcome::Completed);
    if stored.fields.iter().any(|(name, value)| is_content_type(name) && value == MEDIA_TYPE.as_bytes()) {
        return None;
    }
    let mut lines = vec![format!("HTTP {}", stored.status)];
    lines.extend(stored.fields.iter().map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value))));
    let media_type = stored.fields.iter().find(|(name, _)| is_content_type(name));
    let media_type = media_type.map_or_else(String::new, |(_, value)| String::from_utf8_lossy(value).into_owned());
    let below = match &stored.body {
        StoredBody::Kept(bytes) => body(&media_type, bytes),
        StoredBody::Omitted(Some(known)) => format!("the body was not kept: {}", words::bytes(known.length)),
        StoredBody::Omitted(None) => "the body was not kept".to_owned(),
    };
    Some(format!("{}\n\n{below}", printable(&lines.join("\n"))))
}

fn is_content_type(name: &str) -> bool {
    name.eq_ignore_ascii_case("content-type")
}

/// Bytes by their media type; what is not what it says is shown as what it is.
pub(crate) fn body(media_type: &str, bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "(empty)".to_owned();
    }
    let kind = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = kind.ends_with("/json") || kind.ends_with("+json");
    // Members come in the order of their names; --json has the bytes as they are.
    let value = is_json.then(|| serde_json::from_slice::<serde_json::Value>(bytes).ok()).flatten();
    if let Some(pretty) = value.and_then(|value| serde_json::to_string_pretty(&value).ok()) {
        return printable(&pretty);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => printable(text.trim_end_matches('\n')),
        Err(_) => dump(bytes),
    }
}

fn dump(bytes: &[u8]) -> String {
    let line = |(number, part): (usize, &[u8])| {
        let hex: Vec<String> = part.iter().map(|byte| format!("{byte:02x}")).collect();
        let shown = |byte: &u8| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' };
        let text: String = part.iter().map(shown).collect();
        format!("{:08x}  {:<47}  {text}", number * DUMP_LINE, hex.join(" "))
    };
    let mut lines: Vec<String> = bytes[..bytes.len().min(DUMP_MAX)].chunks(DUMP_LINE).enumerate().map(line).collect();
    if bytes.len() > DUMP_MAX {
        lines.push(format!("... {} in all; --json has them", words::bytes(bytes.len() as u64)));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_shown_as_what_they_are() {
        assert_eq!(body("application/json", br#"{"a":[1]}"#), "{\n  \"a\": [\n    1\n  ]\n}");
        assert_eq!(body("application/json", b"{oops"), "{oops");
        assert_eq!(body("text/plain", b"hello\n"), "hello");
        assert_eq!(body("text/plain", b""), "(empty)");
        let hex = "00000000  ff 00 41                                         ..A";
        assert_eq!(body("text/plain", &[0xff, 0, b'A']), hex);
    }

    #[test]
    fn a_stored_message_is_shown_with_its_head() {
        let stored = b"HTTP/1.1 201 \r\nContent-Type: application/json\r\n\r\n{\"id\":7}";
        assert_eq!(message(stored), "HTTP 201\nContent-Type: application/json\n\n{\n  \"id\": 7\n}");
        let by_hand = b"HTTP/1.1 404 Not Found";
        assert_eq!(message(by_hand), "HTTP/1.1 404 Not Found");
        let request = b"POST /v1/charges HTTP/1.1\r\nContent-Type: text/plain\r\n\r\nhello";
        assert_eq!(message(request), "POST /v1/charges HTTP/1.1\nContent-Type: text/plain\n\nhello");
    }
}
