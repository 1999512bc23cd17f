//! The three operations of the service, one for each effect that an operation can have.

use std::time::Duration;

use keyledger::Operation;

/// How long a claim outlives its server: short, because the demo waits this long after every kill.
pub const LEASE: Duration = Duration::from_secs(1);

/// Money into a wallet. All of its effects are rows of the ledger's own file.
pub static TOP_UP: Operation = Operation::in_ledger("top-up").lease(LEASE);

/// Money from a card. The bank takes a key and charges once for it.
pub static CHARGE: Operation = Operation::repeatable("charge").lease(LEASE);

/// A receipt by mail. Nobody can ask a mail server whether it has sent something.
pub static RECEIPT: Operation = Operation::at_most_once("receipt").lease(LEASE);

/// The table of wallet rows: a random id, and a [`super::records::WalletRow`] as JSON.
pub const WALLET: &str = "wallet";

/// The table of balances: a user's name, and cents as eight bytes, big-endian.
pub const BALANCES: &str = "balances";

/// Cents as they are stored in [`BALANCES`]; no row is a balance of zero.
pub fn cents(stored: Option<Vec<u8>>) -> u64 {
    stored.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes)
}
