//! Commands about the outbox.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use clap::{Args, Subcommand};
use keyledger::EntryStateName;

use super::values::{said, span};
use super::{Consent, Person};

#[derive(Subcommand, Debug)]
pub(crate) enum OutboxCommand {
    /// A page of entries, the oldest first
    List(EntryListArguments),
    /// One entry with all that it holds
    Show {
        /// Its number
        id: u64,
    },
    /// Send a dead entry again, with its own key; or all dead ones that a filter lets through
    Requeue {
        #[command(flatten)]
        consent: Consent,
        #[command(flatten)]
        which: Which,
    },
    /// Take an entry back, if no send can have taken effect; or all that a filter lets through
    Cancel {
        #[command(flatten)]
        consent: Consent,
        #[command(flatten)]
        which: Which,
    },
    /// Put an entry with a new key in the place of an unknown one. ONLY when no earlier send can still arrive
    Resend {
        /// Its number
        id: u64,
        #[command(flatten)]
        person: Person,
        #[command(flatten)]
        consent: Consent,
    },
    /// There are other credentials: what is held is due again
    #[command(group = clap::ArgGroup::new("held").required(true))]
    Resume {
        /// One entry that is held alone
        #[arg(group = "held")]
        id: Option<u64>,
        /// All that is held with the lanes of this scope
        #[arg(long, group = "held")]
        scope: Option<String>,
        #[command(flatten)]
        consent: Consent,
    },
    /// Give a dead or unknown entry up: it blocks its lane no more; or all that a filter lets through
    Dismiss {
        #[command(flatten)]
        person: Person,
        #[command(flatten)]
        consent: Consent,
        #[command(flatten)]
        which: Which,
    },
}

/// One entry, or all that a filter lets through.
#[derive(Args, Debug)]
pub(crate) struct Which {
    /// Its number
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) id: Option<u64>,
    /// All that this can be done to and that the filter lets through; they are shown before the question
    #[arg(long, help_heading = "Many at once")]
    pub(crate) all: bool,
    #[command(flatten, next_help_heading = "Many at once")]
    pub(crate) filter: EntryFilter,
}

/// Which entries.
#[derive(Args, Debug, Clone)]
pub(crate) struct EntryFilter {
    /// Those of this scope
    #[arg(long)]
    pub(crate) scope: Option<String>,
    /// Those in this lane
    #[arg(long)]
    pub(crate) lane: Option<String>,
    /// Those of this operation
    #[arg(long, value_name = "NAME", value_parser = said)]
    pub(crate) operation: Option<String>,
    /// Those enqueued at least so long ago: 90s, 15m, 2h30m, 3d (a number alone is seconds)
    #[arg(long, value_parser = span, value_name = "AGE")]
    pub(crate) older_than: Option<Duration>,
}

#[derive(Args, Debug)]
pub(crate) struct EntryListArguments {
    /// Those in this state
    #[arg(long, value_parser = PossibleValuesParser::new(EntryStateName::ALL.map(EntryStateName::as_str)))]
    pub(crate) state: Option<String>,
    #[command(flatten)]
    pub(crate) filter: EntryFilter,
    /// Entries on a page
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = RangedU64ValueParser::<usize>::new().range(1..=100_000))]
    pub(crate) limit: usize,
    /// The last entry of the page before
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<u64>,
    /// Every page
    #[arg(long)]
    pub(crate) all: bool,
}
