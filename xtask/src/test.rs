//! `cargo xtask test`: every part in turn, a table at the end, and a count that a machine can read.

pub(crate) mod parts;
mod run;
mod tally;

use crate::interrupt;
use crate::project::Project;
use anyhow::{Result, bail};
use parts::{Part, Step};
use run::Report;
use std::process::ExitCode;
use tally::Tally;

/// Which parts to run.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The parts to run, in the order of --list; all of them when none is named
    parts: Vec<String>,
    /// Say which parts there are, and run none
    #[arg(long)]
    list: bool,
}

/// Runs the parts that were asked for; the exit code is zero only if nothing failed.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.list {
        for part in parts::ALL {
            println!("{:<12} {}", part.name, part.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = choose(&args.parts)?;
    interrupt::listen()?;
    let project = Project::load()?;
    Ok(run_parts(&chosen, &project))
}

/// Runs these parts, and says what came of them.
pub(crate) fn run_parts(chosen: &[&Part], project: &Project) -> ExitCode {
    let mut reports = Vec::new();
    for part in chosen {
        reports.push(run::run(part, project));
        if interrupt::happened() {
            break;
        }
    }
    conclude(&reports)
}

/// Runs steps until one fails: for whoever wants a piece of a part.
pub(crate) fn run_steps(steps: impl IntoIterator<Item = Step>, project: &Project) -> ExitCode {
    for step in steps {
        if run::run_step(step, project).tally.failed > 0 || interrupt::happened() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn choose(names: &[String]) -> Result<Vec<&'static Part>> {
    if let Some(unknown) = names.iter().find(|name| parts::ALL.iter().all(|part| part.name != **name)) {
        bail!("there is no part {unknown}: `cargo xtask test --list` names them");
    }
    Ok(parts::ALL.iter().filter(|part| names.is_empty() || names.iter().any(|name| name == part.name)).collect())
}

fn conclude(reports: &[Report]) -> ExitCode {
    // At the end: whoever reads a long output reads that, and some keep nothing else.
    for Report { name, failures, .. } in reports {
        for failure in failures {
            println!("\n=== what failed in {name}:\n{failure}");
        }
    }
    println!("\n{:<12} {:>7} {:>7} {:>9}", "part", "passed", "failed", "seconds");
    let mut total = Tally::default();
    for Report { name, tally, took, .. } in reports {
        println!("{name:<12} {:>7} {:>7} {:>9.1}", tally.passed, tally.failed, took.as_secs_f64());
        total += *tally;
    }
    let seconds: f64 = reports.iter().map(|report| report.took.as_secs_f64()).sum();
    println!("{:<12} {:>7} {:>7} {seconds:>9.1}\n", "all", total.passed, total.failed);
    if interrupt::happened() {
        println!("interrupted: the parts after the last one above were not run");
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    if total.failed == 0 && !interrupt::happened() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::{choose, parts};

    fn names(asked: &[&str]) -> Option<Vec<&'static str>> {
        let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
        choose(&asked).ok().map(|parts| parts.iter().map(|part| part.name).collect())
    }

    #[test]
    fn all_parts_run_when_none_is_named() {
        assert_eq!(names(&[]).map(|names| names.len()), Some(parts::ALL.len()));
    }

    #[test]
    fn named_parts_run_in_their_own_order_and_unknown_ones_are_refused() {
        assert_eq!(names(&["tidy", "format"]), Some(vec!["format", "tidy"]));
        assert_eq!(names(&["tidy", "tydi"]), None);
    }
}
