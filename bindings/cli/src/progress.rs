//! Progress on the standard error, where that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Work of a known length.
pub(crate) fn bar(length: u64, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} {eta}");
    styled(ProgressBar::new(length), style.ok(), what)
}

/// Work of unknown length.
pub(crate) fn spinner(what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg} {human_pos} {elapsed}");
    let spinner = styled(ProgressBar::no_length(), style.ok(), what);
    spinner.enable_steady_tick(Duration::from_millis(200));
    spinner
}

fn styled(bar: ProgressBar, style: Option<ProgressStyle>, what: &'static str) -> ProgressBar {
    let bar = bar.with_message(what);
    if let Some(style) = style {
        bar.set_style(style);
    }
    bar
}
