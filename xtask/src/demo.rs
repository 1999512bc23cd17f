//! The demo: a bank, a payment server, eight clients with an outbox each, and a bad network between them; server and clients are
//! killed again and again.
//!
//! Afterwards everything that was written down is compared with everything that was told, on the wire and by the outboxes.

mod build;
mod check;
mod child;
mod client;
mod clients;
mod crowd;
mod evidence;
mod havoc;
mod interrupt;
mod message;
mod outboxes;
mod plan;
mod proxy;
mod report;
mod show;
mod stage;

use anyhow::{Result, bail};
use build::Programs;
use client::Reading;
use clients::{Clients, Resolved, request_of};
use crowd::Crowd;
use evidence::Evidence;
use havoc::Havoc;
use outboxes::Outboxes;
use plan::{Names, Plan};
use proxy::Proxy;
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
    /// Break something on purpose: the demo must notice
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
    /// The clients take a new key for each try
    Keys,
}

/// How often nobody may know something after the network has become good.
const ROUNDS_MAX: usize = 3;

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
    let proxy = Proxy::start(stage.port, fastrand::u64(..))?;
    let program = stage.programs.client.clone();
    let mut clients = Clients::set(program, stage.folder(), proxy.port, broken, &plan.requests)?;
    let mut havoc = Havoc { stage: &mut stage, clients: &mut clients, proxy: &proxy, show };
    havoc.wreak(plan)?;
    proxy.calm();
    let resolved = settle(&mut havoc, plan)?;
    let outboxes = Outboxes::read(&clients, resolved)?;
    let mut readings = ask_again(&mut stage, plan, &outboxes, show)?;
    stage.stop_server()?;
    readings.extend(outboxes.readings());
    readings.extend(overheard(&proxy));
    let mut findings =
        check::compare(&plan.requests, &names(plan, &outboxes, &proxy), &readings, &Evidence::collect(&stage)?);
    outboxes.judge(&plan.requests, &mut findings)?;
    let (kills, client_kills) = plan.count_kills();
    Ok(Report { findings, kills, client_kills, took: started.elapsed() })
}

/// Settles what nobody knows, in the server's ledger and then in the outboxes, and has done what was found not to be, until there
/// is nothing left. Nothing is under way while somebody asks.
fn settle(havoc: &mut Havoc<'_>, plan: &Plan) -> Result<Vec<Resolved>> {
    let mut all = Vec::new();
    for _ in 0..=ROUNDS_MAX {
        havoc.clients.stop_all()?;
        havoc.proxy.wait_until_idle()?;
        havoc.stage.stop_server()?;
        havoc.stage.reconcile()?;
        let resolved = havoc.clients.reconcile(&havoc.stage.books()?)?;
        havoc.stage.start_server()?;
        if resolved.is_empty() {
            return Ok(all);
        }
        all.extend(resolved);
        havoc.finish(plan)?;
    }
    bail!("after {ROUNDS_MAX} rounds there is still something that nobody knows")
}

/// Others ask for everything twice more, under the key under which it was answered. If no key is kept, nobody has one to ask with.
fn ask_again(stage: &mut Stage, plan: &Plan, outboxes: &Outboxes, show: &Show) -> Result<Vec<Reading>> {
    if stage.broken == Some(Break::Keys) {
        return Ok(Vec::new());
    }
    let mut requests = plan.requests.clone();
    for (request, key) in outboxes.keys() {
        key.clone_into(&mut requests[request].name.key);
    }
    let crowd = Crowd { port: stage.port, requests: &requests, posts: &plan.posts };
    crowd.work(|progress| show.posts(stage, progress))
}

/// What the server has told the clients, as it passed the proxy.
fn overheard(proxy: &Proxy) -> Vec<Reading> {
    let reading = |heard: proxy::Heard| Some(Reading { request: request_of(&heard.purpose)?, answer: heard.answer? });
    proxy.heard().into_iter().filter_map(reading).collect()
}

/// Every name that a request has had: its own, those of its entries, and those that went over the wire.
fn names(plan: &Plan, outboxes: &Outboxes, proxy: &Proxy) -> Names {
    let wire = |heard: proxy::Heard| Some((heard.name, request_of(&heard.purpose)?));
    let mut names = plan.names();
    names.extend(outboxes.names(&plan.requests));
    names.extend(proxy.heard().into_iter().filter_map(wire));
    names
}
