//! A program as a child process: it says that it is there, and ends with this process at the latest.

use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long a child may take to finish what is under way when it is asked to end.
const FAREWELL: Duration = Duration::from_secs(10);

/// Killed when dropped. Its standard input is a pipe from here: it ends by itself when that closes.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    first_line: String,
    has_said_more: Arc<AtomicBool>,
}

impl Program {
    /// Starts `command`; it has said its first line when this returns.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().display().to_string();
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let child = child.with_context(|| format!("{name} cannot be started"))?;
        let mut program = Self { child, first_line: String::new(), has_said_more: Arc::default() };
        let mut lines = BufReader::new(program.child.stdout.take().context("no pipe")?);
        lines.read_line(&mut program.first_line)?;
        ensure!(!program.first_line.is_empty(), "{name} has ended before it said anything");
        let has_said_more = Arc::clone(&program.has_said_more);
        thread::spawn(move || {
            for _ in lines.lines().map_while(Result::ok) {
                has_said_more.store(true, Ordering::Relaxed);
            }
        });
        Ok(program)
    }

    /// The port that a server tells in its first line; it is listening there.
    pub(crate) fn port(&self) -> Result<u16> {
        self.first_line.trim().parse().context("a server says something else than its port")
    }

    /// Whether it has said a second line.
    pub(crate) fn has_said_more(&self) -> bool {
        self.has_said_more.load(Ordering::Relaxed)
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

    /// Asks it to finish what is under way and to end.
    pub(crate) fn stop(mut self) -> Result<()> {
        drop(self.child.stdin.take());
        let asked = Instant::now();
        while self.runs()? {
            ensure!(asked.elapsed() < FAREWELL, "a program does not end when its standard input does");
            thread::sleep(Duration::from_millis(5));
        }
        ensure!(self.child.wait()?.success(), "a program has ended with an error");
        Ok(())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended long ago; whatever is said here, nobody is left to hear it.
        let _ = self.kill();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::Program;
    use std::process::Command;
    use std::thread;
    use std::time::Duration;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_server_ends_when_its_standard_input_does() {
        let mut server = Program::start(&mut shell("echo 7; cat")).unwrap();
        assert_eq!(server.port().unwrap(), 7);
        assert!(server.runs().unwrap());
        server.stop().unwrap();
    }

    #[test]
    fn a_killed_server_is_gone() {
        let mut server = Program::start(&mut shell("echo 7; cat")).unwrap();
        server.kill().unwrap();
        assert!(!server.runs().unwrap());
    }

    #[test]
    fn a_program_that_dies_early_or_in_disorder_is_an_error() {
        assert!(Program::start(&mut shell("exit 3")).is_err());
        assert!(Program::start(&mut shell("echo ready")).unwrap().port().is_err());
        assert!(Program::start(&mut shell("echo 7; cat; exit 3")).unwrap().stop().is_err());
    }

    #[test]
    fn a_second_line_is_heard() {
        let program = Program::start(&mut shell("echo ready; read line; echo drained; cat")).unwrap();
        assert!(!program.has_said_more());
        drop(program);
        let program = Program::start(&mut shell("echo ready; echo drained; cat")).unwrap();
        while !program.has_said_more() {
            thread::sleep(Duration::from_millis(1));
        }
    }
}
