//! Counting what passed and what failed.

use std::ops::AddAssign;

/// Tests passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl Tally {
    /// What a line of Rust's test harness, of pytest or of node's test runner counts, if it is a summary line.
    pub(crate) fn of_line(line: &str) -> Option<Self> {
        Self::of_harness(line).or_else(|| Self::of_pytest(line)).or_else(|| Self::of_node(line))
    }

    /// `# pass 12` of TAP, `ℹ pass 12` of the spec reporter; `cancelled` tests have failed.
    fn of_node(line: &str) -> Option<Self> {
        let line = line.trim();
        let (word, number) = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?.split_once(' ')?;
        let number = number.parse().ok()?;
        match word {
            "pass" => Some(Self { passed: number, failed: 0 }),
            "fail" | "cancelled" => Some(Self { passed: 0, failed: number }),
            _ => None,
        }
    }

    fn of_harness(line: &str) -> Option<Self> {
        let (_, counts) = line.trim().strip_prefix("test result: ")?.split_once(". ")?;
        let count = |word: &str| {
            let number = counts.split(';').find_map(|count| count.trim().strip_suffix(word))?;
            number.trim().parse().ok()
        };
        Some(Self { passed: count("passed")?, failed: count("failed")? })
    }

    /// `12 passed, 1 skipped in 3.20s`, with or without a border.
    fn of_pytest(line: &str) -> Option<Self> {
        let (counts, took) = line.trim().trim_matches('=').trim().rsplit_once(" in ")?;
        let seconds = took.split(' ').next()?.strip_suffix('s')?;
        seconds.parse::<f64>().ok()?;
        let mut tally = Self::default();
        for count in counts.split(", ") {
            let (number, word) = count.split_once(' ')?;
            let number: u64 = number.parse().ok()?;
            match word {
                "passed" => tally.passed += number,
                "failed" | "error" | "errors" => tally.failed += number,
                _ => {}
            }
        }
        Some(tally)
    }

    /// What a command counts: its summary lines, if there were any, else itself as one.
    ///
    /// A command that ended badly has failed at least once, whatever its summary lines say: it may not have compiled.
    pub(crate) fn of_command(lines: Option<Self>, succeeded: bool) -> Self {
        match (lines, succeeded) {
            (Some(lines), true) => lines,
            (Some(lines), false) => Self { failed: lines.failed.max(1), ..lines },
            (None, true) => Self { passed: 1, failed: 0 },
            (None, false) => Self { passed: 0, failed: 1 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn a_summary_line_is_counted() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.10s";
        assert_eq!(Tally::of_line(line), Some(Tally { passed: 12, failed: 3 }));
    }

    #[test]
    fn a_summary_line_of_pytest_is_counted() {
        let of = Tally::of_line;
        assert_eq!(of("12 passed, 1 skipped in 3.20s"), Some(Tally { passed: 12, failed: 0 }));
        let line = "==== 2 failed, 7 passed, 1 warning, 1 error in 65.40s (0:01:05) ====";
        assert_eq!(of(line), Some(Tally { passed: 7, failed: 3 }));
        assert_eq!(of("12 passed, 3 failed"), None);
    }

    #[test]
    fn summary_lines_of_node_are_counted() {
        let of = Tally::of_line;
        assert_eq!(of("# pass 12"), Some(Tally { passed: 12, failed: 0 }));
        assert_eq!(of("ℹ fail 2"), Some(Tally { passed: 0, failed: 2 }));
        assert_eq!(of("ℹ cancelled 1"), Some(Tally { passed: 0, failed: 1 }));
        assert_eq!(of("ℹ tests 15"), None);
        assert_eq!(of("# pass the salt"), None);
    }

    #[test]
    fn other_lines_count_nothing() {
        assert_eq!(Tally::of_line("test tests::a_summary_line_is_counted ... ok"), None);
        assert_eq!(Tally::of_line("running 3 tests"), None);
    }

    #[test]
    fn a_command_without_summary_lines_counts_as_one() {
        assert_eq!(Tally::of_command(None, true), Tally { passed: 1, failed: 0 });
        assert_eq!(Tally::of_command(None, false), Tally { passed: 0, failed: 1 });
    }

    #[test]
    fn a_command_that_ends_badly_has_failed_whatever_its_lines_say() {
        let lines = Some(Tally { passed: 5, failed: 0 });
        assert_eq!(Tally::of_command(lines, false), Tally { passed: 5, failed: 1 });
        assert_eq!(Tally::of_command(lines, true), Tally { passed: 5, failed: 0 });
    }
}
