//! The payment server: three routes, each guarded by the ledger, that do what they are asked once for each key.

mod answer;
mod bank;
mod door;
mod guard;
mod orders;
mod shop;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::routing::post;
use clap::Parser;
use keyledger::Ledger;
use keyledger_examples::payments::journal::Journal;
use keyledger_examples::payments::serving;

use bank::Bank;
use guard::answer;
use orders::{Charge, Receipt, TopUp};
use shop::Shop;

#[derive(Parser)]
struct Args {
    /// The ledger file
    #[arg(long)]
    ledger: PathBuf,
    /// The log of mails that were sent
    #[arg(long)]
    mail: PathBuf,
    /// The log of handlers that were begun
    #[arg(long)]
    runs: PathBuf,
    /// The bank's port on loopback
    #[arg(long)]
    bank: u16,
    /// The port on loopback; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Ask the ledger for nothing: every request runs, as in a server that knows no keys
    #[arg(long)]
    without_claims: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let ledger = Ledger::open(&args.ledger)?;
    let shop = Arc::new(Shop {
        ledger: ledger.clone(),
        bank: Bank::at(args.bank),
        mail: Journal::synced(&args.mail)?,
        runs: Journal::unsynced(&args.runs)?,
        claims: !args.without_claims,
    });
    serving::serve(args.port, router(shop)).await?;
    Ok(ledger.close()?)
}

fn router(shop: Arc<Shop>) -> Router {
    Router::new()
        .route("/top-ups", post(answer::<TopUp>))
        .route("/charges", post(answer::<Charge>))
        .route("/receipts", post(answer::<Receipt>))
        .with_state(shop)
}
