//! The comparison: what the clients were told, beside what has happened.

use super::client::{Answer, Reading};
use super::evidence::Evidence;
use super::plan::{Name, Names, Operation, Request};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

/// What is counted for each operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    pub(crate) handler_runs: u64,
    pub(crate) replays: u64,
    pub(crate) in_progress: u64,
    pub(crate) mismatches: u64,
    /// Requests, not answers: one that is parked is told so to everybody who asks.
    pub(crate) parked: u64,
    /// Entries of outboxes: one for each request, and one more wherever a new key had to be taken.
    pub(crate) entries: u64,
    pub(crate) sends: u64,
    /// Sends of an entry that another process of its client had sent before.
    pub(crate) resends_after_restart: u64,
    /// Entries of which nobody knew whether they had taken effect, until somebody asked.
    pub(crate) unknown_resolved: u64,
    /// Bank rows, wallet rows and mails beyond the first of their request.
    pub(crate) charged_twice: u64,
    /// Requests of which a client has read an outcome that did not happen, or two that differ.
    pub(crate) lost: u64,
}

/// The outcome of the whole comparison.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) by_operation: BTreeMap<Operation, Counts>,
    /// Each double charge, each loss, and whatever else should not be, in words.
    pub(crate) complaints: Vec<String>,
}

impl Findings {
    pub(crate) fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.by_operation.values().for_each(|counts| total += *counts);
        total
    }

    pub(crate) fn counts(&mut self, operation: Operation) -> &mut Counts {
        self.by_operation.entry(operation).or_default()
    }
}

/// What was read about one request.
#[derive(Default)]
struct Told<'a> {
    outcomes: BTreeSet<&'a [u8]>,
    parked: bool,
}

/// Compares. Nothing is assumed about who is right: every outcome that was read must have its effect, once, under whichever of its
/// names a request was carried out.
pub(crate) fn compare(requests: &[Request], names: &Names, readings: &[Reading], evidence: &Evidence) -> Findings {
    let mut findings = Findings::default();
    for (operation, runs) in &evidence.handler_runs {
        findings.counts(*operation).handler_runs = *runs;
    }
    let told = listen(requests, readings, &mut findings);
    let mut effects: Vec<Vec<&str>> = requests.iter().map(|_| Vec::new()).collect();
    for (name, ids) in &evidence.effects {
        match names.get(name) {
            Some(request) => effects[*request].extend(ids.iter().map(String::as_str)),
            None => findings.complaints.push(format!("{}: nobody has asked for it", shown(name))),
        }
    }
    for ((request, told), effects) in requests.iter().zip(&told).zip(&effects) {
        judge(&request.name, told, effects, &mut findings);
    }
    look_at_balances(evidence, &mut findings);
    findings
}

/// Counts the answers, and gathers what was told about each request.
fn listen<'a>(requests: &[Request], readings: &'a [Reading], findings: &mut Findings) -> Vec<Told<'a>> {
    let mut told: Vec<Told<'a>> = requests.iter().map(|_| Told::default()).collect();
    for Reading { request, answer } in readings {
        let name = &requests[*request].name;
        let counts = findings.counts(name.operation);
        match answer {
            Answer::Done { body, replayed } => {
                counts.replays += u64::from(*replayed);
                told[*request].outcomes.insert(body);
            }
            Answer::InProgress => counts.in_progress += 1,
            Answer::Mismatch => counts.mismatches += 1,
            Answer::Parked => told[*request].parked = true,
            Answer::Surprise(what) => findings.complaints.push(format!("{}: {what}", shown(name))),
        }
    }
    told
}

fn judge(name: &Name, told: &Told<'_>, effects: &[&str], findings: &mut Findings) {
    let excess = effects.len().saturating_sub(1);
    let lost = told.outcomes.len() > 1 || told.outcomes.iter().any(|outcome| !has_happened(outcome, effects));
    let counts = findings.counts(name.operation);
    counts.requests += 1;
    counts.parked += u64::from(told.parked);
    counts.charged_twice += excess as u64;
    counts.lost += u64::from(lost);
    let complaints = [
        (excess > 0).then(|| format!("charged {} times", effects.len())),
        lost.then(|| format!("{} outcomes told, effects {effects:?}", told.outcomes.len())),
        told.outcomes.is_empty().then(|| "never answered".to_owned()),
    ];
    findings.complaints.extend(complaints.into_iter().flatten().map(|what| format!("{}: {what}", shown(name))));
}

/// An outcome names the row or mail that it is about.
fn has_happened(outcome: &[u8], effects: &[&str]) -> bool {
    let outcome: Value = serde_json::from_slice(outcome).unwrap_or_default();
    effects.iter().any(|effect| outcome["id"] == *effect)
}

fn look_at_balances(evidence: &Evidence, findings: &mut Findings) {
    let wrong = evidence.balances.iter().filter(|(_, balance)| balance.rows != balance.stored);
    let complaint = |(user, balance)| format!("the wallet of {user}: {balance:?}");
    findings.complaints.extend(wrong.map(complaint));
}

fn shown(name: &Name) -> String {
    format!("{} {} of {}", name.operation.name(), name.key, name.user)
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.handler_runs += other.handler_runs;
        self.replays += other.replays;
        self.in_progress += other.in_progress;
        self.mismatches += other.mismatches;
        self.parked += other.parked;
        self.entries += other.entries;
        self.sends += other.sends;
        self.resends_after_restart += other.resends_after_restart;
        self.unknown_resolved += other.unknown_resolved;
        self.charged_twice += other.charged_twice;
        self.lost += other.lost;
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
