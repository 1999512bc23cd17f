//! What bank, mail, wallet and server have written down, read when all of them have ended.

use super::clients::lines;
use super::plan::{Name, Operation};
use super::stage::Stage;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Everything that has happened outside of the clients.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// The ids of bank rows, wallet rows and mails, by what they were made for.
    pub(crate) effects: BTreeMap<Name, Vec<String>>,
    /// How many handlers were begun, by operation.
    pub(crate) handler_runs: BTreeMap<Operation, u64>,
    /// What the wallet rows of a user make together, and the user's balance as it is stored.
    pub(crate) balances: BTreeMap<String, Balance>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Balance {
    pub(crate) rows: u64,
    pub(crate) stored: u64,
}

/// A bank row, a wallet row or a mail.
#[derive(Deserialize)]
struct Effect {
    id: String,
    #[serde(default)]
    amount_cents: u64,
    origin: Origin,
}

#[derive(Deserialize)]
struct Origin {
    scope: String,
    key: String,
}

#[derive(Deserialize)]
struct HandlerRun {
    operation: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum WalletLine {
    Row(Effect),
    Balance { user: String, cents: u64 },
}

impl Evidence {
    /// Reads the logs and the wallet; the payment server must be stopped.
    pub(crate) fn collect(stage: &Stage) -> Result<Self> {
        let mut evidence = Self::default();
        for charge in lines(&read(&stage.bank_log())?)? {
            evidence.add(Operation::Charge, charge);
        }
        for mail in lines(&read(&stage.mail_log())?)? {
            evidence.add(Operation::Receipt, mail);
        }
        for line in lines(&stage.wallet()?)? {
            evidence.add_wallet_line(line);
        }
        for run in lines::<HandlerRun>(&read(&stage.run_log())?)? {
            evidence.add_run(&run)?;
        }
        Ok(evidence)
    }

    fn add(&mut self, operation: Operation, effect: Effect) {
        let name = Name { operation, user: effect.origin.scope, key: effect.origin.key };
        self.effects.entry(name).or_default().push(effect.id);
    }

    fn add_wallet_line(&mut self, line: WalletLine) {
        match line {
            WalletLine::Row(row) => {
                self.balances.entry(row.origin.scope.clone()).or_default().rows += row.amount_cents;
                self.add(Operation::TopUp, row);
            }
            WalletLine::Balance { user, cents } => self.balances.entry(user).or_default().stored = cents,
        }
    }

    fn add_run(&mut self, run: &HandlerRun) -> Result<()> {
        let known = Operation::ALL.into_iter().find(|operation| operation.name() == run.operation);
        *self.handler_runs.entry(known.context("a handler of an unknown operation has run")?).or_default() += 1;
        Ok(())
    }
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{Balance, Evidence};
    use crate::demo::clients::lines;

    #[test]
    fn wallet_lines_are_rows_and_balances() {
        let text = concat!(
            r#"{"row":{"id":"row_1","amount_cents":5,"origin":{"scope":"ada","key":"k"}}}"#,
            "\n",
            r#"{"balance":{"user":"ada","cents":5}}"#,
            "\n",
        );
        let mut evidence = Evidence::default();
        lines(text).unwrap().into_iter().for_each(|line| evidence.add_wallet_line(line));
        assert_eq!(evidence.balances["ada"], Balance { rows: 5, stored: 5 });
        assert_eq!(evidence.effects.into_values().collect::<Vec<_>>(), [["row_1"]]);
    }
}
