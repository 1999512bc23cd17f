//! What nobody knows is found out: the bank is asked, and the logs are read.

use std::collections::HashMap;
use std::path::PathBuf;

use keyledger::{EntryFilter, EntryResolution, EntryStateName, EntryView, Outbox, Response};
use keyledger_examples::payments::journal;
use keyledger_examples::payments::operations::{CHARGE, RECEIPT};
use keyledger_examples::payments::records::{BankRow, Mail, Origin, WalletLine};
use keyledger_http::Answer;
use serde_json::{Value, json};

use crate::reading;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The bank's port on loopback
    #[arg(long)]
    bank: u16,
    /// The log of mails that were sent
    #[arg(long)]
    mail: PathBuf,
    /// The wallet, as the payment server's operator has printed it
    #[arg(long)]
    wallet: PathBuf,
}

/// Settles every entry whose outcome is unknown: done, with what was done; or not done, and then the user still wants it, and it is
/// sent again under a new key. Nothing may be under way meanwhile: "not done" has to stay true.
pub(crate) fn reconcile(outbox: &Outbox, args: &Args) -> anyhow::Result<()> {
    let books = Books::open(args)?;
    let unknown = reading::all(outbox, &EntryFilter::all().state(EntryStateName::Unknown))?;
    for entry in unknown {
        let (found, note) = match books.outcome_of(&entry)? {
            Some(outcome) => (EntryResolution::Yes(answer(&outcome)), "it was done"),
            None => (EntryResolution::Resend, "it was not done"),
        };
        outbox.resolve(entry.id(), found, "reconciler", note)?;
        println!("{}", json!({ "operation": entry.operation(), "note": note }));
    }
    Ok(())
}

/// The answer that the server would have given.
fn answer(outcome: &Value) -> Response {
    let answer = Answer::of_status(200).with_field("Content-Type", "application/json");
    answer.with_body(outcome.to_string()).to_stored()
}

/// Where one can look, or ask.
struct Books {
    bank: String,
    mails: HashMap<Origin, Value>,
    wallet: HashMap<Origin, Value>,
}

impl Books {
    fn open(args: &Args) -> anyhow::Result<Self> {
        let mails: Vec<Mail> = journal::read(&args.mail)?;
        let rows = journal::read(&args.wallet)?.into_iter().filter_map(|line| match line {
            WalletLine::Row(row) => Some(row),
            WalletLine::Balance { .. } => None,
        });
        Ok(Self {
            bank: format!("http://127.0.0.1:{}/charges", args.bank),
            mails: mails.into_iter().map(|mail| (mail.origin.clone(), mail.outcome())).collect(),
            wallet: rows.map(|row| (row.origin.clone(), row.outcome())).collect(),
        })
    }

    fn outcome_of(&self, entry: &EntryView) -> anyhow::Result<Option<Value>> {
        let (scope, key) = (entry.scope().as_str().to_owned(), entry.key().as_str().to_owned());
        let origin = Origin { scope, key };
        match entry.operation() {
            operation if operation == CHARGE.name() => self.ask_bank(&origin),
            operation if operation == RECEIPT.name() => Ok(self.mails.get(&origin).cloned()),
            _ => Ok(self.wallet.get(&origin).cloned()),
        }
    }

    fn ask_bank(&self, origin: &Origin) -> anyhow::Result<Option<Value>> {
        let asked = ureq::get(&self.bank).query("scope", &origin.scope).query("key", &origin.key).call();
        match asked {
            Ok(mut answer) => {
                let row: BankRow = serde_json::from_slice(&answer.body_mut().read_to_vec()?)?;
                Ok(Some(row.outcome()))
            }
            Err(ureq::Error::StatusCode(404)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
