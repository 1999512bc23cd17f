//! The stage: a temporary folder, the bank, and the payment server, which dies and comes back at the same port.

use super::Break;
use super::build::Programs;
use super::child::Program;
use super::clients::{Books, output};
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) programs: Programs,
    pub(crate) broken: Option<Break>,
    bank: Program,
    server: Option<Program>,
    pub(crate) port: u16,
    // Dropped last: the servers above have files open in it.
    folder: TempDir,
}

impl Stage {
    /// Starts the bank and the payment server, each at a free port.
    pub(crate) fn set(programs: Programs, broken: Option<Break>) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("keyledger-demo-").tempdir()?;
        let bank = Program::start(Command::new(&programs.bank).arg("--log").arg(folder.path().join("bank.log")))?;
        let mut stage = Self { programs, broken, bank, server: None, port: 0, folder };
        stage.start_server()?;
        Ok(stage)
    }

    /// Starts the payment server on its file, at the port that it had before.
    pub(crate) fn start_server(&mut self) -> Result<()> {
        let mut command = Command::new(&self.programs.server);
        command.arg("--ledger").arg(self.ledger()).arg("--mail").arg(self.mail_log()).arg("--runs").arg(self.run_log());
        command.args(["--bank", &self.bank.port()?.to_string(), "--port", &self.port.to_string()]);
        if self.broken == Some(Break::Claims) {
            command.arg("--without-claims");
        }
        let server = Program::start(&mut command).context("the payment server does not start")?;
        self.port = server.port()?;
        self.server = Some(server);
        Ok(())
    }

    pub(crate) fn kill_server(&mut self) -> Result<()> {
        self.server.take().context("there is no server to kill")?.kill()
    }

    pub(crate) fn stop_server(&mut self) -> Result<()> {
        self.server.take().context("there is no server to stop")?.stop()
    }

    /// An error if a server has ended that nobody has ended.
    pub(crate) fn watch(&mut self) -> Result<()> {
        if !self.bank.runs()? {
            bail!("the bank has ended by itself");
        }
        if let Some(server) = &mut self.server {
            ensure!(server.runs()?, "the payment server has ended by itself");
        }
        Ok(())
    }

    /// Has the operator settle what is parked, by the mail log; the payment server must be stopped.
    pub(crate) fn reconcile(&self) -> Result<()> {
        self.operate(Command::new(&self.programs.operator).arg(self.ledger()).arg("reconcile").arg(self.mail_log()))?;
        Ok(())
    }

    /// The wallet's rows and the balances, as the operator prints them; the payment server must be stopped.
    pub(crate) fn wallet(&self) -> Result<String> {
        self.operate(Command::new(&self.programs.operator).arg(self.ledger()).arg("wallet"))
    }

    /// Where clients can look for what became of a request; the payment server must be stopped.
    pub(crate) fn books(&self) -> Result<Books> {
        let wallet = self.folder.path().join("wallet.log");
        std::fs::write(&wallet, self.wallet()?)?;
        Ok(Books { bank: self.bank.port()?, mail: self.mail_log(), wallet })
    }

    fn operate(&self, command: &mut Command) -> Result<String> {
        ensure!(self.server.is_none(), "the operator needs the ledger file for itself");
        output(command)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn ledger(&self) -> PathBuf {
        self.folder.path().join("payments.kl")
    }

    pub(crate) fn bank_log(&self) -> PathBuf {
        self.folder.path().join("bank.log")
    }

    pub(crate) fn mail_log(&self) -> PathBuf {
        self.folder.path().join("mail.log")
    }

    pub(crate) fn run_log(&self) -> PathBuf {
        self.folder.path().join("runs.log")
    }
}
