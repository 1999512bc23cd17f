//! The command line.

mod outbox;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use outbox::{EntryListArguments, OutboxCommand};

/// Looks into a keyledger file, decides about what is parked in it, and keeps it in shape.
#[derive(Parser, Debug)]
#[command(name = "keyledger", version, subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = crate::failure::exits_in_words())]
pub(crate) struct Arguments {
    /// The ledger file (a file named like a command is written ./stats)
    #[arg(env = "KEYLEDGER_FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) manner: Manner,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How to answer and to ask.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// Answer in JSON: one object, or one to a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Do it without asking
    #[arg(long, short, global = true)]
    pub(crate) yes: bool,
    /// When to colour
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto)]
    pub(crate) color: Colour,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    Always,
    Never,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// How ledger and outbox stand
    Stats {
        /// Walk the file for free and leaked bytes as well
        #[arg(long)]
        sizes: bool,
    },
    /// A page of records: first those that are parked or lapsed
    List(ListArguments),
    /// One record with all that it holds
    Show {
        #[command(flatten)]
        id: KeyId,
    },
    /// Settle a parked record, or all that a filter lets through
    Resolve(ResolveArguments),
    /// Remove one record
    Forget {
        #[command(flatten)]
        id: KeyId,
        /// Also if it is in progress or parked: then it may run again
        #[arg(long)]
        even_if_unknown: bool,
    },
    /// Remove every record and settled entry of a scope
    ForgetScope {
        /// Whose records
        scope: String,
        /// Also what is in progress, parked or unsettled: then it may run again
        #[arg(long)]
        even_if_unknown: bool,
    },
    /// Turn records past their time into tombstones, and old tombstones into nothing
    Sweep {
        /// Records in one transaction
        #[arg(long, default_value_t = 1000)]
        batch: usize,
    },
    /// Give free pages back to the file system
    Compact {
        /// Also while there are claims
        #[arg(long)]
        even_with_claims: bool,
    },
    /// Check pages, records, indexes, counters and format
    Check,
    /// Write a consistent copy into a new file
    Snapshot {
        /// The new file
        to: PathBuf,
    },
    /// Put a copy of a snapshot in the place of the file
    Restore {
        /// The snapshot
        from: PathBuf,
    },
    /// Every record as a line of JSON, then every entry of the outbox
    Export {
        /// Records alone
        #[arg(long)]
        without_outbox: bool,
    },
    /// Counts and rates, again and again
    Watch {
        /// How often
        #[arg(long, default_value = "1s", value_parser = span)]
        every: Duration,
        /// End after so many looks
        #[arg(long)]
        times: Option<u64>,
    },
    /// The outbox: requests that wait to be sent, and what became of them
    #[command(subcommand)]
    Outbox(OutboxCommand),
    /// What the disk gives: synced writes, and begin with complete at 1, 8 and 64 callers
    Bench {
        /// Seconds in all
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// A folder on the disk; else that of the file, else the current one
        #[arg(long)]
        folder: Option<PathBuf>,
    },
    /// Completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// The manual page
    Man,
}

/// A key id: three arguments, each as the program wrote it.
#[derive(Args, Debug, Clone)]
pub(crate) struct KeyId {
    /// Whose key it is
    pub(crate) scope: String,
    /// What was being done
    pub(crate) operation: String,
    /// The caller's name for it
    pub(crate) key: String,
}

/// Which records.
#[derive(Args, Debug, Clone)]
pub(crate) struct RecordFilter {
    /// Those of this operation
    #[arg(long = "operation", value_name = "NAME", id = "filter_operation")]
    pub(crate) operation: Option<String>,
    /// Those of this scope
    #[arg(long = "scope", value_name = "SCOPE", id = "filter_scope")]
    pub(crate) scope: Option<String>,
    /// Those first granted at least so long ago: 90s, 15m, 2h30m, 3d
    #[arg(long, value_parser = span, value_name = "AGE")]
    pub(crate) older_than: Option<Duration>,
}

#[derive(Args, Debug)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) filter: RecordFilter,
    /// Those in this state; a lapsed record that runs at most once counts as parked
    #[arg(long, value_enum)]
    pub(crate) state: Option<State>,
    /// Records on a page
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: usize,
    /// Where the page before ended, as it said
    #[arg(long, value_name = "MARK")]
    pub(crate) after: Option<String>,
    /// Every page
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
#[value(rename_all = "snake_case")]
pub(crate) enum State {
    Parked,
    InProgress,
    Released,
    Completed,
    Failed,
    Tombstone,
}

/// Settle a parked record, or all that a filter lets through. What is said here is told to every retry from then on.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("outcome").required(true).multiple(false))]
pub(crate) struct ResolveArguments {
    /// Scope, operation and key of one record
    #[arg(num_args = 3, value_names = ["SCOPE", "OPERATION", "KEY"], required_unless_present = "all")]
    pub(crate) id: Vec<String>,
    /// All parked records that the filter lets through; they are shown before the question
    #[arg(long, conflicts_with = "id")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) filter: RecordFilter,
    /// It happened; the answer is in this file (- is the standard input)
    #[arg(long, value_name = "FILE", group = "outcome")]
    pub(crate) completed: Option<PathBuf>,
    /// It ended in a final no; the answer is in this file (- is the standard input)
    #[arg(long, value_name = "FILE", group = "outcome")]
    pub(crate) failed: Option<PathBuf>,
    /// It did not happen: the next one that asks runs it. ONLY when its old owner can no longer act
    #[arg(long, group = "outcome")]
    pub(crate) not_done: bool,
    /// The answer's media type; else by the file's name and content
    #[arg(long)]
    pub(crate) media_type: Option<String>,
    /// The fence that was looked at; else the one that the record has now
    #[arg(long, conflicts_with = "all")]
    pub(crate) fence: Option<u64>,
    #[command(flatten)]
    pub(crate) person: Person,
}

/// Who decides, and why. It stays in the audit trail.
#[derive(Args, Debug, Clone)]
pub(crate) struct Person {
    /// Who decides
    #[arg(long, env = "KEYLEDGER_WHO")]
    pub(crate) who: String,
    /// Why
    #[arg(long)]
    pub(crate) note: String,
}

impl State {
    pub(crate) fn name(self) -> &'static str {
        match self {
            State::Parked => "parked",
            State::InProgress => "in_progress",
            State::Released => "released",
            State::Completed => "completed",
            State::Failed => "failed",
            State::Tombstone => "tombstone",
        }
    }
}

/// A length of time as people write it: a number alone is seconds, days have 24 hours.
fn span(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    let (number, unit) = text.split_at(text.len() - text.chars().next_back().map_or(0, char::len_utf8));
    if let ("d", Ok(days)) = (unit, number.parse::<u64>()) {
        return Ok(Duration::from_hours(days.saturating_mul(24)));
    }
    let span: jiff::SignedDuration =
        text.parse().map_err(|error: jiff::Error| format!("{error}: write 90s, 15m, 2h30m, 3d"))?;
    span.try_into().map_err(|_| "it must not be negative".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn spans_are_read_as_people_write_them() {
        assert_eq!(span("90"), Ok(Duration::from_secs(90)));
        assert_eq!(span("2h30m"), Ok(Duration::from_mins(150)));
        assert_eq!(span("3d"), Ok(Duration::from_hours(72)));
        for bad in ["", "-5s", "soon", "3ü"] {
            assert!(span(bad).is_err(), "{bad}");
        }
    }
}
