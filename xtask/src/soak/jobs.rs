//! What a round is made of: suites of the tests, told a seed and a number.

use super::bar::Bar;
use crate::interrupt;
use crate::project::{Project, cargo};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

/// A part of a round.
pub(crate) struct Job {
    pub(crate) name: &'static str,
    /// The suite, and what the names of its tests that are meant begin with.
    suite: &'static str,
    tests: &'static str,
    /// What the suite reads its number from.
    variable: &'static str,
    count: u64,
    short_count: u64,
}

pub(crate) const JOBS: &[Job] = &[
    Job {
        name: "losses of power",
        suite: "crash",
        tests: "i1_to_i9_hold",
        variable: "KEYLEDGER_SCHEDULES",
        count: 20_000,
        short_count: 2_000,
    },
    Job {
        name: "plans of faults",
        suite: "crash",
        tests: "s6_claims_and_outcomes",
        variable: "KEYLEDGER_FAULTS",
        count: 1_000,
        short_count: 50,
    },
    Job {
        name: "stories beside the model",
        suite: "properties",
        tests: "answers_as_the_contract_says",
        variable: "KEYLEDGER_STORIES",
        count: 2_000,
        short_count: 200,
    },
    Job {
        name: "stories of the outbox",
        suite: "outbox_world",
        tests: "o1_to_o13",
        variable: "KEYLEDGER_OUTBOX_STORIES",
        count: 5_000,
        short_count: 1_500,
    },
    Job {
        name: "histories of threads",
        suite: "linearizable",
        tests: "i1_histories",
        variable: "KEYLEDGER_HISTORIES",
        count: 1_000,
        short_count: 100,
    },
    Job {
        name: "seconds of kills",
        suite: "shared",
        tests: "p2_of_four_processes",
        variable: "KEYLEDGER_KILL_SECONDS",
        count: 60,
        short_count: 60,
    },
];

/// A job to be done with a seed.
pub(crate) struct Order {
    pub(crate) job: &'static Job,
    pub(crate) seed: u64,
    pub(crate) short: bool,
}

impl Order {
    pub(crate) fn count(&self) -> u64 {
        if self.short { self.job.short_count } else { self.job.count }
    }

    /// The command that does the same again.
    pub(crate) fn repeat(&self) -> String {
        let Job { suite, tests, variable, .. } = self.job;
        let (seed, count) = (self.seed, self.count());
        format!("KEYLEDGER_SEED={seed} {variable}={count} cargo test --workspace --test {suite} {tests} -- --nocapture")
    }
}

/// The suites as programs.
pub(crate) struct Suites {
    programs: BTreeMap<String, PathBuf>,
    folder: PathBuf,
}

impl Suites {
    /// Compiles those that jobs name. The whole workspace: another choice of packages would build all of it anew.
    pub(crate) fn build(project: &Project) -> Result<Suites> {
        let mut command = cargo();
        command.args(["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]);
        for job in JOBS {
            command.args(["--test", job.suite]);
        }
        let output = command.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
        ensure!(output.status.success(), "the suites do not compile");
        let lines = String::from_utf8(output.stdout)?;
        let programs: BTreeMap<_, _> = lines.lines().filter_map(program).collect();
        for job in JOBS {
            ensure!(programs.contains_key(job.suite), "cargo does not say where the suite {} is", job.suite);
        }
        Ok(Suites { programs, folder: project.root.join("tests") })
    }

    /// Whether the job was done without a failure, and everything that it said.
    pub(crate) fn run(&self, order: &Order, bar: &Bar) -> Result<(bool, String)> {
        let (mut reader, writer) = std::io::pipe()?;
        let mut command = Command::new(&self.programs[order.job.suite]);
        command.args([order.job.tests, "--nocapture"]).current_dir(&self.folder);
        command.env("KEYLEDGER_SEED", order.seed.to_string()).env(order.job.variable, order.count().to_string());
        command.envs(crate::test::parts::LARGE_IMAGES);
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let mut child = interrupt::start(&mut command).context("cannot start a suite")?;
        // It holds the writing ends too: without letting go of them there is no end of file.
        drop(command);
        let output = thread::spawn(move || {
            let mut output = Vec::new();
            reader.read_to_end(&mut output).map(|_| String::from_utf8_lossy(&output).into_owned())
        });
        while !output.is_finished() {
            bar.wait_a_moment();
        }
        let succeeded = child.wait()?.success();
        interrupt::ended(&child);
        let output = output.join().ok().context("the reader of the output panicked")??;
        Ok((succeeded, output))
    }
}

/// The name of a test's program and its place, if cargo's message tells one.
fn program(message: &str) -> Option<(String, PathBuf)> {
    let message: Value = serde_json::from_str(message).ok()?;
    let executable = message["executable"].as_str()?;
    Some((message["target"]["name"].as_str()?.to_owned(), executable.into()))
}

#[cfg(test)]
mod tests {
    use super::{JOBS, Order, program};

    #[test]
    fn a_failure_is_repeated_by_its_seed_and_its_number() {
        let order = Order { job: &JOBS[1], seed: 7, short: true };
        assert!(order.repeat().starts_with("KEYLEDGER_SEED=7 KEYLEDGER_FAULTS=50 cargo test"), "{}", order.repeat());
    }

    #[test]
    fn cargo_says_where_a_program_is() {
        let message = r#"{"reason":"compiler-artifact","target":{"name":"crash"},"executable":"deps/crash-1"}"#;
        assert_eq!(program(message), Some(("crash".to_owned(), "deps/crash-1".into())));
        assert_eq!(program(r#"{"reason":"build-finished","success":true}"#), None);
    }
}
