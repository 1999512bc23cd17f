//! Strings of JSON text.

use std::borrow::Cow;

use super::{FingerprintErrorReason, Parser, Result};

const LATER_SURROGATES: std::ops::RangeInclusive<u16> = 0xdc00..=0xdfff;

impl<'a> Parser<'a> {
    /// The string that starts with the quote at hand. Without escapes it is the text itself.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>> {
        self.at += 1;
        let plain = self.plain();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(plain));
        }
        self.escaped(plain.to_owned()).map(Cow::Owned)
    }

    /// Whatever stands for itself, which may be nothing.
    fn plain(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let special = |byte: u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
        let length = rest.bytes().position(special).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn escaped(&mut self, mut text: String) -> Result<String> {
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(0..=0x1f) => return Err(self.expected("an escape for a control character")),
                Some(_) => text.push_str(self.plain()),
                None => return Err(self.expected("the end of the string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let start = self.at;
        self.at += 1;
        let escape = self.peek();
        let character = match escape {
            Some(b'"' | b'\\' | b'/') => escape.map(char::from),
            Some(b'b') => Some('\u{8}'),
            Some(b'f') => Some('\u{c}'),
            Some(b'n') => Some('\n'),
            Some(b'r') => Some('\r'),
            Some(b't') => Some('\t'),
            Some(b'u') => {
                self.at += 1;
                return self.unicode(start);
            }
            Some(_) | None => None,
        };
        let character = character.ok_or_else(|| self.expected("an escape that JSON has"))?;
        self.at += 1;
        Ok(character)
    }

    /// What `\u` and its digits mean, two of them for a character above U+FFFF. `start` is where the first one is.
    fn unicode(&mut self, start: usize) -> Result<char> {
        let first = self.code_unit()?;
        let second = if (0xd800..=0xdbff).contains(&first) { self.later_surrogate()? } else { None };
        let mut characters = char::decode_utf16([first].into_iter().chain(second));
        match characters.next() {
            Some(Ok(character)) => Ok(character),
            Some(Err(_)) | None => Err(FingerprintErrorReason::LoneSurrogate.at_byte(start)),
        }
    }

    /// The second half of a pair, if it follows. If not, nothing is skipped.
    fn later_surrogate(&mut self) -> Result<Option<u16>> {
        if !self.text[self.at..].starts_with("\\u") {
            return Ok(None);
        }
        let start = self.at;
        self.at += 2;
        let unit = self.code_unit()?;
        if LATER_SURROGATES.contains(&unit) {
            return Ok(Some(unit));
        }
        self.at = start;
        Ok(None)
    }

    fn code_unit(&mut self) -> Result<u16> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4).unwrap_or_default();
        // Checked apart, because Rust's numbers may start with a plus sign.
        let unit = digits.iter().try_fold(0, |unit: u16, &digit| {
            let value = char::from(digit).to_digit(16).and_then(|value| u16::try_from(value).ok())?;
            Some(unit << 4 | value)
        });
        let unit = unit.filter(|_| digits.len() == 4).ok_or_else(|| self.expected("four hexadecimal digits"))?;
        self.at += 4;
        Ok(unit)
    }
}
