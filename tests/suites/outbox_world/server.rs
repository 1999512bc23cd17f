//! A server that acts, and remembers a key for a while after it acted.

use std::collections::BTreeMap;

/// What it has done, by key: when, on the world's own clock.
#[derive(Default)]
pub(crate) struct Server {
    acted: BTreeMap<String, u64>,
}

impl Server {
    pub(crate) fn has_acted(&self, key: &str) -> bool {
        self.acted.contains_key(key)
    }

    /// Answers from memory while it knows the key; else it acts.
    pub(crate) fn receive(&mut self, key: &str, now: u64, remembers_ms: u64) -> Result<(), String> {
        match self.acted.get(key) {
            Some(at) if now < at + remembers_ms => Ok(()),
            Some(_) => Err(format!("{key} takes effect twice: it was sent after the server had forgotten it (O7)")),
            None => {
                self.acted.insert(key.to_owned(), now);
                Ok(())
            }
        }
    }
}
