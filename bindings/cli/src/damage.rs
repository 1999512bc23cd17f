//! What of a damaged file could not be read: told when it is met, and counted at the end.

use std::io::Write;

use keyledger::admin::Unreadable;

use crate::failure::{Failure, Result};
use crate::output::{Output, printable};
use crate::words;

/// What a command has passed over so far.
#[derive(Debug)]
pub(crate) struct Passed {
    json: bool,
    count: u64,
}

impl Passed {
    pub(crate) fn nothing(output: Output) -> Self {
        Self { json: output.json, count: 0 }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.count == 0
    }

    /// Tells of each on the standard error, a line for each.
    pub(crate) fn tell(&mut self, met: &[Unreadable]) {
        for unreadable in met {
            self.count += 1;
            self.say(&serde_json::json!({ "unreadable": unreadable }), &unreadable.message);
        }
    }

    /// An answer that could not be had because of damage: from now on that is passed over.
    pub(crate) fn tell_of(&self, failure: &Failure) {
        let message = format!("{}. What can be read follows, in the order of the file", failure.message);
        self.say(&serde_json::json!({ "damaged": message }), &message);
    }

    fn say(&self, json: &serde_json::Value, text: &str) {
        let line = if self.json { json.to_string() } else { format!("keyledger: {}", printable(text)) };
        // With nobody there to be told, the exit code has to do.
        let _ = writeln!(std::io::stderr(), "{line}");
    }

    /// The command's end: damaged, if anything was passed over. `beside` says more of how much.
    pub(crate) fn end(self, beside: &str) -> Result<()> {
        if self.is_nothing() {
            return Ok(());
        }
        let places = words::count(self.count, "place", "places");
        let advice = "restore a snapshot, or go on from what could be read";
        Err(Failure::new("corrupt", format!("{places} in the file could not be read, all else was{beside}; {advice}")))
    }
}
