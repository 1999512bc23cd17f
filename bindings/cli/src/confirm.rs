//! Saying what will be done, and asking.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::failure::{Failure, Result};
use crate::output::one_line;

/// Whether there is a question: one that is not answered already, and somebody to ask.
pub(crate) fn is_asked(yes: bool) -> bool {
    !yes && io::stdin().is_terminal()
}

/// Says what will be done, and returns if it may be. `what` is a sentence without its end.
pub(crate) fn confirm(what: &str, yes: bool) -> Result<()> {
    if yes {
        return Ok(());
    }
    if !is_asked(yes) {
        let advice = "There is no terminal to ask at, so nothing was done; --yes does it";
        return Err(Failure::new("not_confirmed", format!("{what}. {advice}")));
    }
    let mut stderr = io::stderr().lock();
    write!(stderr, "{}.\nGo on? [y/N] ", one_line(what))?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::new("not_confirmed", "nothing was done")),
    }
}
