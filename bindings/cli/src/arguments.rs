//! The command line.

mod help;
mod outbox;
mod record;
mod usage;
mod values;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use help::{command, examples};
pub(crate) use outbox::{EntryFilter, EntryListArguments, OutboxCommand, Which};
pub(crate) use record::{KeyId, ListArguments, RecordFilter, ResolveArguments};
pub(crate) use usage::{Unread, read};
pub(crate) use values::span;
use values::{pause, said};

/// Looks into a keyledger file, decides about what is parked in it, and keeps it in shape.
#[derive(Parser, Debug)]
#[command(name = "keyledger", version, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// The ledger file (a file named like a command is written ./stats)
    #[arg(env = "KEYLEDGER_FILE", hide_env_values = true)]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) manner: Manner,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How to answer.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = help::GLOBAL)]
pub(crate) struct Manner {
    /// Answer in JSON: one object, or one to a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to colour
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub(crate) color: Colour,
}

/// Whether to ask.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct Consent {
    /// Do it without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
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
        #[command(flatten)]
        consent: Consent,
    },
    /// Remove every record and settled entry of a scope
    ForgetScope {
        /// Whose records
        scope: String,
        /// Also what is in progress, parked or unsettled: then it may run again
        #[arg(long)]
        even_if_unknown: bool,
        #[command(flatten)]
        consent: Consent,
    },
    /// Turn records past their time into tombstones, and old tombstones into nothing
    Sweep {
        /// Records in one transaction
        #[arg(long, value_name = "NUMBER", default_value_t = 1000, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
        batch: usize,
        #[command(flatten)]
        consent: Consent,
    },
    /// Give free pages back to the file system
    Compact {
        /// Also while there are claims
        #[arg(long)]
        even_with_claims: bool,
        #[command(flatten)]
        consent: Consent,
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
        #[command(flatten)]
        consent: Consent,
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
        #[arg(long, default_value = "1s", value_parser = pause, value_name = "SPAN")]
        every: Duration,
        /// End after so many looks
        #[arg(long, value_name = "NUMBER")]
        times: Option<u64>,
    },
    /// The outbox: requests that wait to be sent, and what became of them
    #[command(subcommand)]
    Outbox(OutboxCommand),
    /// What the disk gives: synced writes, and begin with complete at 1, 8 and 64 callers
    Bench {
        /// Seconds in all
        #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
        seconds: u64,
        /// A folder on the disk; else that of the file, else the current one
        #[arg(long)]
        folder: Option<PathBuf>,
    },
    /// Completions for a shell
    #[command(help_template = help::OF_SHELL)]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// The manual page
    #[command(help_template = help::PLAIN)]
    Man,
}

/// Who decides, and why. It stays in the audit trail.
#[derive(Args, Debug, Clone)]
pub(crate) struct Person {
    /// Who decides
    #[arg(long, env = "KEYLEDGER_WHO", hide_env_values = true, value_name = "NAME", value_parser = said)]
    pub(crate) who: String,
    /// Why
    #[arg(long, value_name = "WHY", value_parser = said)]
    pub(crate) note: String,
}

impl Command {
    /// Whether it is about a ledger.
    fn needs_file(&self) -> bool {
        !matches!(self, Command::Bench { .. } | Command::Completions { .. } | Command::Man)
    }
}
