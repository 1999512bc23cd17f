//! A progress bar, for a person at a terminal.

use super::crowd::Progress;
use super::interrupt;
use super::stage::Stage;
use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::thread;
use std::time::Duration;

/// Between two looks at the crowd.
const GLANCE: Duration = Duration::from_millis(5);

pub(crate) struct Show {
    bar: ProgressBar,
}

impl Show {
    /// Says the seed. The bar is drawn for a person at a terminal only.
    pub(crate) fn new(json: bool, seed: u64) -> Self {
        eprintln!("seed {seed}: `cargo xtask demo --seed {seed}` repeats the plan");
        let target = if json || !std::io::stdout().is_terminal() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let style = ProgressStyle::with_template("{bar:40} {pos:>4}/{len} {msg}");
        let bar = ProgressBar::with_draw_target(Some(0), target);
        Self { bar: bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())) }
    }

    /// How far the clients are.
    pub(crate) fn requests(&self, answered: usize, total: usize, killed: usize, kills: usize) {
        self.bar.set_length(total as u64);
        self.bar.set_position(answered as u64);
        self.bar.set_message(format!("requests answered, {killed} of {kills} kills"));
    }

    /// Until all posts of the crowd are answered.
    pub(crate) fn posts(&self, stage: &mut Stage, progress: &Progress<'_>) -> Result<()> {
        self.bar.set_length(progress.total as u64);
        self.bar.set_message("posts answered once more");
        while progress.answered() < progress.total {
            self.bar.set_position(progress.answered() as u64);
            interrupt::check()?;
            stage.watch()?;
            thread::sleep(GLANCE);
        }
        self.bar.finish_and_clear();
        Ok(())
    }
}
