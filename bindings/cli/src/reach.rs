//! How a ledger is reached: its file, or the process that has the file open.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use keyledger::admin::{Fault, Line, Reply, Request, socket_beside};
use keyledger::{ErrorCode, Ledger};

use crate::failure::{Failure, Result};
use crate::holder;

/// A ledger that answers.
pub(crate) enum Reach {
    /// This process has it open.
    File(Ledger),
    /// Another one has, and answers through its admin socket.
    Socket(PathBuf),
}

/// How long the other process may take to answer: one that is stopped or hangs never does.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same for what takes its time on a large file.
const LONG_PATIENCE: Duration = Duration::from_mins(30);
/// How often a file that is soon let go of is tried.
const NAP: Duration = Duration::from_millis(20);

impl Reach {
    /// Opens the file, or finds the process that has it open. Makes no file.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        if let Err(error) = path.metadata() {
            return Err(cannot_look(path, &error));
        }
        let began = Instant::now();
        loop {
            let held = match Ledger::open(path) {
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
        let socket = socket_beside(&real);
        // A socket's own path may be too long where the link's is not.
        let socket = socket.read_link().unwrap_or(socket);
        if let Ok(stream) = connect(&socket) {
            drop(stream);
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
            Reach::Socket(path) => {
                if patience(request) == LONG_PATIENCE {
                    // Whether anybody is there at all is soon seen.
                    ask_through(path, &Request::Stats)?;
                }
                ask_through(path, request)
            }
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

fn patience(request: &Request) -> Duration {
    match request {
        Request::Check
        | Request::Compact { .. }
        | Request::Snapshot { .. }
        | Request::Sizes
        | Request::ForgetScope { .. } => LONG_PATIENCE,
        _ => PATIENCE,
    }
}

/// A person has this program in hand already, and names no file to be made.
fn for_a_person(error: keyledger::Error, path: &Path) -> Failure {
    let Failure { code, message } = error.into();
    if code == "unavailable" && File::open(path).is_ok() && File::options().write(true).open(path).is_err() {
        let advice = "it may only be read, and opening a ledger writes to it; look into a copy";
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

#[cfg(unix)]
fn connect(path: &Path) -> std::io::Result<std::os::unix::net::UnixStream> {
    std::os::unix::net::UnixStream::connect(path)
}

#[cfg(not(unix))]
fn connect(_: &Path) -> std::io::Result<std::net::TcpStream> {
    Err(ErrorKind::Unsupported.into())
}

/// One line there, one line back.
fn ask_through(path: &Path, request: &Request) -> Result<Reply> {
    let answer = answer_through(path, request).map_err(|error| no_answer(path, &error))?;
    let Some(answer) = answer.strip_suffix('\n') else {
        return Err(no_answer(path, &if answer.is_empty() { "it went away" } else { "it went away in mid-answer" }));
    };
    match serde_json::from_str(answer).map_err(|error| no_answer(path, &error))? {
        Line::Ok(reply) => Ok(reply),
        Line::Error(Fault { code, message }) if ["ambiguous", "poisoned"].contains(&code.as_str()) => {
            let whose = "the program that has the ledger open has to do that, or be started anew";
            Err(Failure::new(&code, format!("{message}: {whose}")))
        }
        Line::Error(fault) => Err(fault.into()),
    }
}

fn answer_through(path: &Path, request: &Request) -> std::io::Result<String> {
    let stream = connect(path)?;
    stream.set_read_timeout(Some(patience(request)))?;
    let mut line = serde_json::to_string(request)?;
    line.push('\n');
    (&stream).write_all(line.as_bytes())?;
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer)?;
    Ok(answer)
}

fn no_answer(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    let advice = "whether it has done what was asked is open, so look before you ask again";
    let who = "the process that has the ledger open did not answer";
    Failure::new("no_answer", format!("{}: {who}: {why}; {advice}", path.display()))
}
