//! What the clients have left behind: their outboxes, as others read them, and their logs.

use super::check::Findings;
use super::client::{Answer, Reading};
use super::clients::{Clients, Entry, Resolved, Sent, request_of};
use super::plan::{Name, Names, Operation, Request};
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap};

#[derive(Debug, Default)]
pub(crate) struct Outboxes {
    pub(crate) entries: Vec<Entry>,
    /// By client.
    pub(crate) sent: Vec<Vec<Sent>>,
    pub(crate) resolved: Vec<Resolved>,
}

impl Outboxes {
    /// Has everything read by processes that have sent nothing; no client may run.
    pub(crate) fn read(clients: &Clients, resolved: Vec<Resolved>) -> Result<Self> {
        Ok(Self { entries: clients.entries()?, sent: clients.sent()?, resolved })
    }

    /// The key under which each request was answered in the end.
    pub(crate) fn keys(&self) -> BTreeMap<usize, &str> {
        let answered = self.entries.iter().filter(|entry| entry.outcome.is_some());
        answered.filter_map(|entry| Some((request_of(&entry.purpose)?, entry.key.as_str()))).collect()
    }

    /// The names that the entries have.
    pub(crate) fn names(&self, requests: &[Request]) -> Names {
        let named = |entry: &Entry| {
            let request = request_of(&entry.purpose)?;
            Some((Name { key: entry.key.clone(), ..requests.get(request)?.name.clone() }, request))
        };
        self.entries.iter().filter_map(named).collect()
    }

    /// What somebody reads who comes later.
    pub(crate) fn readings(&self) -> Vec<Reading> {
        let reading = |entry: &Entry| {
            let body = entry.outcome.clone()?.into_bytes();
            Some(Reading { request: request_of(&entry.purpose)?, answer: Answer::Done { body, replayed: false } })
        };
        self.entries.iter().filter_map(reading).collect()
    }

    /// Adds what is counted here, and says what should not be: every request is answered in an outbox, and every entry is, unless
    /// another has taken its place.
    pub(crate) fn judge(&self, requests: &[Request], findings: &mut Findings) -> Result<()> {
        for entry in &self.entries {
            findings.counts(operation(&entry.operation)?).entries += 1;
            if entry.outcome.is_none() && !entry.superseded {
                findings.complaints.push(format!("{}: its entry is {}", entry.purpose, entry.state));
            }
        }
        for resolved in &self.resolved {
            findings.counts(operation(&resolved.operation)?).unknown_resolved += 1;
        }
        self.sent.iter().try_for_each(|sent| count_sends(sent, findings))?;
        let told: BTreeSet<usize> = self.keys().into_keys().collect();
        let untold = (0..requests.len()).filter(|request| !told.contains(request));
        findings.complaints.extend(untold.map(|request| format!("request-{request}: its answer is in no outbox")));
        Ok(())
    }
}

/// A process that sends what another has sent before does so after a restart.
fn count_sends(sent: &[Sent], findings: &mut Findings) -> Result<()> {
    let mut first_by = HashMap::new();
    for send in sent {
        let counts = findings.counts(operation(&send.operation)?);
        counts.sends += 1;
        counts.resends_after_restart += u64::from(*first_by.entry(send.entry).or_insert(send.process) != send.process);
    }
    Ok(())
}

fn operation(name: &str) -> Result<Operation> {
    Operation::ALL.into_iter().find(|operation| operation.name() == name).context("an unknown operation")
}

#[cfg(test)]
mod tests {
    use super::Outboxes;
    use crate::demo::check::Findings;
    use crate::demo::clients::{Entry, Resolved, Sent};
    use crate::demo::plan::{Name, Operation, Request};
    use serde_json::json;

    fn entry(purpose: &str, key: &str, outcome: Option<&str>) -> Entry {
        Entry {
            purpose: purpose.to_owned(),
            operation: "charge".to_owned(),
            key: key.to_owned(),
            state: if outcome.is_some() { "answered" } else { "dead" }.to_owned(),
            superseded: false,
            outcome: outcome.map(str::to_owned),
        }
    }

    fn requests(count: usize) -> Vec<Request> {
        let name = Name { operation: Operation::Charge, user: "ada".to_owned(), key: "k".to_owned() };
        (0..count).map(|_| Request { name: name.clone(), body: json!({}), client: 0 }).collect()
    }

    fn judged(outboxes: &Outboxes, requests: &[Request]) -> Findings {
        let mut findings = Findings::default();
        outboxes.judge(requests, &mut findings).unwrap();
        findings
    }

    #[test]
    fn the_key_of_a_request_is_that_of_its_answered_entry() {
        let superseded = Entry { superseded: true, ..entry("request-0", "old", None) };
        let outboxes =
            Outboxes { entries: vec![superseded, entry("request-0", "new", Some("{}"))], ..Outboxes::default() };
        assert_eq!(outboxes.keys(), [(0, "new")].into());
        assert_eq!(outboxes.names(&requests(1)).len(), 2);
        assert_eq!(outboxes.readings().len(), 1);
        let findings = judged(&outboxes, &requests(1));
        assert_eq!((findings.total().entries, findings.complaints.len()), (2, 0));
    }

    #[test]
    fn an_entry_without_an_answer_and_a_request_without_one_are_complaints() {
        let outboxes = Outboxes { entries: vec![entry("request-0", "k", None)], ..Outboxes::default() };
        assert_eq!(judged(&outboxes, &requests(1)).complaints.len(), 2);
        assert_eq!(judged(&Outboxes::default(), &requests(3)).complaints.len(), 3);
    }

    #[test]
    fn a_resend_by_another_process_is_one_after_a_restart() {
        let sent = |entry, process| Sent { entry, operation: "charge".to_owned(), process };
        let outboxes = Outboxes {
            sent: vec![vec![sent(1, 7), sent(2, 7), sent(1, 7), sent(1, 8), sent(3, 8), sent(1, 9)], vec![sent(1, 9)]],
            resolved: vec![Resolved { operation: "charge".to_owned() }],
            ..Outboxes::default()
        };
        let total = judged(&outboxes, &[]).total();
        assert_eq!((total.sends, total.resends_after_restart, total.unknown_resolved), (7, 2, 1));
    }
}
