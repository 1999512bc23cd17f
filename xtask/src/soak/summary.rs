//! What a soak has done.

use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Default)]
pub(crate) struct Summary {
    pub(crate) rounds: u64,
    /// How many of each job's things were tried without a failure.
    pub(crate) done: BTreeMap<&'static str, u64>,
    /// The commands that repeat what failed.
    pub(crate) failures: Vec<String>,
}

impl Summary {
    pub(crate) fn print(&self, took: Duration, interrupted: bool) {
        let why = if interrupted { ", then interrupted" } else { "" };
        println!("{} rounds in {:.0} s{why}", self.rounds, took.as_secs_f64());
        for (name, count) in &self.done {
            println!("{count:>12} {name}");
        }
        println!("{:>12} failures", self.failures.len());
        for command in &self.failures {
            println!("repeat with: {command}");
        }
    }
}
