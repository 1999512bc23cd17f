//! What is printed: tables for people, JSON for programs.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::arguments::{Colour, Manner};
use crate::failure::Result;
pub(crate) use crate::table::{Cell, Fit, Table, one_line};

/// Where answers go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
    colour: bool,
    terminal: bool,
    stream: Stream,
}

/// Where lines go.
#[derive(Debug, Clone, Copy)]
enum Stream {
    Answer,
    /// The standard error.
    Aside,
}

/// How urgent something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Quiet,
    Good,
    Waiting,
    Bad,
}

#[expect(clippy::unused_self, reason = "whoever prints has been given the way to")]
impl Output {
    pub(crate) fn new(manner: Manner) -> Self {
        let terminal = io::stdout().is_terminal();
        // https://no-color.org: set, and not empty.
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let colour = match manner.color {
            Colour::Auto => terminal && !unwanted,
            Colour::Always => true,
            Colour::Never => false,
        };
        Self { json: manner.json, colour, terminal, stream: Stream::Answer }
    }

    /// Beside the answer, for whoever looks on.
    pub(crate) fn aside(self) -> Self {
        Self { stream: Stream::Aside, colour: false, terminal: io::stderr().is_terminal(), ..self }
    }

    /// Writes one value as a line of JSON.
    pub(crate) fn json(self, value: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(value).map_err(io::Error::from)?;
        line.push(b'\n');
        Ok(io::stdout().lock().write_all(&line)?)
    }

    /// Writes a line for a person.
    pub(crate) fn line(self, line: impl AsRef<str>) -> Result<()> {
        let line = line.as_ref();
        let written = match self.stream {
            Stream::Answer => writeln!(io::stdout().lock(), "{line}"),
            Stream::Aside => writeln!(io::stderr().lock(), "{line}"),
        };
        Ok(written?)
    }

    /// The value as JSON, or what a person sees of it.
    pub(crate) fn answer(self, value: &impl Serialize, for_people: impl FnOnce(Self) -> Result<()>) -> Result<()> {
        if self.json { self.json(value) } else { for_people(self) }
    }

    /// A cell: nothing in it can move the cursor or begin another line.
    pub(crate) fn cell(self, text: impl AsRef<str>, tone: Tone) -> Cell {
        Cell { text: one_line(text.as_ref()), tone }
    }

    /// Writes a table: as wide as the terminal, or whole where there is none.
    pub(crate) fn print(self, table: &Table) -> Result<()> {
        let width = self.terminal.then(crate::table::terminal_width);
        table.lines(width, self.colour).iter().try_for_each(|line| self.line(line))
    }

    /// Names and values, one pair to a line. Values are never cut.
    pub(crate) fn pairs(self, pairs: &[(&str, String, Tone)]) -> Result<()> {
        let mut table = Table::default();
        for (name, value, tone) in pairs {
            table.add([self.cell(name, Tone::Quiet), self.cell(value, *tone)]);
        }
        table.lines(None, self.colour).iter().try_for_each(|line| self.line(line))
    }
}

/// The text with all that could steer a terminal or deceive an eye made visible, save ends of lines and tabs.
pub(crate) fn printable(text: &str) -> String {
    let shown = |letter: char| -> String {
        match letter {
            '\n' | '\t' => letter.into(),
            '\r' => String::new(),
            letter => shown(letter),
        }
    };
    text.chars().map(shown).collect()
}

/// A letter, or its number where it is a control character, turns the line around or cannot be seen.
pub(crate) fn shown(letter: char) -> String {
    if letter.is_control() || is_unseen(letter) { letter.escape_unicode().to_string() } else { letter.into() }
}

fn is_unseen(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn nothing_that_is_stored_can_steer_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\r\nc\u{9b}"), "a\\u{1b}[2Jb\nc\\u{9b}");
        assert_eq!(printable("ann\u{202e}nna\u{200b}"), "ann\\u{202e}nna\\u{200b}", "and no eye is deceived");
    }
}
