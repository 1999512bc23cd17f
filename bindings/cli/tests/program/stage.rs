//! A folder with a ledger in it, and the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use keyledger::{Begin, Claim, Decision, Fingerprint, Key, Ledger, Operation, Response, Scope};
use serde_json::Value;

pub(crate) static CHARGE: Operation = Operation::repeatable("POST /v1/charges");
pub(crate) static MAIL: Operation = Operation::at_most_once("mail").lease(Duration::from_millis(1));

pub(crate) struct Stage {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) file: PathBuf,
}

/// How the program ended, and what it said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) exit: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Stage {
    /// A folder without a ledger.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("payments.kl");
        Self { folder, file }
    }

    /// A ledger with a record in each state, closed.
    pub(crate) fn filled() -> Self {
        let stage = Self::empty();
        let ledger = stage.open();
        fill(&ledger);
        ledger.close().expect("it closes");
        stage
    }

    pub(crate) fn open(&self) -> Ledger {
        Ledger::open(&self.file).expect("a ledger")
    }

    /// The program on the ledger's file; it is not asked at a terminal.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_keyledger"));
        command.arg(&self.file).args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env_remove("KEYLEDGER_FILE").env_remove("KEYLEDGER_WHO");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        said(self.command(arguments).output().expect("the program runs"))
    }

    /// What it answers, where all goes well.
    pub(crate) fn answer(&self, arguments: &[&str]) -> String {
        let said = self.run(arguments);
        assert_eq!(said.exit, Some(0), "{arguments:?}: {said:?}");
        said.out
    }

    /// The same as JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        let text = self.answer(&all);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
    }

    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file beside the ledger.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> String {
        std::fs::write(self.beside(name), bytes).expect("it is written");
        name.to_owned()
    }
}

pub(crate) fn said(output: Output) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is text");
    Said { exit: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

pub(crate) fn begin(ledger: &Ledger, operation: &Operation, scope: &str, key: &str) -> Decision {
    let (scope, key) = (Scope::new(scope).expect("a scope"), Key::new(key).expect("a key"));
    ledger
        .begin_with(&Begin::new(operation, &scope, &key, Fingerprint::of_bytes(&[b"asked"])).memo("order 1034"))
        .expect("an answer")
}

pub(crate) fn claim(ledger: &Ledger, operation: &Operation, scope: &str, key: &str) -> Claim {
    match begin(ledger, operation, scope, key) {
        Decision::Acquired(claim) => claim,
        other => panic!("not granted: {other:?}"),
    }
}

/// A record in each state, and an AtMostOnce one whose owner is lost.
fn fill(ledger: &Ledger) {
    let charge = |key: &str| claim(ledger, &CHARGE, "user-17", key);
    let http = "HTTP/1.1 201 \r\nContent-Type: application/json\r\n\r\n{\"id\":7}";
    charge("done").complete(Response::new("application/http", http)).expect("it completes");
    charge("refused")
        .fail(Response::json(&serde_json::json!({ "error": "no money" })).expect("JSON"))
        .expect("it fails");
    charge("put-off").release().expect("it is released");
    charge("asked-the-bank").park("the bank said nothing").expect("it is parked");
    let mut running = charge("running");
    running.record_step("reserve", br#"{"at":"bank"}"#.to_vec()).expect("a step");
    std::mem::forget(running);
    std::mem::forget(claim(ledger, &MAIL, "user-18", "newsletter"));
    std::thread::sleep(Duration::from_millis(5));
}

/// Whether the file opens, and everything in it agrees.
pub(crate) fn is_well(path: &Path) -> bool {
    Ledger::open(path).and_then(|ledger| ledger.check()).expect("it can be checked").is_well()
}
