//! The clients: processes, each with an outbox of its own.

use super::Break;
use super::child::Program;
use super::plan::{CLIENTS, Request, USERS};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) struct Clients {
    program: PathBuf,
    folder: PathBuf,
    /// Whom they talk to.
    port: u16,
    broken: Option<Break>,
    running: Vec<Option<Program>>,
}

/// What clients can be asked about: where one can look.
pub(crate) struct Books {
    pub(crate) bank: u16,
    pub(crate) mail: PathBuf,
    pub(crate) wallet: PathBuf,
}

/// One entry of an outbox.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Entry {
    pub(crate) purpose: String,
    pub(crate) operation: String,
    pub(crate) key: String,
    pub(crate) state: String,
    pub(crate) superseded: bool,
    pub(crate) outcome: Option<String>,
}

/// One request that was about to leave.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Sent {
    pub(crate) entry: u64,
    pub(crate) operation: String,
    pub(crate) process: u32,
}

/// One entry that nobody knew about, and that the reconciler has settled.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Resolved {
    pub(crate) operation: String,
}

impl Clients {
    /// Writes down what each client's user wants. None is started.
    pub(crate) fn set(
        program: PathBuf,
        folder: &Path,
        port: u16,
        broken: Option<Break>,
        requests: &[Request],
    ) -> Result<Self> {
        let running = (0..CLIENTS).map(|_| None).collect();
        let clients = Self { program, folder: folder.to_owned(), port, broken, running };
        for client in 0..CLIENTS {
            let own = requests.iter().enumerate().filter(|(_, request)| request.client == client);
            let lines: Vec<String> = own.map(|(index, request)| wish(index, request).to_string() + "\n").collect();
            std::fs::write(clients.file(client, "wishes"), lines.concat())?;
        }
        Ok(clients)
    }

    pub(crate) fn start(&mut self, client: usize) -> Result<()> {
        let mut command = self.command(client, "work");
        command.arg("--wishes").arg(self.file(client, "wishes")).arg("--sent").arg(self.file(client, "sent"));
        command.args(["--user", USERS[client % USERS.len()], "--server", &self.port.to_string()]);
        if self.broken == Some(Break::Keys) {
            command.arg("--new-key-per-try");
        }
        self.running[client] = Some(Program::start(&mut command).context("a client does not start")?);
        Ok(())
    }

    pub(crate) fn start_all(&mut self) -> Result<()> {
        (0..CLIENTS).try_for_each(|client| self.start(client))
    }

    pub(crate) fn kill(&mut self, client: usize) -> Result<()> {
        self.running[client].take().context("there is no client to kill")?.kill()
    }

    pub(crate) fn is_running(&self, client: usize) -> bool {
        self.running[client].is_some()
    }

    pub(crate) fn stop_all(&mut self) -> Result<()> {
        self.running.iter_mut().filter_map(Option::take).try_for_each(Program::stop)
    }

    /// An error if a client has ended that nobody has ended.
    pub(crate) fn watch(&mut self) -> Result<()> {
        for program in self.running.iter_mut().flatten() {
            ensure!(program.runs()?, "a client has ended by itself");
        }
        Ok(())
    }

    /// Whether all of them run, and none has anything left that time alone would bring on.
    pub(crate) fn have_drained(&self) -> bool {
        self.running.iter().all(|client| client.as_ref().is_some_and(Program::has_said_more))
    }

    /// Has everything settled that nobody knows; no client may run.
    pub(crate) fn reconcile(&self, books: &Books) -> Result<Vec<Resolved>> {
        let mut resolved = Vec::new();
        for client in 0..CLIENTS {
            let mut command = self.command(client, "reconcile");
            command.args(["--bank", &books.bank.to_string()]);
            command.arg("--mail").arg(&books.mail).arg("--wallet").arg(&books.wallet);
            resolved.extend(lines(&output(&mut command)?)?);
        }
        Ok(resolved)
    }

    /// All entries of all outboxes, read by processes that have sent nothing; no client may run.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for client in 0..CLIENTS {
            entries.extend(lines(&output(&mut self.command(client, "read"))?)?);
        }
        Ok(entries)
    }

    /// What each client was about to send, in order.
    pub(crate) fn sent(&self) -> Result<Vec<Vec<Sent>>> {
        let read = |client| lines(&std::fs::read_to_string(self.file(client, "sent"))?);
        (0..CLIENTS).map(read).collect()
    }

    fn command(&self, client: usize, task: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--outbox").arg(self.file(client, "kl")).arg(task);
        command
    }

    fn file(&self, client: usize, extension: &str) -> PathBuf {
        self.folder.join(format!("client-{client}.{extension}"))
    }
}

/// The purpose under which a client has a request in its outbox, and from which it can be told later.
pub(crate) fn purpose(request: usize) -> String {
    format!("request-{request}")
}

/// The request of a purpose.
pub(crate) fn request_of(purpose: &str) -> Option<usize> {
    purpose.strip_prefix("request-")?.parse().ok()
}

fn wish(index: usize, request: &Request) -> serde_json::Value {
    let (operation, key) = (request.name.operation.name(), &request.name.key);
    json!({ "operation": operation, "purpose": purpose(index), "key": key, "body": request.body.to_string() })
}

/// What a program prints that ends by itself.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().display().to_string();
    let output = command.output()?;
    ensure!(output.status.success(), "{name} fails: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8(output.stdout)?)
}

/// One JSON object to a line.
pub(crate) fn lines<T: DeserializeOwned>(text: &str) -> Result<Vec<T>> {
    text.lines()
        .map(|line| serde_json::from_str(line).with_context(|| format!("a line is not whole: {line}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{purpose, request_of};

    #[test]
    fn a_purpose_names_its_request() {
        assert_eq!(request_of(&purpose(17)), Some(17));
        assert_eq!(request_of("something else"), None);
    }
}
