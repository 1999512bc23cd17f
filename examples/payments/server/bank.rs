//! The bank, as the server knows it: an address that takes a key.

use std::time::Duration;

use anyhow::ensure;
use keyledger::Key;
use keyledger_examples::payments::records::{BankRow, Origin};
use serde_json::json;
use ureq::Agent;

pub(crate) struct Bank {
    agent: Agent,
    url: String,
}

impl Bank {
    pub(crate) fn at(port: u16) -> Self {
        let config = Agent::config_builder().timeout_global(Some(Duration::from_secs(5))).http_status_as_error(false);
        Self { agent: config.build().new_agent(), url: format!("http://127.0.0.1:{port}/charges") }
    }

    /// Has the card charged, once for each `key`.
    pub(crate) fn charge(&self, key: &Key, amount_cents: u64, origin: &Origin) -> anyhow::Result<BankRow> {
        let order = json!({ "amount_cents": amount_cents, "origin": origin }).to_string();
        let request = self.agent.post(&self.url).header("Idempotency-Key", key.as_str());
        let mut answer = request.header("Content-Type", "application/json").send(&order)?;
        ensure!(answer.status() == 200, "the bank answers {}", answer.status());
        Ok(serde_json::from_slice(&answer.body_mut().read_to_vec()?)?)
    }
}
