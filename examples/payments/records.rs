//! What is written into the logs and tables. Each line names the request it was made for, so that it can be counted.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Whose request it was, and under which key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

impl BankRow {
    /// What a client is told of it.
    pub fn outcome(&self) -> Value {
        json!({ "id": self.id, "amount_cents": self.amount_cents })
    }
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

impl Mail {
    /// What a client is told of it.
    pub fn outcome(&self) -> Value {
        json!({ "id": self.id })
    }
}

/// One row of the wallet table: money has come in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WalletRow {
    /// The row's name, which is its key in the table as well.
    pub id: String,
    /// How much.
    pub amount_cents: u64,
    /// What the user had with it.
    pub balance_cents: u64,
    /// For whom.
    pub origin: Origin,
}

impl WalletRow {
    /// What a client is told of it.
    pub fn outcome(&self) -> Value {
        json!({ "id": self.id, "balance_cents": self.balance_cents })
    }
}

/// What the operator prints of the wallet, one to a line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WalletLine {
    /// A row.
    Row(WalletRow),
    /// What a user has.
    Balance {
        /// The user.
        user: String,
        /// How much.
        cents: u64,
    },
}

/// What somebody wants of the payment server, once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wish {
    /// Which operation: `top-up`, `charge` or `receipt`.
    pub operation: String,
    /// What the client calls it: the same however often the user asks.
    pub purpose: String,
    /// The key that goes with it.
    pub key: String,
    /// JSON, byte for byte as it is sent.
    pub body: String,
}

/// One line of a client's own log: a request is about to leave.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sent {
    /// Which entry of the client's outbox.
    pub entry: u64,
    /// Which operation.
    pub operation: String,
    /// Which process of the client sends it: each has another number.
    pub process: u32,
}

/// One entry of a client's outbox, as any process can read it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EntryLine {
    /// What the client calls it.
    pub purpose: String,
    /// Which operation.
    pub operation: String,
    /// The key that went with it.
    pub key: String,
    /// Its state.
    pub state: String,
    /// Whether another entry has taken its place.
    pub superseded: bool,
    /// What was answered, if it was a yes.
    pub outcome: Option<String>,
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
