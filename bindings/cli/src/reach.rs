//! How a ledger is reached: its file, or the process that has the file open.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use keyledger::admin::{Reply, Request};
use keyledger::{ErrorCode, Ledger};

use crate::failure::{Failure, Result};
use crate::holder;
use crate::socket::Socket;

/// What a ledger is reached for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Not a byte of the file is changed.
    Look,
    Change,
}

/// A ledger that answers.
pub(crate) enum Reach {
    /// This process has it open.
    File(Ledger),
    /// Another one has, and answers through its admin socket.
    Socket(Socket),
}

/// How often a file that is soon let go of is tried.
const NAP: Duration = Duration::from_millis(20);

impl Reach {
    /// Opens the file, or finds the process that has it open. Makes no file.
    pub(crate) fn of(path: &Path, purpose: Purpose) -> Result<Self> {
        if let Err(error) = path.metadata() {
            return Err(cannot_look(path, &error));
        }
        let began = Instant::now();
        loop {
            let builder = Ledger::builder();
            let builder = if purpose == Purpose::Look { builder.read_only() } else { builder };
            let held = match builder.open(path) {
                Ok(ledger) => return Ok(Reach::File(ledger)),
                Err(error) if error.code() == ErrorCode::AlreadyOpen => Self::of_open(path),
                Err(error) => return Err(for_a_person(error, path)),
            };
            // Somebody else at a shell: a command is soon done.
            match held {
                Err(failure) if failure.code == "already_open" && began.elapsed() < holder::patience(path) => {
                    std::thread::sleep(NAP);
                }
                reached => return reached,
            }
        }
    }

    fn of_open(path: &Path) -> Result<Self> {
        let real = path.canonicalize().map_err(|error| cannot_look(path, &error))?;
        if let Some(socket) = Socket::of(&real)? {
            return Ok(Reach::Socket(socket));
        }
        match Ledger::builder().shared().open(path) {
            Ok(ledger) => Ok(Reach::File(ledger)),
            Err(error) if error.code() == ErrorCode::AlreadyOpen => Err(holder::held(&real)),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether another process answers.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self, Reach::Socket(_))
    }

    /// Asks, and has the answer.
    pub(crate) fn ask(&self, request: &Request) -> Result<Reply> {
        match self {
            Reach::File(ledger) => Ok(ledger.administer(request)?),
            Reach::Socket(socket) => socket.ask(request),
        }
    }

    /// Lets go of the file in good order.
    pub(crate) fn close(self) -> Result<()> {
        match self {
            Reach::File(ledger) => match ledger.close() {
                // What it found has been told; a file that is that much damaged is left as it is.
                Err(error) if error.code() == ErrorCode::Poisoned => Ok(()),
                closed => Ok(closed?),
            },
            Reach::Socket(_) => Ok(()),
        }
    }
}

/// A person has this program in hand already, and names no file to be made.
fn for_a_person(error: keyledger::Error, path: &Path) -> Failure {
    let Failure { code, message } = error.into();
    if code == "unavailable" && File::open(path).is_ok() && File::options().write(true).open(path).is_err() {
        let advice = "it may only be read, and this writes to it";
        return Failure { code, message: format!("{message}; {advice}") };
    }
    let message = message.replace(", or look into it with the command line", "");
    Failure { code, message: message.replace("choose another path", "name a ledger") }
}

fn cannot_look(path: &Path, error: &std::io::Error) -> Failure {
    if error.kind() == ErrorKind::NotFound {
        return Failure::new("no_file", format!("{}: there is no such file; this program makes none", path.display()));
    }
    Failure::new("unavailable", format!("{}: {error}", path.display()))
}
