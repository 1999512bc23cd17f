//! What is written into the logs and tables. Each line names the request it was made for, so that it can be counted.

use serde::{Deserialize, Serialize};

/// Whose request it was, and under which key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The user.
    pub scope: String,
    /// The key that the user's client has chosen.
    pub key: String,
}

/// One line of the bank's log: a card was charged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BankRow {
    /// The bank's name for the charge.
    pub id: String,
    /// The key by which the bank tells a repeated order from a new one.
    pub bank_key: String,
    /// How much.
    pub amount_cents: u64,
    /// For whom.
    pub origin: Origin,
}

/// One line of the mail log: a mail has left.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mail {
    /// The mail's name.
    pub id: String,
    /// Who gets it.
    pub to: String,
    /// What it says.
    pub text: String,
    /// For whom.
    pub origin: Origin,
}

/// One row of the wallet table: money has come in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WalletRow {
    /// The row's name, which is its key in the table as well.
    pub id: String,
    /// How much.
    pub amount_cents: u64,
    /// For whom.
    pub origin: Origin,
}

/// One line of the server's own log: a handler has begun to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HandlerRun {
    /// Which operation.
    pub operation: String,
    /// For whom.
    pub origin: Origin,
}

/// A name that nothing else has.
pub fn fresh_id(prefix: &str) -> String {
    format!("{prefix}_{:032x}", fastrand::u128(..))
}
