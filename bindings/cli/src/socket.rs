//! Asking the process that has a ledger open, through its admin socket: one line there, one line back.

use std::io::{BufRead, BufReader, ErrorKind, Result as IoResult, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use keyledger::admin::{Fault, Line, Reply, Request, socket_beside};

use crate::arguments::span;
use crate::failure::{Failure, Result};
use crate::holder;

#[cfg(not(unix))]
use std::net::TcpStream as Stream;
#[cfg(unix)]
use std::os::unix::net::UnixStream as Stream;

/// How long the other process may be silent. While it works it sends a blank each second, however long that takes; one that is stopped or hangs
/// sends none.
const PATIENCE: Duration = Duration::from_secs(20);
/// Another patience than that.
pub(crate) const VARIABLE: &str = "KEYLEDGER_PATIENCE";

/// The admin socket of a ledger.
pub(crate) struct Socket {
    path: PathBuf,
    /// The ledger's file.
    file: PathBuf,
    patience: Duration,
}

impl Socket {
    /// That of the ledger in `file`, if somebody answers there.
    pub(crate) fn of(file: &Path) -> Result<Option<Self>> {
        let beside = socket_beside(file);
        // A socket's own path may be too long where the link's is not.
        let path = beside.read_link().unwrap_or(beside);
        let socket = Self { path, file: file.to_owned(), patience: patience()? };
        match connect(&socket.path, socket.patience) {
            Ok(_) => Ok(Some(socket)),
            Err(error) if error.kind() == ErrorKind::TimedOut => Err(socket.was_silent()),
            Err(_) => Ok(None),
        }
    }

    /// Asks, and has the answer.
    pub(crate) fn ask(&self, request: &Request) -> Result<Reply> {
        let answer = self.answer(request).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => self.was_silent(),
            _ => self.gave_none(&error),
        })?;
        let Some(answer) = answer.strip_suffix('\n') else {
            let what = if answer.trim().is_empty() { "it went away" } else { "it went away in mid-answer" };
            return Err(self.gave_none(&what));
        };
        match serde_json::from_str(answer).map_err(|error| self.gave_none(&error))? {
            Line::Ok(reply) => Ok(reply),
            Line::Error(Fault { code, message }) if ["ambiguous", "poisoned"].contains(&code.as_str()) => {
                let whose = "the program that has the ledger open has to do that, or be started anew";
                Err(Failure::new(&code, format!("{message}: {whose}")))
            }
            Line::Error(fault) => Err(fault.into()),
        }
    }

    fn answer(&self, request: &Request) -> IoResult<String> {
        let stream = connect(&self.path, self.patience)?;
        stream.set_write_timeout(Some(self.patience))?;
        // Of each read, and so each blank that comes begins it anew.
        stream.set_read_timeout(Some(self.patience))?;
        let mut line = serde_json::to_string(request)?;
        line.push('\n');
        (&stream).write_all(line.as_bytes())?;
        let mut answer = String::new();
        BufReader::new(&stream).read_line(&mut answer)?;
        Ok(answer)
    }

    fn was_silent(&self) -> Failure {
        let others = holder::others(&self.file);
        let who = if others.is_empty() { "it" } else { &others };
        self.gave_none(&format!("{who} was silent for {} s, so it is stopped or hangs", self.patience.as_secs_f64()))
    }

    fn gave_none(&self, why: &dyn std::fmt::Display) -> Failure {
        let advice = "whether it has done what was asked is open, so look before you ask again";
        let who = "the process that has the ledger open did not answer";
        Failure::new("no_answer", format!("{}: {who}: {why}; {advice}", self.path.display()))
    }
}

fn patience() -> Result<Duration> {
    let Ok(text) = std::env::var(VARIABLE) else { return Ok(PATIENCE) };
    match span(&text) {
        Ok(Duration::ZERO) => Err(Failure::usage(format!("{VARIABLE}={text}: nobody answers in no time"))),
        Ok(patience) => Ok(patience),
        Err(advice) => Err(Failure::usage(format!("{VARIABLE}={text}: {advice}"))),
    }
}

/// A process that is stopped takes nobody in any more, and whoever comes when enough others wait there would wait without end.
fn connect(path: &Path, patience: Duration) -> IoResult<Stream> {
    let (tell, told) = channel();
    let path = path.to_owned();
    std::thread::Builder::new().spawn(move || tell.send(open(&path)))?;
    told.recv_timeout(patience).unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

#[cfg(unix)]
fn open(path: &Path) -> IoResult<Stream> {
    Stream::connect(path)
}

#[cfg(not(unix))]
fn open(_: &Path) -> IoResult<Stream> {
    Err(ErrorKind::Unsupported.into())
}
