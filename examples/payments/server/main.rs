//! The payment server: three routes, each behind the layer that keeps keys, that do what they are asked once for each key.

mod bank;
mod door;
mod handler;
mod orders;
mod shop;

use std::path::PathBuf;
use std::sync::Arc;

use axum::routing::{MethodRouter, post};
use axum::{Router, middleware};
use clap::Parser;
use keyledger::Ledger;
use keyledger_examples::payments::journal::Journal;
use keyledger_examples::payments::serving;
use keyledger_http::Route;
use keyledger_http::tower::IdempotencyLayer;

use bank::Bank;
use handler::fulfil;
use orders::{Charge, Order, Receipt, TopUp};
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
    let layer = IdempotencyLayer::new(ledger.clone(), Route::required(TopUp::operation()), door::scope);
    serving::serve(args.port, router(shop, &layer)).await?;
    layer.idle().await;
    Ok(ledger.close()?)
}

fn router(shop: Arc<Shop>, layer: &IdempotencyLayer) -> Router {
    Router::new()
        .route("/top-ups", once::<TopUp>(&shop, layer))
        .route("/charges", once::<Charge>(&shop, layer))
        .route("/receipts", once::<Receipt>(&shop, layer))
        .layer(middleware::from_fn(door::authenticate))
        .with_state(shop)
}

/// A route that does what it is asked once for each key, behind the layer of its own operation.
fn once<T: Order>(shop: &Shop, layer: &IdempotencyLayer) -> MethodRouter<Arc<Shop>> {
    let (handler, layer) = (post(fulfil::<T>), layer.with_route(Route::required(T::operation())));
    if shop.claims { handler.layer(layer) } else { handler }
}
