//! What every handler of the server works with.

use std::io;
use std::thread;
use std::time::Duration;

use keyledger::Ledger;
use keyledger_examples::payments::journal::Journal;
use keyledger_examples::payments::records::{HandlerRun, Origin};

use crate::bank::Bank;

pub(crate) struct Shop {
    pub(crate) ledger: Ledger,
    pub(crate) bank: Bank,
    pub(crate) mail: Journal,
    pub(crate) runs: Journal,
    /// False in the server that the demo breaks on purpose.
    pub(crate) claims: bool,
}

impl Shop {
    /// Writes down that a handler begins. The line outlives a kill of this process.
    pub(crate) fn note_run(&self, operation: &str, origin: &Origin) -> io::Result<()> {
        self.runs.append(&HandlerRun { operation: operation.to_owned(), origin: origin.clone() })
    }

    /// A handler has other work too; this is when most kills come.
    pub(crate) fn work() {
        thread::sleep(Duration::from_millis(fastrand::u64(5..30)));
    }
}
