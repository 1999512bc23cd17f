//! Two processes that share a ledger drain one outbox: no entry is out twice at a time (O4, P2).

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use keyledger::{DeliveryOutcome, Enqueue, EntryFilter, Ledger, Outbox, Response, Scope};
use keyledger_harness::again::this_program;

const ENTRIES: usize = 60;
/// Where a child finds the ledger that it is to drain.
const ORDERS: &str = "KEYLEDGER_OUTBOX_DRAIN";

fn open(path: &str) -> Outbox {
    Ledger::builder().shared().open(path).unwrap().outbox().lease(Duration::from_mins(5)).open().unwrap()
}

/// Sends everything that is due, and prints the keys that it sent.
fn drain(path: &str) {
    let (outbox, scope) = (open(path), Scope::single());
    loop {
        let due = outbox.lease_due(&scope, 3).unwrap();
        if due.is_empty() {
            return;
        }
        for delivery in due {
            println!("sent {}", delivery.key().as_str());
            delivery.settle(DeliveryOutcome::yes(Response::text(format!("by {}", std::process::id())))).unwrap();
        }
    }
}

#[test]
fn p2_two_processes_drain_one_outbox_and_send_each_entry_once() {
    if let Ok(path) = std::env::var(ORDERS) {
        drain(&path);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.keyledger");
    let path = path.to_str().unwrap();
    let outbox = open(path);
    let enqueues: Vec<Enqueue> =
        (0..ENTRIES).map(|number| Enqueue::new(&Scope::single(), "pay", "", format!("{number}"))).collect();
    let all = outbox.enqueue_many(&enqueues).unwrap();
    let test = "processes::p2_two_processes_drain_one_outbox_and_send_each_entry_once";
    let children: Vec<_> =
        (0..2).map(|_| this_program(test).env(ORDERS, path).stdout(Stdio::piped()).spawn().unwrap()).collect();
    let outputs = children.into_iter().map(|child| child.wait_with_output().unwrap());
    let sent: Vec<String> = outputs
        .flat_map(|output| {
            assert!(output.status.success());
            String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .filter_map(|line| line.split_once("sent ").map(|(_, key)| key.to_owned()))
        .collect();
    assert_eq!(sent.len(), ENTRIES);
    assert_eq!(sent.iter().collect::<BTreeSet<_>>().len(), ENTRIES, "no key was sent twice");
    // And a process that sent nothing reads every answer.
    let answered = outbox.wait(all[ENTRIES - 1].entry.id(), Duration::from_secs(5)).unwrap();
    assert!(answered.is_yes());
    assert!(outbox.list(&EntryFilter::all()).unwrap().entries.iter().all(keyledger::EntryView::is_yes));
}
