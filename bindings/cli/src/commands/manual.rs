//! What shells and manuals want to know.

use std::io::{self, Write};

use clap::CommandFactory;

use crate::arguments::Arguments;
use crate::failure::Result;

pub(super) fn completions(shell: clap_complete::Shell) -> Result<()> {
    let mut command = Arguments::command();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "keyledger", &mut script);
    Ok(io::stdout().lock().write_all(&script)?)
}

/// One page: the program, then each of its commands.
pub(super) fn man() -> Result<()> {
    let mut command = Arguments::command();
    command.build();
    let mut out = io::stdout().lock();
    clap_mangen::Man::new(command.clone()).render(&mut out)?;
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        let page = clap_mangen::Man::new(inner.clone());
        page.render_name_section(&mut out)?;
        page.render_synopsis_section(&mut out)?;
        page.render_options_section(&mut out)?;
    }
    Ok(())
}
