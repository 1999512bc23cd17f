//! The tests in a browser: Debian's Chromium, driven from Node.

use super::Place;
use crate::debian;
use crate::test::parts::Step;
use std::path::PathBuf;
use std::process::Command;

/// Where the browser is looked for, if the environment names none.
const CHROMIUM: &str = "/usr/bin/chromium";

/// What to set where the browser is elsewhere.
const VARIABLE: &str = "KEYLEDGER_CHROMIUM";

/// Installs what is missing, and runs the tests of `tests/browser` against the installed package.
pub(super) fn steps(place: &Place) -> Vec<Step> {
    let folder = place.package.join("tests/browser");
    let is_there = std::env::var_os(VARIABLE).is_some() || PathBuf::from(CHROMIUM).exists();
    let mut driver = place.npm(&["ci", "--no-audit", "--no-fund", "--silent"]);
    driver.command.current_dir(&folder);
    let mut node = Command::new("node");
    node.args(["--test", "--test-concurrency=1", "--test-reporter=spec"]).args(super::tests_in(&folder));
    node.env("KEYLEDGER_SCRATCH", place.scratch());
    debian::install(is_there, &["chromium", "procps"]).into_iter().chain([driver, Step::new(node)]).collect()
}
