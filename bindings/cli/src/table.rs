//! Tables: a line for each row. On a terminal they are as wide as it is, and long cells are cut; elsewhere nothing is.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::output::{Tone, shown};

/// What is between two columns.
const GAP: usize = 2;
/// What a column that can be cut keeps.
const LEAST: usize = 6;
/// Of a terminal that does not tell its width, and of one that is too narrow for any table.
const USUAL: usize = 80;
const NARROWEST: usize = 40;

/// What becomes of a column where the terminal is too narrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It stays whole.
    Whole,
    /// Its cells are cut.
    Cut,
    /// It is left out first.
    Spare,
}

/// A text on one line, and how urgent it is.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

/// Rows of cells, perhaps under headings.
#[derive(Debug, Default)]
pub(crate) struct Table {
    columns: Vec<Fit>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with these headings.
    pub(crate) fn new(headings: &[(&str, Fit)]) -> Self {
        let heading = |(name, _): &(&str, Fit)| Cell { text: (*name).to_owned(), tone: Tone::Quiet };
        Self {
            columns: headings.iter().map(|(_, fit)| *fit).collect(),
            rows: vec![headings.iter().map(heading).collect()],
        }
    }

    pub(crate) fn add(&mut self, row: impl IntoIterator<Item = Cell>) {
        self.rows.push(row.into_iter().collect());
    }

    /// The lines, in at most so many columns of a terminal, where that can be.
    pub(crate) fn lines(&self, width: Option<usize>, colour: bool) -> Vec<String> {
        let widths = self.fitted(width);
        self.rows.iter().map(|row| line(row, &widths, colour)).collect()
    }

    /// How wide each column is; `None`: it is left out.
    fn fitted(&self, limit: Option<usize>) -> Vec<Option<usize>> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widest =
            |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.width()).max();
        let mut widths: Vec<Option<usize>> = (0..count).map(widest).collect();
        let Some(limit) = limit else { return widths };
        let fit = |column: usize| self.columns.get(column).copied().unwrap_or(Fit::Cut);
        for column in (0..count).rev().filter(|column| fit(*column) == Fit::Spare) {
            if total(&widths) > limit {
                widths[column] = None;
            }
        }
        while total(&widths) > limit {
            let cut = (0..count).filter(|column| fit(*column) == Fit::Cut && widths[*column] > Some(LEAST));
            let Some(widest) = cut.max_by_key(|column| widths[*column]) else { break };
            widths[widest] = widths[widest].map(|width| width - 1);
        }
        widths
    }
}

fn total(widths: &[Option<usize>]) -> usize {
    let shown: Vec<usize> = widths.iter().flatten().copied().collect();
    shown.iter().sum::<usize>() + GAP * shown.len().saturating_sub(1)
}

fn line(row: &[Cell], widths: &[Option<usize>], colour: bool) -> String {
    let mut line = String::new();
    // Blanks are written before the next cell, so that none ends a line.
    let mut owed = 0;
    for (Cell { text, tone }, width) in row.iter().zip(widths) {
        let Some(width) = width else { continue };
        let text = cut(text, *width);
        let left = width + GAP - text.width();
        if !text.is_empty() {
            line.extend(std::iter::repeat_n(' ', std::mem::take(&mut owed)));
            line.push_str(&if colour { coloured(&text, *tone) } else { text });
        }
        owed += left;
    }
    line
}

/// The text in so many columns: what is cut ends in `…`.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut taken = 0;
    let fits = |letter: &char| {
        taken += letter.width().unwrap_or_default();
        taken < width
    };
    let start: String = text.chars().take_while(fits).collect();
    format!("{start}…")
}

fn coloured(text: &str, tone: Tone) -> String {
    let code = match tone {
        Tone::Plain => return text.to_owned(),
        Tone::Quiet => "2",
        Tone::Good => "32",
        Tone::Waiting => "33",
        Tone::Bad => "1;31",
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// A text in which nothing moves the cursor, and that has no second line.
pub(crate) fn one_line(text: &str) -> String {
    let letter = |letter: char| match letter {
        '\n' => r"\n".to_owned(),
        '\t' => r"\t".to_owned(),
        '\r' => r"\r".to_owned(),
        letter => shown(letter),
    };
    text.chars().map(letter).collect()
}

/// How many columns the terminal has, as it says, or else `COLUMNS`.
pub(crate) fn terminal_width() -> usize {
    let told = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok();
    told.filter(|width| *width > 0).or_else(variable).unwrap_or(USUAL).max(NARROWEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table =
            Table::new(&[("STATE", Fit::Cut), ("KEY", Fit::Cut), ("EFFECT", Fit::Spare), ("SINCE", Fit::Whole)]);
        let cell = |text: &str| Cell { text: one_line(text), tone: Tone::Plain };
        table.add(
            ["parked: the mail server\ndid not answer", "order-1034-of-a-long-name", "at most once", "5 min ago"]
                .map(cell),
        );
        table.add(["completed", "鍵", "repeatable", "now"].map(cell));
        table
    }

    #[test]
    fn a_row_is_a_line_and_fits_the_terminal() {
        let lines = table().lines(Some(50), false);
        assert!(lines.iter().all(|line| line.width() <= 50), "{lines:#?}");
        assert!(
            !lines[0].contains("EFFECT") && lines[1].contains("…  order-") && lines[1].ends_with("5 min ago"),
            "{lines:#?}"
        );
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn where_there_is_no_terminal_nothing_is_cut_or_left_out() {
        let lines = table().lines(None, false);
        assert!(
            lines[1].contains(r"server\ndid not answer  order-1034-of-a-long-name  at most once  5 min ago"),
            "{lines:#?}"
        );
        assert_eq!(
            lines[2].find("repeatable").map(|at| lines[2][..at].width()),
            lines[1].find("at most").map(|at| lines[1][..at].width())
        );
    }

    #[test]
    fn colour_takes_no_room() {
        let mut table = Table::new(&[("A", Fit::Cut), ("B", Fit::Cut)]);
        table.add([Cell { text: "x".into(), tone: Tone::Bad }, Cell { text: "y".into(), tone: Tone::Plain }]);
        assert_eq!(table.lines(None, true)[1], "\u{1b}[1;31mx\u{1b}[0m  y");
    }
}
