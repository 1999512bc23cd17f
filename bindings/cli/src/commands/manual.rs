//! What shells and manuals want to know.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_mangen::roff::{Roff, bold, roman};

use crate::arguments::{self, Arguments};
use crate::failure::{self, Result};
use crate::socket;

/// The columns of a help text: `man` puts seven before it, and a terminal has eighty.
const WIDTH: usize = 72;

/// What the program takes from the environment.
const ENVIRONMENT: [(&str, &str); 5] = [
    ("KEYLEDGER_FILE", "the ledger, where the command line names none"),
    ("KEYLEDGER_WHO", "who decides, where --who does not say it"),
    (
        socket::VARIABLE,
        "how long the process that has the file open may be silent before it is given up: 20s; while it works, it is not",
    ),
    ("NO_COLOR", "set and not empty: no colour, unless --color always"),
    ("COLUMNS", "the width of a terminal that does not tell it"),
];

pub(super) fn completions(shell: clap_complete::Shell) -> Result<()> {
    let mut command = Arguments::command();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "keyledger", &mut script);
    Ok(io::stdout().lock().write_all(&script)?)
}

/// One page, with the help of each command in it.
pub(super) fn man() -> Result<()> {
    let mut command = arguments::command();
    command.build();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let version = format!("keyledger {}", env!("CARGO_PKG_VERSION"));
    let mut page = Roff::new();
    page.control("TH", ["keyledger", "1", "", &version]);
    page.control("SH", ["NAME"]).text([roman(format!("keyledger - {about}"))]);
    page.control("SH", ["SYNOPSIS"]).text([bold("keyledger"), roman(" FILE COMMAND [OPTIONS]")]);
    page.control("SH", ["DESCRIPTION"]).text([roman(format!("{about}."))]);
    page.control("PP", []).text([roman(
        "A file that another process has open is reached through its admin socket, FILE.admin, where it has opened one. No command makes a \
         ledger. What changes something says what it will do, and asks.",
    )]);
    page.control("SH", ["COMMANDS"]);
    help_of_each(&command, &mut page);
    page.control("SH", ["ENVIRONMENT"]);
    for (name, what) in ENVIRONMENT {
        page.control("TP", []).text([bold(name)]).text([roman(what)]);
    }
    page.control("SH", ["EXIT STATUS"]);
    for (exit, what) in failure::exits() {
        page.control("TP", []).text([bold(exit.to_string())]).text([roman(what)]);
    }
    page.control("SH", ["EXAMPLES"]);
    verbatim(&mut page, body(&arguments::examples("keyledger")));
    Ok(page.to_writer(&mut io::stdout().lock())?)
}

/// Commands that only hold others are told by those.
fn help_of_each(command: &clap::Command, page: &mut Roff) {
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        if inner.has_subcommands() {
            help_of_each(inner, page);
            continue;
        }
        let name = inner.get_bin_name().unwrap_or_else(|| inner.get_name());
        page.control("SS", [name.trim_start_matches("keyledger ")]);
        verbatim(page, &inner.clone().term_width(WIDTH).render_help().to_string());
    }
}

/// Below a heading that the page has already.
fn body(text: &str) -> &str {
    text.split_once('\n').map_or(text, |(_, body)| body)
}

fn verbatim(page: &mut Roff, text: &str) {
    page.control("nf", []);
    for line in text.trim_end().lines() {
        page.text([roman(line)]);
    }
    page.control("fi", []);
}
