//! JSON text, strictly (F1).
//!
//! Written here because no parser in reach gives what F1 needs without changing others: `serde_json` tells neither a
//! number's text (except with `arbitrary_precision`, which is for the whole program to choose, or with `raw_value`, which
//! reads each level of nesting again), nor which rule was broken. A property test holds that both accept the same texts.

mod strings;

use std::borrow::Cow;

use super::error::{FingerprintError, FingerprintErrorReason, JSON_DEPTH_MAX};
use super::json::{Json, canonical_order};
use super::number;

type Result<T> = std::result::Result<T, FingerprintError>;

/// The value of a text that is JSON and nothing else.
pub(super) fn parse(bytes: &[u8]) -> Result<Json<'_>> {
    let text = str::from_utf8(bytes).map_err(|error| FingerprintErrorReason::NotUtf8.at_byte(error.valid_up_to()))?;
    let mut parser = Parser { text, at: 0, levels_left: JSON_DEPTH_MAX };
    let value = parser.value()?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.expected("the end"));
    }
    Ok(value)
}

struct Parser<'a> {
    text: &'a str,
    /// The next byte, always at the start of a character.
    at: usize,
    levels_left: usize,
}

impl<'a> Parser<'a> {
    fn value(&mut self) -> Result<Json<'a>> {
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(_) => self.literal(),
            None => Err(self.expected("a value")),
        }
    }

    fn nested(&mut self, parse: fn(&mut Self) -> Result<Json<'a>>) -> Result<Json<'a>> {
        let too_deep = FingerprintErrorReason::TooDeep.at_byte(self.at);
        self.levels_left = self.levels_left.checked_sub(1).ok_or(too_deep)?;
        let value = parse(self)?;
        self.levels_left += 1;
        Ok(value)
    }

    fn array(&mut self) -> Result<Json<'a>> {
        self.at += 1;
        let mut items = Vec::new();
        if self.skip_if(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value()?);
            if self.skip_if(b']') {
                return Ok(Json::Array(items));
            }
            self.skip(b',', "a comma or the end of the array")?;
        }
    }

    fn object(&mut self) -> Result<Json<'a>> {
        self.at += 1;
        let mut members = Vec::new();
        if self.skip_if(b'}') {
            return Ok(Json::Object(Vec::new()));
        }
        loop {
            members.push(self.member()?);
            if self.skip_if(b'}') {
                return canonical_members(members).map(Json::Object);
            }
            self.skip(b',', "a comma or the end of the object")?;
        }
    }

    fn member(&mut self) -> Result<Member<'a>> {
        self.skip_space();
        let at = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.expected("a member name in double quotes"));
        }
        let name = self.string()?;
        self.skip(b':', "a colon")?;
        Ok(Member { at, name, value: self.value()? })
    }

    fn literal(&mut self) -> Result<Json<'a>> {
        let rest = &self.text[self.at..];
        let (length, value) = if rest.starts_with("null") {
            (4, Json::Null)
        } else if rest.starts_with("true") {
            (4, Json::Bool(true))
        } else if rest.starts_with("false") {
            (5, Json::Bool(false))
        } else if rest.starts_with("NaN") || rest.starts_with("Infinity") {
            return Err(FingerprintErrorReason::NotFinite.at_byte(self.at));
        } else {
            return Err(self.expected("a value"));
        };
        self.at += length;
        Ok(value)
    }

    fn number(&mut self) -> Result<f64> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.text[self.at..].starts_with("Infinity") {
            return Err(FingerprintErrorReason::NotFinite.at_byte(start));
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        number::of_text(&self.text[start..self.at]).map_err(|reason| reason.at_byte(start))
    }

    /// One digit or more.
    fn digits(&mut self) -> Result<()> {
        let rest = &self.text.as_bytes()[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.expected("a digit"));
        }
        self.at += count;
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Skips space, then `byte` if that is what follows.
    fn skip_if(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip(&mut self, byte: u8, expected: &'static str) -> Result<()> {
        if self.skip_if(byte) { Ok(()) } else { Err(self.expected(expected)) }
    }

    const fn expected(&self, expected: &'static str) -> FingerprintError {
        FingerprintErrorReason::Syntax { expected }.at_byte(self.at)
    }
}

struct Member<'a> {
    at: usize,
    name: Cow<'a, str>,
    value: Json<'a>,
}

fn canonical_members(mut members: Vec<Member<'_>>) -> Result<Vec<(Cow<'_, str>, Json<'_>)>> {
    // Stable, so that of two equal names the one that comes later in the text is told.
    members.sort_by(|left, right| canonical_order(&left.name, &right.name));
    match members.windows(2).find(|pair| pair[0].name == pair[1].name) {
        Some(pair) => Err(FingerprintErrorReason::DuplicateMember.at_byte(pair[1].at)),
        None => Ok(members.into_iter().map(|member| (member.name, member.value)).collect()),
    }
}

#[cfg(test)]
mod tests;
