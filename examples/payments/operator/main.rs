//! What the operator of the payment server runs while the server is stopped: settle what is parked, print the wallet.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Parser, Subcommand};
use keyledger::{Filter, Ledger, OperationName, RecordView, Resolution, Response};
use keyledger_examples::payments::journal;
use keyledger_examples::payments::operations::{self, BALANCES, RECEIPT, WALLET};
use keyledger_examples::payments::records::{Mail, WalletLine};
use serde_json::json;

#[derive(Parser)]
struct Args {
    /// The ledger file
    ledger: PathBuf,
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Settle parked receipts by looking whether their mail is in the log
    Reconcile {
        /// The log of mails that were sent
        mail: PathBuf,
    },
    /// Print the wallet's rows and the balances, one JSON object to a line
    Wallet,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let ledger = Ledger::open(&args.ledger)?;
    match args.task {
        Task::Reconcile { mail } => reconcile(&ledger, &mail)?,
        Task::Wallet => print_wallet(&ledger)?,
    }
    Ok(ledger.close()?)
}

/// A person's job: the mail log knows what the ledger cannot.
fn reconcile(ledger: &Ledger, mail_log: &Path) -> anyhow::Result<()> {
    let sent = sent_mails(mail_log)?;
    for parked in parked_receipts(ledger)? {
        let id = parked.key_id();
        let origin = (id.scope().as_str().to_owned(), id.key().as_str().to_owned());
        let found = match sent.get(&origin) {
            Some(mail) => Resolution::Completed(Response::json(&mail.outcome())?),
            None => Resolution::NotDone,
        };
        let note = if sent.contains_key(&origin) { "it is in the mail log" } else { "it is not in the mail log" };
        ledger.resolve(id, parked.fence(), found, "operator", note)?;
        println!("{}", json!({ "scope": origin.0, "key": origin.1, "note": note }));
    }
    Ok(())
}

fn parked_receipts(ledger: &Ledger) -> anyhow::Result<Vec<RecordView>> {
    let filter = Filter::all().parked().operation(OperationName::new(RECEIPT.name())?).limit(1000);
    Ok(ledger.list(&filter)?.records)
}

fn sent_mails(log: &Path) -> anyhow::Result<HashMap<(String, String), Mail>> {
    let mails: Vec<Mail> = journal::read(log).context("the mail log cannot be read")?;
    Ok(mails.into_iter().map(|mail| ((mail.origin.scope.clone(), mail.origin.key.clone()), mail)).collect())
}

fn print_wallet(ledger: &Ledger) -> anyhow::Result<()> {
    for (_, row) in ledger.scan(WALLET, b"", None, usize::MAX)? {
        print(&WalletLine::Row(serde_json::from_slice(&row)?))?;
    }
    for (user, balance) in ledger.scan(BALANCES, b"", None, usize::MAX)? {
        let user = String::from_utf8_lossy(&user).into_owned();
        print(&WalletLine::Balance { user, cents: operations::cents(Some(balance)) })?;
    }
    Ok(())
}

fn print(line: &WalletLine) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string(line)?);
    Ok(())
}
