//! The result, for a person and for a machine.

use super::check::{Counts, Findings};
use super::plan::Operation;
use serde_json::{Value, json};
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// How many complaints are shown: one fault often brings hundreds.
const COMPLAINTS_MAX: usize = 10;

#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) findings: Findings,
    /// Of the server.
    pub(crate) kills: usize,
    pub(crate) client_kills: usize,
    pub(crate) took: Duration,
}

type Row = (&'static str, fn(&Counts) -> u64);

const ROWS: [Row; 10] = [
    ("requests", |counts| counts.requests),
    ("handler runs", |counts| counts.handler_runs),
    ("replays", |counts| counts.replays),
    ("in progress", |counts| counts.in_progress),
    ("mismatches", |counts| counts.mismatches),
    ("parked", |counts| counts.parked),
    ("entries", |counts| counts.entries),
    ("sends", |counts| counts.sends),
    ("resends after restart", |counts| counts.resends_after_restart),
    ("unknown, resolved", |counts| counts.unknown_resolved),
];

const VERDICTS: [Row; 2] = [("charged twice", |counts| counts.charged_twice), ("lost", |counts| counts.lost)];

impl Report {
    /// Whether everything is as it should be.
    pub(crate) fn is_good(&self) -> bool {
        let total = self.findings.total();
        total.charged_twice == 0 && total.lost == 0 && self.findings.complaints.is_empty()
    }

    /// The first complaints, one to a line.
    pub(crate) fn complaints(&self) -> String {
        let complaints = &self.findings.complaints;
        let more = complaints.len().saturating_sub(COMPLAINTS_MAX);
        let shown = complaints.iter().take(COMPLAINTS_MAX).map(|complaint| format!("  {complaint}\n"));
        shown.chain((more > 0).then(|| format!("  and {more} more\n"))).collect()
    }

    pub(crate) fn json(&self) -> Value {
        let total = self.findings.total();
        json!({
            "requests": total.requests,
            "handler_runs": total.handler_runs,
            "replays": total.replays,
            "in_progress": total.in_progress,
            "mismatches": total.mismatches,
            "parked": total.parked,
            "entries": total.entries,
            "sends": total.sends,
            "resends_after_restart": total.resends_after_restart,
            "unknown_resolved": total.unknown_resolved,
            "kills": self.kills,
            "client_kills": self.client_kills,
            "charged_twice": total.charged_twice,
            "lost": total.lost,
            "seconds": self.took.as_secs_f64(),
        })
    }

    fn line(&self, out: &mut Formatter<'_>, (label, count): Row) -> fmt::Result {
        write!(out, "{label:<22}")?;
        for operation in Operation::ALL {
            let counts = self.findings.by_operation.get(&operation).copied().unwrap_or_default();
            write!(out, "{:>9}", count(&counts))?;
        }
        writeln!(out, "{:>9}", count(&self.findings.total()))
    }
}

impl Display for Report {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let [top_up, charge, receipt] = Operation::ALL.map(Operation::name);
        writeln!(out, "{:<22}{top_up:>9}{charge:>9}{receipt:>9}{:>9}", "", "all")?;
        ROWS.iter().try_for_each(|row| self.line(out, *row))?;
        writeln!(out, "{:<22}{:>36}", "kills of the server", self.kills)?;
        writeln!(out, "{:<22}{:>36}", "kills of clients", self.client_kills)?;
        VERDICTS.iter().try_for_each(|row| self.line(out, *row))?;
        write!(out, "{:<22}{:>36.1}", "seconds", self.took.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::Report;
    use crate::demo::check::{Counts, Findings};
    use crate::demo::plan::Operation;
    use std::time::Duration;

    fn report(charged_twice: u64) -> Report {
        let counts = |requests| Counts { requests, charged_twice, ..Counts::default() };
        let by_operation = [(Operation::TopUp, counts(2)), (Operation::Receipt, counts(3))].into();
        let findings = Findings { by_operation, complaints: Vec::new() };
        Report { findings, kills: 5, client_kills: 40, took: Duration::from_millis(1234) }
    }

    #[test]
    fn the_json_has_the_totals_under_their_names() {
        let text = report(0).json().to_string();
        let members = "\"requests\" \"handler_runs\" \"replays\" \"in_progress\" \"mismatches\" \"parked\" \"entries\" \
                       \"sends\" \"resends_after_restart\" \"unknown_resolved\" \"kills\" \"client_kills\" \"charged_twice\" \"lost\" \"seconds\"";
        assert!(members.split_whitespace().all(|member| text.contains(member)));
        assert_eq!((report(0).json()["requests"].as_u64(), report(0).json()["kills"].as_u64()), (Some(5), Some(5)));
    }

    #[test]
    fn the_table_has_a_line_for_each_count_and_columns_that_line_up() {
        let table = report(1).to_string();
        let widths: Vec<usize> = table.lines().map(str::len).collect();
        assert_eq!(widths, [58; 16]);
        assert!(table.lines().any(|line| line.split_whitespace().eq("charged twice 1 0 1 2".split_whitespace())));
    }

    #[test]
    fn a_double_charge_is_not_good() {
        assert!(report(0).is_good());
        assert!(!report(1).is_good());
    }
}
