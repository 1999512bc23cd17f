//! Running one part: its steps in turn, their output as it comes, and what it counts.

use super::parts::{Expect, Part, Step};
use super::tally::Tally;
use crate::interrupt;
use crate::project::Project;
use anyhow::{Context, Result};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What came of one part.
pub(crate) struct Report {
    pub(crate) name: &'static str,
    pub(crate) tally: Tally,
    pub(crate) took: Duration,
}

/// Runs a part to its end, whatever fails in it.
pub(crate) fn run(part: &Part, project: &Project) -> Report {
    println!("\n=== {}: {}", part.name, part.about);
    let start = Instant::now();
    let mut tally = Tally::default();
    for step in (part.steps)(project) {
        tally += run_step(step, project);
        if interrupt::happened() {
            break;
        }
    }
    let took = start.elapsed();
    println!("--- {}: {} passed, {} failed in {:.1} s", part.name, tally.passed, tally.failed, took.as_secs_f64());
    Report { name: part.name, tally, took }
}

/// Runs one command, shown before it, and counts what it says.
pub(super) fn run_step(step: Step, project: &Project) -> Tally {
    let mut command = step.command;
    println!("$ {}", shown(&command));
    if command.get_current_dir().is_none() {
        command.current_dir(&project.root);
    }
    match follow(&mut command) {
        Ok(followed) => {
            let verdict = judge(step.expect, &followed);
            if let Err(error) = &verdict {
                println!("FAILED: {error:#}");
            }
            Tally::of_command(followed.lines, verdict.is_ok())
        }
        Err(error) => {
            println!("FAILED: {error:#}");
            Tally { passed: 0, failed: 1 }
        }
    }
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
    last_line: String,
}

/// Runs a command without input; both its outputs come through one pipe, so that their order is kept.
fn follow(command: &mut Command) -> Result<Followed> {
    let (reader, writer) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let name = command.get_program().display().to_string();
    let mut child = interrupt::start(command).with_context(|| format!("cannot start {name}"))?;
    // The command holds the writing ends too: without letting go of them there is no end of file.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (lines, last_line) = copy_and_count(reader, &mut std::io::stdout())?;
    let status = child.wait()?;
    interrupt::ended(&child);
    Ok(Followed { succeeded: status.success(), lines, last_line })
}

fn copy_and_count(reader: impl Read, copy: &mut impl Write) -> Result<(Option<Tally>, String)> {
    let mut lines: Option<Tally> = None;
    let mut last_line = String::new();
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        copy.write_all(&line)?;
        let text = String::from_utf8_lossy(&line);
        if let Some(counted) = Tally::of_line(&text) {
            *lines.get_or_insert_default() += counted;
        }
        if !text.trim().is_empty() {
            text.trim().clone_into(&mut last_line);
        }
        line.clear();
    }
    Ok((lines, last_line))
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
    let last: Value = serde_json::from_str(&followed.last_line).context("its last line is not the JSON of a result")?;
    anyhow::ensure!(last[member].as_u64().is_some_and(|count| count > 0), "{member} is not above zero");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Followed, Tally, caught, copy_and_count};

    fn ended(succeeded: bool, last_line: &str) -> Followed {
        Followed { succeeded, lines: None, last_line: last_line.to_owned() }
    }

    #[test]
    fn summary_lines_of_several_binaries_add_up() {
        let output =
            "test result: ok. 2 passed; 0 failed; 0 ignored\nnoise\ntest result: FAILED. 1 passed; 1 failed\n\n";
        // Into a buffer: on stdout these lines would be counted by the run that this test is part of.
        let mut copy = Vec::new();
        let (lines, last_line) = copy_and_count(output.as_bytes(), &mut copy).unwrap();
        assert_eq!(copy, output.as_bytes());
        assert_eq!(lines, Some(Tally { passed: 3, failed: 1 }));
        assert_eq!(last_line, "test result: FAILED. 1 passed; 1 failed");
    }

    #[test]
    fn a_broken_run_must_end_badly_and_for_its_reason() {
        assert!(caught("charged_twice", &ended(false, r#"{"charged_twice": 3}"#)).is_ok());
        assert!(caught("charged_twice", &ended(true, r#"{"charged_twice": 3}"#)).is_err());
        assert!(caught("charged_twice", &ended(false, r#"{"charged_twice": 0}"#)).is_err());
        assert!(caught("charged_twice", &ended(false, "error: could not compile")).is_err());
    }
}
