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

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use keyledger::admin::{Reply, Request};

use crate::arguments::{Arguments, Command, Consent, OutboxCommand};
use crate::confirm;
use crate::failure::{Failure, Result};
use crate::output::{Output, Table};
use crate::reach::{Purpose, Reach};

/// So many of those that a question is about are shown.
const SHOWN_MAX: usize = 20;

/// What a command works with.
pub(crate) struct Desk {
    /// The ledger, while it is being asked.
    reach: RefCell<Option<Reach>>,
    purpose: Purpose,
    pub(crate) output: Output,
    /// The ledger's file.
    pub(crate) file: PathBuf,
}

impl Desk {
    /// A desk at a ledger that can be opened.
    fn at(file: &Path, purpose: Purpose, output: Output) -> Result<Self> {
        let reach = RefCell::new(Some(Reach::of(file, purpose)?));
        Ok(Self { reach, purpose, output, file: file.to_owned() })
    }

    /// Asks the ledger, and has its answer.
    pub(crate) fn ask(&self, request: &Request) -> Result<Reply> {
        let mut reach = self.reach.borrow_mut();
        if reach.is_none() {
            *reach = Some(Reach::of(&self.file, self.purpose)?);
        }
        reach.as_ref().map_or_else(|| Err(Failure::other_answer()), |reach| reach.ask(request))
    }

    /// Whether another process answers.
    pub(crate) fn is_live(&self) -> bool {
        self.reach.borrow().as_ref().is_some_and(Reach::is_live)
    }

    /// Shows the first of what a question is about: with the answer, or beside it where that is for a program.
    pub(crate) fn preview<T>(&self, found: &[T], table: impl FnOnce(&[T]) -> Table, consent: Consent) -> Result<()> {
        let output = if self.output.json { self.output.aside() } else { self.output };
        if self.output.json && !confirm::is_asked(consent.yes) {
            return Ok(());
        }
        let shown = &found[..found.len().min(SHOWN_MAX)];
        output.print(&table(shown))?;
        match found.len() - shown.len() {
            0 => Ok(()),
            more => output.line(format!("and {more} more")),
        }
    }

    /// Says what will be done, and returns if it may be. While a person thinks, the file is free for a program that wants it.
    pub(crate) fn confirm(&self, what: &str, consent: Consent) -> Result<()> {
        if !consent.yes {
            self.rest()?;
        }
        confirm::confirm(what, consent.yes)
    }

    /// Lets go of the file.
    fn rest(&self) -> Result<()> {
        self.reach.take().map_or(Ok(()), Reach::close)
    }

    /// The program and the file, as a shell reads them: what a command begins with.
    pub(crate) fn called(&self) -> String {
        format!("keyledger {}", crate::words::quoted(&self.file.to_string_lossy()))
    }
}

/// Does what the command line says.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let Arguments { file, manner, command } = arguments;
    let output = Output::new(manner);
    match command {
        Command::Completions { shell } => manual::completions(shell),
        Command::Man => manual::man(),
        Command::Bench { seconds, folder } => bench::run(output, seconds, folder.as_deref(), file.as_deref()),
        Command::Restore { from, consent } => restore::run(output, consent, named(file.as_deref())?, &from),
        Command::Watch { every, times } => watch::run(output, named(file.as_deref())?, every, times),
        Command::Resolve(arguments) => {
            // What the answer is, is read while the file is free.
            let outcome = resolve::outcome(&arguments)?;
            at_desk(output, file.as_deref(), Purpose::Change, |desk| resolve::run(desk, arguments, &outcome))
        }
        command => {
            let purpose = purpose_of(&command);
            at_desk(output, file.as_deref(), purpose, |desk| on_ledger(desk, command))
        }
    }
}

fn named(file: Option<&Path>) -> Result<&Path> {
    file.ok_or_else(|| Failure::usage("which file? name it before the command, or in KEYLEDGER_FILE"))
}

/// Whoever only looks leaves the file as it is.
fn purpose_of(command: &Command) -> Purpose {
    match command {
        Command::Stats { .. }
        | Command::List(_)
        | Command::Show { .. }
        | Command::Check
        | Command::Export { .. }
        | Command::Snapshot { .. }
        | Command::Outbox(OutboxCommand::List(_) | OutboxCommand::Show { .. }) => Purpose::Look,
        _ => Purpose::Change,
    }
}

fn at_desk(
    output: Output,
    file: Option<&Path>,
    purpose: Purpose,
    work: impl FnOnce(&Desk) -> Result<()>,
) -> Result<()> {
    let desk = Desk::at(named(file)?, purpose, output)?;
    let done = work(&desk);
    let closed = desk.rest();
    done.and(closed)
}

fn on_ledger(desk: &Desk, command: Command) -> Result<()> {
    match command {
        Command::Stats { sizes } => stats::run(desk, sizes),
        Command::List(arguments) => list::run(desk, arguments),
        Command::Show { id } => show::run(desk, id),
        Command::Forget { id, even_if_unknown, consent } => forget::one(desk, id, even_if_unknown, consent),
        Command::ForgetScope { scope, even_if_unknown, consent } => {
            forget::scope(desk, scope, even_if_unknown, consent)
        }
        Command::Sweep { batch, consent } => upkeep::sweep(desk, batch, consent),
        Command::Compact { even_with_claims, consent } => upkeep::compact(desk, even_with_claims, consent),
        Command::Check => upkeep::check(desk),
        Command::Snapshot { to } => upkeep::snapshot(desk, &to),
        Command::Export { without_outbox } => export::run(desk, without_outbox),
        Command::Outbox(command) => outbox::run(desk, command),
        Command::Resolve(_)
        | Command::Restore { .. }
        | Command::Watch { .. }
        | Command::Bench { .. }
        | Command::Completions { .. }
        | Command::Man => Err(Failure::invalid("this needs no open ledger")),
    }
}
