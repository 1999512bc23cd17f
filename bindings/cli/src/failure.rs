//! Why a command did not do what was asked, and the exit code that says so.

use keyledger::admin::Fault;

/// Exit codes, each with the codes of contract section 11, and of this program, that it stands for.
pub(crate) const EXITS: &[(u8, &str, &[&str])] = &[
    (1, "it was looked at, and is not well, or not as asked for", &["not_well", "too_late"]),
    (2, "not a command line of this program", &["usage"]),
    (3, "there is no such record, entry or file", &["not_found", "no_file"]),
    (
        4,
        "its state does not allow that",
        &["not_parked", "wrong_state", "purpose_conflict", "key_conflict", "outbox_full", "claim_lost", "file_exists"],
    ),
    (5, "what was asked for is malformed", &["invalid_key", "invalid_argument", "too_large"]),
    (6, "another process has the file open", &["already_open"]),
    (7, "not available right now, or not permitted", &["unavailable"]),
    (8, "not a ledger, or one of another format", &["wrong_format"]),
    (9, "the file is damaged", &["corrupt"]),
    (10, "the system refused to read or write", &["storage", "ambiguous", "poisoned", "stdout"]),
    (11, "not confirmed: nothing was done", &["not_confirmed"]),
    (12, "the process that has the file open did not answer", &["no_answer", "closed", "suspended", "forked"]),
];

/// The code of what nobody is told: whoever reads the answer has seen enough, as `head` has.
const CLOSED: &str = "closed_pipe";
/// What a shell says of a program that was interrupted.
pub(crate) const INTERRUPTED_EXIT: i32 = 130;

/// What went wrong: a code, and a sentence with advice.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) message: String,
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }

    /// It is not a command line of this program.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new("usage", message)
    }

    /// What somebody asks for cannot be meant.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new("invalid_argument", message)
    }

    /// Whether a part of the file cannot be read.
    pub(crate) fn is_damage(&self) -> bool {
        self.code == "corrupt"
    }

    /// Whether the end is no failure to anybody.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        self.code == CLOSED
    }

    /// A file that is no ledger's: an answer's, a snapshot's, a copy's.
    pub(crate) fn of_file(path: &std::path::Path, error: &std::io::Error) -> Self {
        let code = match error.kind() {
            std::io::ErrorKind::NotFound => "no_file",
            std::io::ErrorKind::AlreadyExists => "file_exists",
            std::io::ErrorKind::PermissionDenied => "unavailable",
            _ => "storage",
        };
        Self::new(code, format!("{}: {error}{}", path.display(), advice_on(error)))
    }

    /// Another kind of answer than the one that belongs to the request.
    pub(crate) fn other_answer() -> Self {
        Self::new("no_answer", "the answer is of another kind; is the program that has the file open of this version?")
    }

    /// The exit code for it.
    pub(crate) fn exit(&self) -> u8 {
        let exit = EXITS.iter().find(|(_, _, codes)| codes.contains(&self.code.as_str()));
        exit.map_or(1, |(exit, ..)| *exit)
    }
}

impl From<Fault> for Failure {
    fn from(Fault { code, message }: Fault) -> Self {
        Self { code, message }
    }
}

/// This program's own handle is gone when the program ends, so what a handle is advised is not what a person is.
impl From<keyledger::Error> for Failure {
    fn from(error: keyledger::Error) -> Self {
        let again = match &error {
            keyledger::Error::Ambiguous(why) => Some(format!(
                "it is open whether this was stored ({why}). Make room if the disk is full, then run it again: what was stored \
                 is not stored twice"
            )),
            keyledger::Error::Poisoned => {
                Some("an earlier write failed, so nothing more was done; run it again".to_owned())
            }
            _ => None,
        };
        let Fault { code, message } = error.into();
        Self { code, message: again.unwrap_or(message) }
    }
}

/// Where there is no room, somebody has to make some.
fn advice_on(error: &std::io::Error) -> &'static str {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let is_full = matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge);
    if is_full { ". Make room on the disk, then try again" } else { "" }
}

/// What cannot be printed, since nobody reads it any more or the disk behind it is full.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let code = if error.kind() == std::io::ErrorKind::BrokenPipe { CLOSED } else { "stdout" };
        Self::new(code, format!("cannot write the answer: {error}{}", advice_on(&error)))
    }
}

/// Every exit code, and what it says.
pub(crate) fn exits() -> impl Iterator<Item = (i32, String)> {
    let failed = EXITS.iter().map(|(exit, what, codes)| (i32::from(*exit), format!("{what} ({})", codes.join(", "))));
    let interrupted = (INTERRUPTED_EXIT, "interrupted; the file is as after the last commit".to_owned());
    [(0, "done".to_owned())].into_iter().chain(failed).chain([interrupted])
}

/// The table for `--help`.
pub(crate) fn exits_in_words() -> String {
    let lines: Vec<String> = exits().map(|(exit, what)| format!("  {exit:>3}  {what}")).collect();
    format!("Exit codes:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_exit_and_no_code_stands_for_two_things() {
        let mut exits: Vec<u8> = EXITS.iter().map(|(exit, ..)| *exit).chain([0]).collect();
        let mut codes: Vec<&str> = EXITS.iter().flat_map(|(.., codes)| *codes).copied().collect();
        for (given, distinct) in [
            (exits.len(), {
                exits.sort_unstable();
                exits.dedup();
                exits.len()
            }),
            (codes.len(), {
                codes.sort_unstable();
                codes.dedup();
                codes.len()
            }),
        ] {
            assert_eq!(given, distinct);
        }
    }
}
