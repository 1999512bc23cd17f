//! A test's own program once more, as another process.

use std::process::{Command, Stdio};

/// This very program, to run the test of that name alone; it finds its orders in the environment.
///
/// # Panics
/// If the system does not tell where this program is.
pub fn this_program(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(["--exact", test, "--nocapture"]).stdin(Stdio::null());
    command
}
