//! The commands.

mod bench;
mod export;
mod forget;
mod list;
mod manual;
mod outbox;
mod resolve;
mod restore;
mod show;
mod stats;
mod upkeep;
mod watch;

use std::path::{Path, PathBuf};

use crate::arguments::{Arguments, Command};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::reach::Reach;

/// What a command works with.
pub(crate) struct Desk {
    pub(crate) reach: Reach,
    pub(crate) output: Output,
    /// Not to be asked.
    pub(crate) yes: bool,
    /// The ledger's file.
    pub(crate) file: PathBuf,
}

/// Does what the command line says.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let Arguments { file, manner, command } = arguments;
    let output = Output::new(manner);
    match command {
        Command::Completions { shell } => manual::completions(shell),
        Command::Man => manual::man(),
        Command::Bench { seconds, folder } => bench::run(output, seconds, folder.as_deref(), file.as_deref()),
        Command::Restore { from } => restore::run(output, manner.yes, named(file.as_deref())?, &from),
        Command::Watch { every, times } => watch::run(output, named(file.as_deref())?, every, times),
        command => {
            let file = named(file.as_deref())?.to_owned();
            let desk = Desk { reach: Reach::of(&file)?, output, yes: manner.yes, file };
            let done = on_ledger(&desk, command);
            let closed = desk.reach.close();
            done.and(closed)
        }
    }
}

fn named(file: Option<&Path>) -> Result<&Path> {
    file.ok_or_else(|| Failure::invalid("which file? name it before the command, or in KEYLEDGER_FILE"))
}

fn on_ledger(desk: &Desk, command: Command) -> Result<()> {
    match command {
        Command::Stats { sizes } => stats::run(desk, sizes),
        Command::List(arguments) => list::run(desk, arguments),
        Command::Show { id } => show::run(desk, id),
        Command::Resolve(arguments) => resolve::run(desk, arguments),
        Command::Forget { id, even_if_unknown } => forget::one(desk, id, even_if_unknown),
        Command::ForgetScope { scope, even_if_unknown } => forget::scope(desk, scope, even_if_unknown),
        Command::Sweep { batch } => upkeep::sweep(desk, batch),
        Command::Compact { even_with_claims } => upkeep::compact(desk, even_with_claims),
        Command::Check => upkeep::check(desk),
        Command::Snapshot { to } => upkeep::snapshot(desk, &to),
        Command::Export { without_outbox } => export::run(desk, without_outbox),
        Command::Outbox(command) => outbox::run(desk, command),
        Command::Restore { .. }
        | Command::Watch { .. }
        | Command::Bench { .. }
        | Command::Completions { .. }
        | Command::Man => Err(Failure::invalid("this needs no open ledger")),
    }
}
