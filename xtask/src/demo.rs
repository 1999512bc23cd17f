//! The demo: a bank, a payment server that is killed again and again, and sixteen clients that retry.
//!
//! Afterwards everything that was written down is compared with everything that was told.

mod build;
mod check;
mod child;
mod client;
mod crowd;
mod evidence;
mod interrupt;
mod plan;
mod report;
mod show;
mod stage;

use anyhow::Result;
use build::Programs;
use crowd::Crowd;
use evidence::Evidence;
use plan::Plan;
use report::Report;
use show::Show;
use stage::Stage;
use std::process::ExitCode;
use std::time::Instant;

/// What the demo can be told.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print the result as one JSON object, on the last line
    #[arg(long)]
    json: bool,
    /// Break the server on purpose: the demo must notice
    #[arg(long = "break", value_name = "WHAT")]
    broken: Option<Break>,
    /// Repeat the plan of an earlier run
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

/// What can be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Break {
    /// The server does what it is asked without claiming it first
    Claims,
}

/// Runs the demo; the exit code is zero only if nothing was charged twice and nothing was lost.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    interrupt::listen()?;
    let seed = args.seed.unwrap_or_else(|| fastrand::u32(..).into());
    let programs = Programs::build()?;
    let report = perform(&Plan::new(seed), programs, args.broken, &Show::new(args.json, seed))?;
    if !report.is_good() {
        eprintln!("what should not be:\n{}", report.complaints());
    }
    match (args.json, report.is_good()) {
        (true, _) => println!("{}", report.json()),
        (false, true) => println!("{report}\n\nnothing was charged twice, and nothing was lost"),
        (false, false) => println!("{report}\n\nthis is not as it should be"),
    }
    Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn perform(plan: &Plan, programs: Programs, broken: Option<Break>, show: &Show) -> Result<Report> {
    let started = Instant::now();
    let mut stage = Stage::set(programs, broken)?;
    let crowd = Crowd { port: stage.port, requests: &plan.requests, posts: &plan.posts };
    let mut readings = crowd.work(|progress| show.kills(&mut stage, plan, progress))?;
    stage.stop_server()?;
    stage.reconcile()?;
    stage.start_server()?;
    let crowd = Crowd { posts: &plan.one_post_each(), ..crowd };
    readings.extend(crowd.work(|progress| show.watch(&mut stage, progress))?);
    stage.stop_server()?;
    let findings = check::compare(&plan.requests, &readings, &Evidence::collect(&stage)?);
    Ok(Report { findings, kills: plan.kills.len(), took: started.elapsed() })
}
