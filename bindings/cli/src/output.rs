//! What is printed: tables for people, JSON for programs.

use std::io::{self, IsTerminal, Write};

use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets};
use serde::Serialize;

use crate::arguments::{Colour, Manner};
use crate::failure::Result;

/// Where answers go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
    colour: bool,
    terminal: bool,
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
        Self { json: manner.json, colour, terminal }
    }

    /// Writes one value as a line of JSON.
    pub(crate) fn json(self, value: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(value).map_err(io::Error::from)?;
        line.push(b'\n');
        Ok(io::stdout().lock().write_all(&line)?)
    }

    /// Writes a line for a person.
    pub(crate) fn line(self, line: impl AsRef<str>) -> Result<()> {
        Ok(writeln!(io::stdout().lock(), "{}", line.as_ref())?)
    }

    /// The value as JSON, or what a person sees of it.
    pub(crate) fn answer(self, value: &impl Serialize, for_people: impl FnOnce(Self) -> Result<()>) -> Result<()> {
        if self.json { self.json(value) } else { for_people(self) }
    }

    /// A table with these headings, or without any.
    pub(crate) fn table(self, headings: &[&str]) -> Table {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        if self.terminal {
            table.set_content_arrangement(ContentArrangement::Dynamic);
        } else {
            // Whoever reads it cuts lines itself.
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
        if self.colour {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        if !headings.is_empty() {
            table.set_header(headings.iter().map(|heading| self.cell(heading, Tone::Quiet)));
        }
        table
    }

    /// A cell: nothing in it can move the cursor.
    pub(crate) fn cell(self, text: impl AsRef<str>, tone: Tone) -> Cell {
        let cell = Cell::new(printable(text.as_ref()));
        match tone {
            Tone::Plain => cell,
            Tone::Quiet => cell.add_attribute(Attribute::Dim),
            Tone::Good => cell.fg(Color::Green),
            Tone::Waiting => cell.fg(Color::Yellow),
            Tone::Bad => cell.fg(Color::Red).add_attribute(Attribute::Bold),
        }
    }

    /// Writes a table, without the blanks around its lines.
    pub(crate) fn print(self, table: &Table) -> Result<()> {
        let text = table.to_string();
        text.lines().try_for_each(|line| self.line(line.strip_prefix(' ').unwrap_or(line).trim_end()))
    }

    /// Names and values, one pair to a line.
    pub(crate) fn pairs(self, pairs: &[(&str, String, Tone)]) -> Result<()> {
        let mut table = self.table(&[]);
        for (name, value, tone) in pairs {
            table.add_row([self.cell(name, Tone::Quiet), self.cell(value, *tone)]);
        }
        self.print(&table)
    }
}

/// The text with its control characters made visible, save ends of lines and tabs.
pub(crate) fn printable(text: &str) -> String {
    let shown = |letter: char| -> String {
        match letter {
            '\n' | '\t' => letter.into(),
            '\r' => String::new(),
            letter if letter.is_control() => letter.escape_default().to_string(),
            letter => letter.into(),
        }
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn nothing_that_is_stored_can_steer_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\r\nc\u{9b}"), "a\\u{1b}[2Jb\nc\\u{9b}");
    }
}
