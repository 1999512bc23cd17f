//! The key's field line: an RFC 8941 Item whose value is a String (H1).

use keyledger::{Key, PART_BYTES_MAX};
use sfv::{BareItem, Item, Parser, Version};

/// The name of the field that carries the key; names of fields are compared without regard to case.
pub const KEY_FIELD: &str = "Idempotency-Key";

/// The field is there, and is no key (H1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MalformedKey {
    /// More than one field line.
    #[error("the field {KEY_FIELD} is there more than once; send it once")]
    SeveralLines,
    /// Neither a quoted string nor a bare value of the characters that are allowed there.
    #[error(
        "the field {KEY_FIELD} holds no quoted string; send it as \"8e03978e-40d5-43e8-bc93-6894a57f9324\", quotes and all"
    )]
    NotAString,
    /// A string of no character at all.
    #[error("the key is empty; send 1 to {PART_BYTES_MAX} characters")]
    Empty,
    /// More than [`PART_BYTES_MAX`] bytes.
    #[error("the key is longer than {PART_BYTES_MAX} bytes; send a shorter one")]
    TooLong,
}

/// The key in the lines of the key field, or none if there is no line.
///
/// A quoted string may be followed by parameters, which are ignored. A bare value is the same key as the quoted one if it is made
/// of RFC 3986's unreserved characters and `: / + = @`. White space around it does not count.
///
/// # Errors
/// [`MalformedKey`], for which the answer is 400 (H1).
pub fn key_of_lines<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Result<Option<Key>, MalformedKey> {
    let mut lines = lines.into_iter();
    match (lines.next(), lines.next()) {
        (None, _) => Ok(None),
        (Some(line), None) => key_of_line(line.trim_ascii()).map(Some),
        (Some(_), Some(_)) => Err(MalformedKey::SeveralLines),
    }
}

fn key_of_line(line: &[u8]) -> Result<Key, MalformedKey> {
    match line.first() {
        Some(b'"') => quoted(line),
        Some(_) if line.iter().all(|&byte| may_stand_bare(byte)) => key(std::str::from_utf8(line).unwrap_or_default()),
        Some(_) | None => Err(MalformedKey::NotAString),
    }
}

fn quoted(line: &[u8]) -> Result<Key, MalformedKey> {
    let item: Item = Parser::new(line).with_version(Version::Rfc8941).parse().map_err(|_| MalformedKey::NotAString)?;
    match item.bare_item {
        BareItem::String(text) => key(text.as_str()),
        _ => Err(MalformedKey::NotAString),
    }
}

fn key(text: &str) -> Result<Key, MalformedKey> {
    match text.len() {
        0 => Err(MalformedKey::Empty),
        1..=PART_BYTES_MAX => Key::new(text).map_err(|_| MalformedKey::NotAString),
        _ => Err(MalformedKey::TooLong),
    }
}

/// Whether a byte may stand in a bare key: unreserved (RFC 3986, section 2.3), or one of five more.
pub(crate) fn may_stand_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/+=@".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::{MalformedKey, key_of_lines};

    fn read(line: &str) -> Result<String, MalformedKey> {
        key_of_lines([line.as_bytes()]).map(|key| key.map(|key| key.as_str().to_owned()).unwrap_or_default())
    }

    #[test]
    fn h1_quoted_and_bare_are_one_key_and_parameters_do_not_count() {
        for line in ["\"order-1\"", "order-1", "  \"order-1\" ", "\"order-1\";v=1", "\"order-1\"; a; b=\"x\""] {
            assert_eq!(read(line).as_deref(), Ok("order-1"), "{line}");
        }
        assert_eq!(read(r#""a\"b\\c""#).as_deref(), Ok(r#"a"b\c"#));
        assert_eq!(read("a-._~:/+=@Z9").as_deref(), Ok("a-._~:/+=@Z9"));
    }

    #[test]
    fn h1_what_is_no_string_item_is_malformed() {
        for line in [
            "",
            " ",
            "a b",
            "a,b",
            "\"a\", \"b\"",
            "\"a",
            "a\"",
            "\"\u{e9}\"",
            "\u{e9}",
            "?1",
            "(\"a\")",
            "a;v=1",
            "\"a\\x\"",
            "\"a\tb\"",
        ] {
            assert_eq!(read(line), Err(MalformedKey::NotAString), "{line:?}");
        }
        assert_eq!(read("\"\""), Err(MalformedKey::Empty));
        assert_eq!(key_of_lines([&b"a"[..], b"a"]), Err(MalformedKey::SeveralLines));
        assert_eq!(key_of_lines([]), Ok(None));
    }

    #[test]
    fn h1_a_key_has_at_most_255_bytes() {
        let (long, longer) = ("k".repeat(255), "k".repeat(256));
        assert_eq!(read(&long), Ok(long.clone()));
        assert_eq!(read(&format!("\"{long}\"")), Ok(long));
        assert_eq!(read(&longer), Err(MalformedKey::TooLong));
        assert_eq!(read(&format!("\"{longer}\"")), Err(MalformedKey::TooLong));
    }
}
