//! What goes on while the clients work: kills, and a progress bar.

use super::crowd::Progress;
use super::interrupt;
use super::plan::Plan;
use super::stage::Stage;
use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::thread;
use std::time::Duration;

/// Between two looks at the clients.
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
        let style = ProgressStyle::with_template("{bar:40} {pos:>4}/{len} posts answered, {msg}");
        let bar = ProgressBar::with_draw_target(Some(0), target);
        Self { bar: bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())) }
    }

    /// Kills the server and starts it again, as often as planned, and goes on until all posts are answered.
    pub(crate) fn kills(&self, stage: &mut Stage, plan: &Plan, progress: &Progress<'_>) -> Result<()> {
        for (kill, due) in plan.kills.into_iter().enumerate() {
            self.bar.set_message(format!("{kill} of {} kills", plan.kills.len()));
            self.wait_until(stage, progress, |answered| answered >= due)?;
            stage.kill_server()?;
            thread::sleep(Duration::from_millis(fastrand::u64(0..50)));
            stage.start_server()?;
        }
        self.bar.set_message(format!("{0} of {0} kills", plan.kills.len()));
        self.watch(stage, progress)
    }

    /// Until all posts are answered.
    pub(crate) fn watch(&self, stage: &mut Stage, progress: &Progress<'_>) -> Result<()> {
        self.wait_until(stage, progress, |answered| answered == progress.total)?;
        self.bar.finish_and_clear();
        Ok(())
    }

    fn wait_until(&self, stage: &mut Stage, progress: &Progress<'_>, enough: impl Fn(usize) -> bool) -> Result<()> {
        self.bar.set_length(progress.total as u64);
        loop {
            let answered = progress.answered();
            self.bar.set_position(answered as u64);
            if enough(answered) {
                return Ok(());
            }
            interrupt::check()?;
            stage.watch()?;
            thread::sleep(GLANCE);
        }
    }
}
