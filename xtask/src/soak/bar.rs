//! How much of the time is over.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) struct Bar {
    drawn: ProgressBar,
    start: Instant,
    time: Option<Duration>,
}

impl Bar {
    /// For so long; without an end if that is none. It is drawn for a person at a terminal only.
    pub(crate) fn new(time: Option<Duration>) -> Self {
        let is_seen = std::io::stdout().is_terminal() && time.is_some();
        let target = if is_seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template("{bar:40} {pos:>5}/{len} s, {msg}");
        let bar = ProgressBar::with_draw_target(time.map(|time| time.as_secs()), target);
        let drawn = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { drawn, start: Instant::now(), time }
    }

    /// What is being done.
    pub(crate) fn say(&self, what: &str) {
        self.drawn.set_message(what.to_owned());
    }

    /// A text that stays, above the bar.
    pub(crate) fn print(&self, text: &str) {
        self.drawn.suspend(|| println!("{text}"));
    }

    /// Between two looks at what goes on.
    pub(crate) fn wait_a_moment(&self) {
        self.drawn.set_position(self.start.elapsed().as_secs());
        thread::sleep(Duration::from_millis(50));
    }

    pub(crate) fn is_over(&self) -> bool {
        self.time.is_some_and(|time| self.start.elapsed() >= time)
    }

    pub(crate) fn end(&self) {
        self.drawn.finish_and_clear();
    }
}
