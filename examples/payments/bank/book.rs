//! The bank's book: its log, and what the log says by key.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use keyledger_examples::payments::journal::{self, Journal};
use keyledger_examples::payments::records::{BankRow, Origin, fresh_id};
use serde::Deserialize;

/// What a shop asks for.
#[derive(Deserialize)]
pub(crate) struct Order {
    amount_cents: u64,
    origin: Origin,
}

pub(crate) struct Book {
    log: Journal,
    by_key: Mutex<HashMap<String, BankRow>>,
}

impl Book {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let rows: Vec<BankRow> = journal::read(path)?;
        let by_key = rows.into_iter().map(|row| (row.bank_key.clone(), row)).collect();
        Ok(Self { log: Journal::synced(path)?, by_key: Mutex::new(by_key) })
    }

    /// The charge that was made for that request, if there is one.
    pub(crate) fn find(&self, origin: &Origin) -> Option<BankRow> {
        let by_key = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        by_key.values().find(|row| row.origin == *origin).cloned()
    }

    /// The charge under `bank_key`: the one that is in the book, or a new one.
    pub(crate) fn charge(&self, bank_key: &str, order: Order) -> io::Result<BankRow> {
        let mut by_key = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        match by_key.entry(bank_key.to_owned()) {
            Entry::Occupied(known) => Ok(known.get().clone()),
            Entry::Vacant(place) => {
                let row = BankRow {
                    id: fresh_id("charge"),
                    bank_key: bank_key.to_owned(),
                    amount_cents: order.amount_cents,
                    origin: order.origin,
                };
                self.log.append(&row)?;
                Ok(place.insert(row).clone())
            }
        }
    }
}
