//! Saying what will be done, and asking.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::failure::{Failure, Result};

/// Says what will be done, and returns if it may be.
pub(crate) fn confirm(what: &str, yes: bool) -> Result<()> {
    if yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        let advice = "there is no terminal to ask at, so nothing was done; --yes does it";
        return Err(Failure::new("not_confirmed", format!("{what}: {advice}")));
    }
    let mut stderr = io::stderr().lock();
    write!(stderr, "{what}.\nGo on? [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::new("not_confirmed", "nothing was done")),
    }
}
