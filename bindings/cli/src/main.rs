//! `keyledger`: what a person on call needs to look into a ledger, to decide about what is parked in it, and to keep the file in shape.

#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod confirm;
mod damage;
mod decode;
mod failure;
mod holder;
mod interrupt;
mod output;
mod progress;
mod reach;
mod socket;
mod table;
mod words;

use std::io::Write;
use std::process::ExitCode;

use keyledger::admin::Fault;

use arguments::Unread;
use failure::Failure;

fn main() -> ExitCode {
    tell_no_panic_of_the_engine();
    let arguments = match arguments::read() {
        Ok(arguments) => arguments,
        Err(Unread::Text(text)) => return end(write!(std::io::stdout(), "{text}").map_err(Failure::from), false),
        Err(Unread::Wrong(failure, json)) => return tell(failure, json),
    };
    let json = arguments.manner.json;
    end(interrupt::listen().and_then(|()| commands::run(arguments)), json)
}

fn end(done: failure::Result<()>, json: bool) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => tell(failure, json),
    }
}

/// The storage engine panics at some kinds of damage. The ledger tells that as an error, so the panic itself is not told, too.
fn tell_no_panic_of_the_engine() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.location().is_some_and(|at| at.file().contains("redb-")) {
            tell(panic);
        }
    }));
}

/// Tells what went wrong: in JSON where that was asked for, as an object with `error`, on the standard error.
fn tell(failure: Failure, json: bool) -> ExitCode {
    let exit = failure.exit();
    let line = if json {
        let Failure { code, message } = failure;
        serde_json::to_string(&keyledger::admin::Line::Error(Fault { code, message })).unwrap_or_default()
    } else {
        format!("keyledger: {}", output::printable(&failure.message))
    };
    // With nobody there to be told, the exit code has to do.
    let _ = writeln!(std::io::stderr(), "{line}");
    ExitCode::from(exit)
}
