//! `cargo xtask soak`: everything that may break a ledger, round after round, each with a seed of its own.

mod bar;
mod jobs;
mod summary;

use crate::interrupt;
use crate::project::Project;
use anyhow::Result;
use bar::Bar;
use jobs::{JOBS, Job, Order, Suites};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use summary::Summary;

/// How long, and which rounds.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How long to go on; the round in hand is not begun anew after that
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// What the seeds of the rounds are drawn from; without it, from the system
    #[arg(long)]
    seed: Option<u64>,
    /// One round of a few seconds, that only shows that it runs
    #[arg(long, conflicts_with = "minutes")]
    short: bool,
}

/// Goes on until the time is over, or an interrupt comes; the exit code is zero only if nothing failed.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    interrupt::listen()?;
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..));
    println!("seed {seed}: `cargo xtask soak --seed {seed}` repeats the rounds");
    let suites = Suites::build(&Project::load()?)?;
    let (mut seeds, mut summary) = (fastrand::Rng::with_seed(seed), Summary::default());
    let bar = Bar::new(if args.short { None } else { Some(Duration::from_secs(60 * args.minutes)) });
    let start = Instant::now();
    while summary.rounds == 0 || (!args.short && !bar.is_over() && !interrupt::happened()) {
        summary.rounds += 1;
        for job in JOBS {
            if (bar.is_over() && summary.rounds > 1) || interrupt::happened() {
                break;
            }
            let order = Order { job, seed: seeds.u64(..), short: args.short };
            carry_out(&order, &suites, &bar, &mut summary)?;
        }
    }
    bar.end();
    summary.print(start.elapsed(), interrupt::happened());
    Ok(if summary.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn carry_out(order: &Order, suites: &Suites, bar: &Bar, summary: &mut Summary) -> Result<()> {
    let Job { name, .. } = order.job;
    bar.say(&format!("round {}, {name}, {} failures", summary.rounds, summary.failures.len()));
    let (succeeded, output) = suites.run(order, bar)?;
    if interrupt::happened() {
        return Ok(());
    }
    if succeeded {
        *summary.done.entry(name).or_default() += order.count();
    } else {
        bar.print(&format!("{output}\nFAILED: {name}: repeat with\n{}", order.repeat()));
        summary.failures.push(order.repeat());
    }
    Ok(())
}
