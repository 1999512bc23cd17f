//! A server as a child process: it tells its port, and ends with this process at the latest.

use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a child may take to answer what is under way when it is asked to end.
const FAREWELL: Duration = Duration::from_secs(10);

/// Killed when dropped. Its standard input is a pipe from here: it ends by itself when that closes.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
}

impl Server {
    /// Starts `command`; it is listening when this returns.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().display().to_string();
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut server = Self { child: child.with_context(|| format!("{name} cannot be started"))?, port: 0 };
        let mut line = String::new();
        BufReader::new(server.child.stdout.take().context("no pipe")?).read_line(&mut line)?;
        server.port = line.trim().parse().with_context(|| format!("{name} has ended before it told its port"))?;
        Ok(server)
    }

    /// SIGKILL: no destructor runs, no file is flushed. The process is gone when this returns.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Whether it still runs, as it should until it is told otherwise.
    pub(crate) fn runs(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// Asks it to answer what is under way and to end.
    pub(crate) fn stop(mut self) -> Result<()> {
        drop(self.child.stdin.take());
        let asked = Instant::now();
        while self.runs()? {
            ensure!(asked.elapsed() < FAREWELL, "a server does not end when its standard input does");
            std::thread::sleep(Duration::from_millis(5));
        }
        ensure!(self.child.wait()?.success(), "a server has ended with an error");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended long ago; whatever is said here, nobody is left to hear it.
        let _ = self.kill();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::Server;
    use std::process::Command;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_server_ends_when_its_standard_input_does() {
        let mut server = Server::start(&mut shell("echo 7; cat")).unwrap();
        assert_eq!(server.port, 7);
        assert!(server.runs().unwrap());
        server.stop().unwrap();
    }

    #[test]
    fn a_killed_server_is_gone() {
        let mut server = Server::start(&mut shell("echo 7; cat")).unwrap();
        server.kill().unwrap();
        assert!(!server.runs().unwrap());
    }

    #[test]
    fn a_server_that_dies_early_or_in_disorder_is_an_error() {
        assert!(Server::start(&mut shell("exit 3")).is_err());
        assert!(Server::start(&mut shell("echo 7; cat; exit 3")).unwrap().stop().is_err());
    }
}
