//! Which records, and what is done about them.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};

use super::values::{mark, said, span};
use super::{Consent, Person};

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
    /// Those with this key, whatever the scope and the operation
    #[arg(long = "key", value_name = "KEY", id = "filter_key")]
    pub(crate) key: Option<String>,
    /// Those first granted at least so long ago: 90s, 15m, 2h30m, 3d (a number alone is seconds)
    #[arg(long, value_parser = span, value_name = "AGE")]
    pub(crate) older_than: Option<Duration>,
    /// Those first granted at most so long ago
    #[arg(long, value_parser = span, value_name = "AGE")]
    pub(crate) newer_than: Option<Duration>,
}

#[derive(Args, Debug)]
pub(crate) struct ListArguments {
    /// Those in this state; a lapsed record that runs at most once counts as parked
    #[arg(long, value_enum)]
    pub(crate) state: Option<State>,
    #[command(flatten)]
    pub(crate) filter: RecordFilter,
    /// Records on a page
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = RangedU64ValueParser::<usize>::new().range(1..=100_000))]
    pub(crate) limit: usize,
    /// Where the page before ended, as it said
    #[arg(long, value_name = "MARK", value_parser = mark)]
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

/// Settle a parked record, or all that a filter lets through. What is said here is told to every retry from then on.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("outcome").required(true).multiple(false))]
pub(crate) struct ResolveArguments {
    /// Whose key it is
    #[arg(required_unless_present = "all", requires = "operation", conflicts_with = "all")]
    pub(crate) scope: Option<String>,
    /// What was being done
    #[arg(requires = "key", required_unless_present = "all")]
    pub(crate) operation: Option<String>,
    /// The caller's name for it
    #[arg(required_unless_present = "all")]
    pub(crate) key: Option<String>,
    /// It happened; the answer is in this file (- is the standard input)
    #[arg(long, value_name = "ANSWER", group = "outcome")]
    pub(crate) completed: Option<PathBuf>,
    /// It ended in a final no; the answer is in this file (- is the standard input)
    #[arg(long, value_name = "ANSWER", group = "outcome")]
    pub(crate) failed: Option<PathBuf>,
    /// It did not happen: the next one that asks runs it. ONLY when its old owner can no longer act
    #[arg(long, group = "outcome")]
    pub(crate) not_done: bool,
    #[command(flatten)]
    pub(crate) person: Person,
    /// The answer's media type; else by the file's name and content
    #[arg(long, value_name = "TYPE", value_parser = said)]
    pub(crate) media_type: Option<String>,
    /// The fence that was looked at; else the one that the record has now
    #[arg(long, value_name = "NUMBER", conflicts_with = "all")]
    pub(crate) fence: Option<u64>,
    #[command(flatten)]
    pub(crate) consent: Consent,
    /// All parked records that the filter lets through; they are shown before the question
    #[arg(long, help_heading = "Many at once")]
    pub(crate) all: bool,
    #[command(flatten, next_help_heading = "Many at once")]
    pub(crate) filter: RecordFilter,
}
