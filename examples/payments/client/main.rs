//! A client of the payment server: one user's wishes, in an outbox that outlives it.

mod reading;
mod reconciling;
mod sending;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use keyledger::{Ledger, Outbox};

#[derive(Parser)]
struct Args {
    /// The file with the client's outbox
    #[arg(long)]
    outbox: PathBuf,
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Have every wish carried out, and stay until standard input ends
    Work(sending::Args),
    /// Settle what nobody knows, by asking those who have done it or not
    Reconcile(reconciling::Args),
    /// Print every entry, one JSON object to a line
    Read,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let ledger = Ledger::open(&args.outbox)?;
    let outbox = outbox(&ledger)?;
    match args.task {
        Task::Work(args) => sending::work(&outbox, &args)?,
        Task::Reconcile(args) => reconciling::reconcile(&outbox, &args)?,
        Task::Read => reading::print(&outbox)?,
    }
    Ok(ledger.close()?)
}

/// Patience as short as the demo needs it. The window is shorter than the payment server remembers keys: what is sent again within
/// it is never done twice, and past it nothing is sent until somebody has asked.
fn outbox(ledger: &Ledger) -> keyledger::Result<Outbox> {
    let millis = Duration::from_millis;
    ledger
        .outbox()
        .lease(millis(1500))
        .backoff(millis(20), millis(300), 2)
        .max_tries(1000)
        .retry_budget(1000, millis(1))
        .resend_window(Duration::from_secs(3))
        .open()
}
