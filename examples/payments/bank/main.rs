//! The bank: charges cards, once for each key that it is given, and writes down every charge before it says so.

mod book;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use clap::Parser;
use keyledger_examples::payments::records::{BankRow, Origin};
use keyledger_examples::payments::serving;

use book::{Book, Order};

#[derive(Parser)]
struct Args {
    /// The bank's log: the truth about charges
    #[arg(long)]
    log: PathBuf,
    /// The port on loopback; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let book = Arc::new(Book::open(&args.log)?);
    let router = Router::new().route("/charges", post(charge).get(find)).with_state(book);
    Ok(serving::serve(args.port, router).await?)
}

async fn charge(
    State(book): State<Arc<Book>>,
    headers: HeaderMap,
    Json(order): Json<Order>,
) -> Result<Json<BankRow>, StatusCode> {
    let key = headers.get("Idempotency-Key").and_then(|value| value.to_str().ok()).ok_or(StatusCode::BAD_REQUEST)?;
    let key = key.to_owned();
    let charged = tokio::task::spawn_blocking(move || book.charge(&key, order)).await;
    let row = charged.ok().and_then(Result::ok).ok_or(StatusCode::INTERNAL_SERVER_ERROR)?;
    tokio::time::sleep(time_to_answer()).await;
    Ok(Json(row))
}

/// Whether a charge was made for that request: what a shop or its customer asks when nobody has told them.
async fn find(State(book): State<Arc<Book>>, Query(origin): Query<Origin>) -> Result<Json<BankRow>, StatusCode> {
    book.find(&origin).map(Json).ok_or(StatusCode::NOT_FOUND)
}

/// Some answers take so long that whoever asked may have been killed meanwhile, with the card charged all the same.
fn time_to_answer() -> Duration {
    let slow = fastrand::u32(..8) == 0;
    Duration::from_millis(if slow { fastrand::u64(150..300) } else { fastrand::u64(1..15) })
}
