//! Commands about the outbox.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use keyledger::EntryStateName;

use super::Person;

#[derive(Subcommand, Debug)]
pub(crate) enum OutboxCommand {
    /// A page of entries, the oldest first
    List(EntryListArguments),
    /// One entry with all that it holds
    Show {
        /// Its number
        id: u64,
    },
    /// Send a dead entry again, with its own key
    Requeue {
        /// Its number
        id: u64,
    },
    /// Take an entry back, if no send can have taken effect
    Cancel {
        /// Its number
        id: u64,
    },
    /// Put an entry with a new key in the place of an unknown one. ONLY when no earlier send can still arrive
    Resend {
        /// Its number
        id: u64,
        #[command(flatten)]
        person: Person,
    },
    /// There are other credentials: what is held is due again
    #[command(group = clap::ArgGroup::new("which").required(true))]
    Resume {
        /// One entry that is held alone
        #[arg(group = "which")]
        id: Option<u64>,
        /// All that is held with the lanes of this scope
        #[arg(long, group = "which")]
        scope: Option<String>,
    },
    /// Give a dead or unknown entry up: it blocks its lane no more
    Dismiss {
        /// Its number
        id: u64,
        #[command(flatten)]
        person: Person,
    },
}

#[derive(Args, Debug)]
pub(crate) struct EntryListArguments {
    /// Those in this state
    #[arg(long, value_parser = PossibleValuesParser::new(EntryStateName::ALL.map(EntryStateName::as_str)))]
    pub(crate) state: Option<String>,
    /// Those of this scope
    #[arg(long)]
    pub(crate) scope: Option<String>,
    /// Those in this lane
    #[arg(long)]
    pub(crate) lane: Option<String>,
    /// Entries on a page
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: usize,
    /// The last entry of the page before
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<u64>,
    /// Every page
    #[arg(long)]
    pub(crate) all: bool,
}
