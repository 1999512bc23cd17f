//! Reading the command line, and saying what is wrong with it.

use std::ffi::OsString;
use std::path::Path;

use clap::FromArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::{Arguments, command};
use crate::failure::Failure;

/// What reading comes to where there is nothing to do.
pub(crate) enum Unread {
    /// A text that was asked for.
    Text(String),
    /// A line that is none; whether the answer is wanted in JSON.
    Wrong(Failure, bool),
}

/// The command line of this process.
pub(crate) fn read() -> Result<Arguments, Unread> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let matches = command().try_get_matches_from(&words).map_err(|error| unread(&error, &words))?;
    let arguments = Arguments::from_arg_matches(&matches).map_err(|error| unread(&error, &words))?;
    if arguments.file.is_none() && arguments.command.needs_file() {
        let hint = misplaced(None, &words).unwrap_or_else(|| "name it before the command, or in KEYLEDGER_FILE".into());
        return Err(Unread::Wrong(Failure::usage(format!("which file? {hint}")), arguments.manner.json));
    }
    Ok(arguments)
}

fn unread(error: &clap::Error, words: &[OsString]) -> Unread {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return Unread::Text(error.render().to_string());
    }
    let text = error.render().to_string();
    let mut text = text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned();
    let unexpected = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => Some(word.as_str()),
        _ => None,
    };
    if let Some(hint) = misplaced(unexpected, words) {
        // What clap supposes is beside the point.
        text = format!("{}\n\n{hint}", text.lines().next().unwrap_or_default());
    }
    Unread::Wrong(Failure::usage(text), words.iter().any(|word| word == "--json"))
}

/// Where the file stands behind the command: how it should have been written.
fn misplaced(unexpected: Option<&str>, words: &[OsString]) -> Option<String> {
    let words: Vec<&str> = words.iter().skip(1).filter_map(|word| word.to_str()).collect();
    let at = words.iter().position(|word| !word.starts_with('-'))?;
    command().find_subcommand(words[at])?;
    if std::env::var_os("KEYLEDGER_FILE").is_some() {
        return None;
    }
    let is_ledger = |word: &&&str| Path::new(**word).is_file() && !word.starts_with('-');
    let file = words[at + 1..].iter().find(is_ledger).copied();
    let file = file.or_else(|| unexpected.filter(|word| !word.starts_with('-')))?;
    let rest: Vec<String> = words.iter().filter(|word| **word != file).map(|word| crate::words::quoted(word)).collect();
    Some(format!("the file comes before the command: keyledger {} {}", crate::words::quoted(file), rest.join(" ")))
}
