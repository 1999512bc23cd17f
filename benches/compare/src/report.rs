//! What came of it, for people and for programs.

use crate::Effort;
use crate::contest::{Contest, median};
use serde_json::{Value, json};

/// Everything that was measured.
pub(crate) struct Report<'a> {
    pub(crate) contests: &'a [Contest],
    pub(crate) syncs: &'a [f64],
    pub(crate) effort: Effort,
}

impl Report<'_> {
    pub(crate) fn print(&self) {
        println!("\n{:<30} {:>12} {:>12} {:>8} {:>8}", "", "keyledger/s", "SQLite/s", "ratio", "at least");
        for contest in self.contests {
            let (ours, theirs) = (median(&contest.our_rates), median(&contest.their_rates));
            let bar = contest.threshold.map_or("-".to_owned(), |threshold| threshold.to_string());
            let verdict = if contest.is_held() { "" } else { "  BELOW" };
            println!("{:<30} {ours:>12.0} {theirs:>12.0} {:>8.2} {bar:>8}{verdict}", contest.name, contest.ratio());
        }
        println!("the disk does {:.0} synced writes of 4 KiB a second", median(self.syncs));
    }

    /// The ratios by name, and below `figures` what they were made of.
    pub(crate) fn to_json(&self) -> Value {
        let mut report = json!({
            "rounds": self.effort.rounds,
            "slice_ms": self.effort.slice.as_millis(),
            "disk_syncs_per_second": median(self.syncs),
            "figures": {},
        });
        for contest in self.contests {
            report[contest.name] = json!(contest.ratio());
            report["figures"][contest.name] = json!({
                "keyledger_per_second": median(&contest.our_rates),
                "sqlite_per_second": median(&contest.their_rates),
                "keyledger_rounds": contest.our_rates,
                "sqlite_rounds": contest.their_rates,
                "at_least": contest.threshold,
            });
        }
        report
    }

    pub(crate) fn every_threshold_is_held(&self) -> bool {
        self.contests.iter().all(Contest::is_held)
    }
}
