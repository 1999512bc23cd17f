//! Running one part: its steps in turn, their output as it comes, and what it counts.

use super::parts::{Expect, Part, Step};
use super::tally::Tally;
use crate::interrupt;
use crate::project::Project;
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What came of one part.
pub(crate) struct Report {
    pub(crate) name: &'static str,
    pub(crate) tally: Tally,
    pub(crate) took: Duration,
    /// Each command that failed, and how its output ended.
    pub(crate) failures: Vec<String>,
}

/// What came of one step.
pub(super) struct Outcome {
    pub(super) tally: Tally,
    failure: Option<String>,
}

/// How many of a command's last lines are told again where it failed: enough for the names that a test runner ends with.
const LINES_TOLD_AGAIN: usize = 60;

/// Runs a part to its end, whatever fails in it.
pub(crate) fn run(part: &Part, project: &Project) -> Report {
    println!("\n=== {}: {}", part.name, part.about);
    let start = Instant::now();
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    for step in (part.steps)(project) {
        let outcome = run_step(step, project);
        tally += outcome.tally;
        failures.extend(outcome.failure);
        if interrupt::happened() {
            break;
        }
    }
    let took = start.elapsed();
    println!("--- {}: {} passed, {} failed in {:.1} s", part.name, tally.passed, tally.failed, took.as_secs_f64());
    Report { name: part.name, tally, took, failures }
}

/// Runs one command, shown before it, and counts what it says.
pub(super) fn run_step(step: Step, project: &Project) -> Outcome {
    let mut command = step.command;
    let words = shown(&command);
    println!("$ {words}");
    if command.get_current_dir().is_none() {
        command.current_dir(&project.root);
    }
    let followed = follow(&mut command);
    let verdict = match &followed {
        Ok(followed) => judge(step.expect, followed),
        Err(error) => Err(anyhow::anyhow!("{error:#}")),
    };
    let (lines, last_lines) = followed.map(|followed| (followed.lines, followed.last_lines)).unwrap_or_default();
    let failure = verdict.err().map(|error| {
        println!("FAILED: {error:#}");
        format!("$ {words}\n{}FAILED: {error:#}", String::from_iter(last_lines))
    });
    Outcome { tally: Tally::of_command(lines, failure.is_none()), failure }
}

fn shown(command: &Command) -> String {
    let settings = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let settings = settings.map(|(name, value)| format!("{}='{}' ", name.display(), value.display()));
    let program = std::path::Path::new(command.get_program()).file_stem().unwrap_or_default().display();
    let words = command.get_args().map(|word| format!(" {}", word.display()));
    settings.chain([program.to_string()]).chain(words).collect()
}

/// What a command did that its expectation looks at.
struct Followed {
    succeeded: bool,
    lines: Option<Tally>,
    last_lines: VecDeque<String>,
}

/// Runs a command without input; both its outputs come through one pipe, so that their order is kept.
fn follow(command: &mut Command) -> Result<Followed> {
    let (reader, writer) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    leave_out_settings_of_python(command);
    let name = command.get_program().display().to_string();
    let mut child = interrupt::start(command).with_context(|| format!("cannot start {name}"))?;
    // The command holds the writing ends too: without letting go of them there is no end of file.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (lines, last_lines) = copy_and_count(reader, &mut std::io::stdout())?;
    let status = child.wait()?;
    interrupt::ended(&child);
    Ok(Followed { succeeded: status.success(), lines, last_lines })
}

/// What somebody has set for their own Python would be another Python than everybody else's: one that does not buffer, say.
fn leave_out_settings_of_python(command: &mut Command) {
    let of_python = |name: &OsStr| name.to_string_lossy().starts_with("PYTHON");
    let meant: Vec<OsString> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
    for (name, _) in std::env::vars_os().filter(|(name, _)| of_python(name) && !meant.contains(name)) {
        command.env_remove(name);
    }
}

/// What the lines count, and the last of them that say something.
fn copy_and_count(reader: impl Read, copy: &mut impl Write) -> Result<(Option<Tally>, VecDeque<String>)> {
    let mut lines: Option<Tally> = None;
    let mut last_lines = VecDeque::new();
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        copy.write_all(&line)?;
        let text = String::from_utf8_lossy(&line);
        if let Some(counted) = Tally::of_line(&text) {
            *lines.get_or_insert_default() += counted;
        }
        if !text.trim().is_empty() {
            last_lines.push_back(text.into_owned());
        }
        if last_lines.len() > LINES_TOLD_AGAIN {
            last_lines.pop_front();
        }
        line.clear();
    }
    Ok((lines, last_lines))
}

fn judge(expect: Expect, followed: &Followed) -> Result<()> {
    match expect {
        Expect::Success if followed.succeeded => Ok(()),
        Expect::Success => anyhow::bail!("the command ended with an error"),
        Expect::Caught(member) => caught(member, followed),
    }
}

/// A run that was broken on purpose has to end badly, and for the reason that was meant.
fn caught(member: &str, followed: &Followed) -> Result<()> {
    anyhow::ensure!(!followed.succeeded, "it ended well, although it was broken on purpose");
    let last_line = followed.last_lines.back().map_or("", String::as_str);
    let last: Value = serde_json::from_str(last_line).context("its last line is not the JSON of a result")?;
    anyhow::ensure!(last[member].as_u64().is_some_and(|count| count > 0), "{member} is not above zero");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Followed, LINES_TOLD_AGAIN, Tally, caught, copy_and_count};

    fn ended(succeeded: bool, last_line: &str) -> Followed {
        Followed { succeeded, lines: None, last_lines: [last_line.to_owned()].into() }
    }

    #[test]
    fn summary_lines_of_several_binaries_add_up() {
        let output =
            "test result: ok. 2 passed; 0 failed; 0 ignored\nnoise\ntest result: FAILED. 1 passed; 1 failed\n\n";
        // Into a buffer: on stdout these lines would be counted by the run that this test is part of.
        let mut copy = Vec::new();
        let (lines, last_lines) = copy_and_count(output.as_bytes(), &mut copy).unwrap();
        assert_eq!(copy, output.as_bytes());
        assert_eq!(lines, Some(Tally { passed: 3, failed: 1 }));
        assert_eq!(last_lines.back().map(|line| line.trim()), Some("test result: FAILED. 1 passed; 1 failed"));
    }

    #[test]
    fn of_a_long_output_the_end_is_told_again() {
        let output = "noise\n\n".repeat(1000) + "the end\n\n";
        let (_, last_lines) = copy_and_count(output.as_bytes(), &mut Vec::new()).unwrap();
        assert_eq!(last_lines.len(), LINES_TOLD_AGAIN);
        assert_eq!(last_lines.back().map(String::as_str), Some("the end\n"));
    }

    #[test]
    fn a_broken_run_must_end_badly_and_for_its_reason() {
        assert!(caught("charged_twice", &ended(false, r#"{"charged_twice": 3}"#)).is_ok());
        assert!(caught("charged_twice", &ended(true, r#"{"charged_twice": 3}"#)).is_err());
        assert!(caught("charged_twice", &ended(false, r#"{"charged_twice": 0}"#)).is_err());
        assert!(caught("charged_twice", &ended(false, "error: could not compile")).is_err());
    }
}
