//! `cargo xtask mutants`: breaks the code in ways that have names, one at a time, in a copy of the tree. The tests must catch each.

mod list;
mod outbox;
mod tree;

use crate::interrupt;
use crate::project::{Project, cargo};
use anyhow::{Context, Result, bail};
use list::{MUTANTS, Mutant};
use std::collections::BTreeSet;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use tree::Tree;

/// Which of them.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Words of their names; all of them when there is none
    words: Vec<String>,
    /// Say which there are, and break nothing
    #[arg(long)]
    list: bool,
}

/// Longer than any suite takes in this short form: whoever is not done by then hangs, and that is noticed too.
const SUITE_MAX: Duration = Duration::from_mins(4);

/// What became of one.
enum Fate {
    /// By this suite; whether by a test that failed, or because it hung.
    Caught(&'static str, &'static str),
    Survived,
    /// It is no mutation: the code has changed since it was written, or does not compile.
    Void(String),
}

/// Breaks and tests; the exit code is zero only if each was caught.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let is_meant =
        |mutant: &&Mutant| args.words.is_empty() || args.words.iter().any(|word| mutant.name.contains(word.as_str()));
    let chosen: Vec<&Mutant> = MUTANTS.iter().chain(outbox::MUTANTS).filter(is_meant).collect();
    if args.list {
        for mutant in chosen {
            println!("{} ({})", mutant.name, mutant.file);
        }
        return Ok(ExitCode::SUCCESS);
    }
    interrupt::listen()?;
    let project = Project::load()?;
    let tree = Tree::copy(&project)?;
    let suites: BTreeSet<&'static str> = chosen.iter().flat_map(|mutant| mutant.suites).copied().collect();
    match test(&suites.into_iter().collect::<Vec<_>>(), &tree)? {
        Fate::Survived => {}
        Fate::Caught(suite, how) => bail!("the tests fail although nothing is broken: {suite}{how}"),
        Fate::Void(why) => bail!("the tests cannot be run: {why}"),
    }
    let mut caught = 0;
    println!("{:<58} {:<28} {:>7}", "what is broken", "caught by", "seconds");
    for mutant in &chosen {
        let start = Instant::now();
        let fate = try_out(mutant, &tree)?;
        if interrupt::happened() {
            bail!("interrupted");
        }
        let told = match &fate {
            Fate::Caught(suite, how) => format!("{suite}{how}"),
            Fate::Survived => "NOBODY".to_owned(),
            Fate::Void(why) => format!("VOID: {why}"),
        };
        println!("{:<58} {told:<28} {:>7.0}", mutant.name, start.elapsed().as_secs_f64());
        caught += usize::from(matches!(fate, Fate::Caught(..)));
    }
    println!("{caught} of {} caught", chosen.len());
    Ok(if caught == chosen.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn try_out(mutant: &Mutant, tree: &Tree) -> Result<Fate> {
    let Some(mended) = tree.break_code(mutant)? else { return Ok(Fate::Void("its text is not there once".to_owned())) };
    let fate = test(mutant.suites, tree);
    mended.mend()?;
    fate
}

/// What these suites say of the tree as it is.
fn test(suites: &[&'static str], tree: &Tree) -> Result<Fate> {
    let words = |suite| match suite {
        list::UNIT_TESTS => vec!["test", "--quiet", "--package", "keyledger", "--lib"],
        suite => vec!["test", "--quiet", "--package", "keyledger-tests", "--test", suite],
    };
    for suite in suites.iter().copied() {
        let mut build = tree.command(cargo());
        build.args(words(suite)).arg("--no-run");
        if !follow(&mut build, Duration::MAX)?.unwrap_or(false) {
            return Ok(Fate::Void("it does not compile".to_owned()));
        }
        let mut run = tree.command(cargo());
        run.args(words(suite));
        match follow(&mut run, SUITE_MAX)? {
            Some(true) => {}
            Some(false) => return Ok(Fate::Caught(suite, "")),
            None => return Ok(Fate::Caught(suite, ", which hung")),
        }
    }
    Ok(Fate::Survived)
}

/// Whether the command succeeded; none if its time was over.
fn follow(command: &mut Command, time: Duration) -> Result<Option<bool>> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = interrupt::start(command).context("cannot start cargo")?;
    let start = Instant::now();
    let mut in_time = true;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if in_time && start.elapsed() > time {
            in_time = false;
            interrupt::end_running();
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    interrupt::ended(&child);
    Ok(in_time.then_some(status.success()))
}
